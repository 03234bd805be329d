from __future__ import annotations

from server.metrics import Metrics


def test_the_engine_s_totals_are_read_when_asked_for() -> None:
    metrics = Metrics()
    totals = {"forward_passes": 1.0}
    metrics.watch_engine(lambda: totals)
    assert b"strictcall_forward_passes_total 1.0" in metrics.exposition()
    totals.update(forward_passes=5, forced_tokens=7, engine_grammar_compile_seconds=0.25)
    text = metrics.exposition()
    assert b"strictcall_forward_passes_total 5.0" in text
    assert b"strictcall_forced_tokens_total 7.0" in text
    assert b"strictcall_engine_grammar_cache_hits_total 0.0" in text
    assert b"strictcall_engine_grammar_compile_seconds_total 0.25" in text
    for name in (b"strictcall_grammar_compile_seconds", b"strictcall_grammar_cache_hits_total"):
        assert name in text
