"""The comparison's own parts, without engines: what it asks, how it judges, how it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from loadtest.compare import memory, report, servers, workload
from loadtest.compare.client import burst
from loadtest.compare.estimate import estimate
from loadtest.compare.figures import FIGURES, Figure, Samples, spread
from loadtest.validity import argument_faults
from tests.server.stub import StubEngine, say, serve


@pytest.mark.parametrize("make", [workload.benchmark, workload.built_in, workload.choices_only])
def test_the_calls_asked_for_are_valid(make: Callable[[], workload.Workload]) -> None:
    work = make()
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in work.tools}
    assert set(schemas) == {name for name, _ in work.calls}
    for name, arguments in work.calls:
        assert argument_faults(json.dumps(arguments), schemas[name]) == []


def test_a_never_seen_grammar_is_another_one_each_time() -> None:
    work = workload.built_in()
    names = [json.dumps(work.unseen(n)["tools"]) for n in range(3)]
    assert len({*names, json.dumps(work.tools)}) == 4


def _samples() -> Samples:
    samples = Samples()
    for round_ in (1.0, 2.0, 4.0):
        samples.add("named_t0", servers.OURS, 0.2 * round_)
        samples.add("named_t0", servers.PEER, round_)
        samples.add("calls_8_t0", servers.OURS, 1.5)
        samples.add("calls_8_t0", servers.PEER, 1.0)
        samples.add("mask_plain_p50", servers.OURS, 3.0)
    return samples


def test_ratios_are_of_the_same_round() -> None:
    found = {row.figure.key: row for row in report.rows(_samples())}
    assert found["named_t0"].value == pytest.approx(0.2)
    assert found["named_t0"].held is True
    assert found["calls_8_t0"].held is False
    assert (found["mask_plain_p50"].value, found["mask_plain_p50"].held) == (3.0, True)
    assert (found["plain_8"].value, found["plain_8"].held) == (None, None)


def test_everything_is_written(tmp_path: Path) -> None:
    report.save(tmp_path, _samples(), [servers.OURS, servers.PEER], ["a note"])
    text = (tmp_path / "compare.md").read_text(encoding="utf-8")
    assert "* a note" in text
    assert "| 0.2 (0.2–0.2) | ≤ 0.25 | met |" in text
    assert "**missed**" in text
    assert "plain chat" not in text, "what was not measured has no row"
    assert json.loads((tmp_path / "compare.json").read_text())["figures"]["named_t0"]["met"] is True
    assert (tmp_path / "compare.png").stat().st_size > 1000


def test_the_estimate_needs_its_counts() -> None:
    samples = _samples()
    assert estimate(samples) == []
    counted = {"named_tokens_t0": (31, 31), "named_sampled_t0": (6, 31), "passes": (14, 40)}
    for key, (ours, theirs) in counted.items():
        samples.add(key, servers.OURS, ours)
        samples.add(key, servers.PEER, theirs)
    text = "\n".join(estimate(samples))
    assert "| forced call of `get_weather` | 6.0 | 31.0 | 0.19 |" in text
    assert "First delta" not in text
    for key, ours, theirs in (("first_seen", 0.2, 0.9), ("first_unseen", 0.4, 1.0)):
        samples.add(key, servers.OURS, ours)
        samples.add(key, servers.PEER, theirs)
    text = "\n".join(estimate(samples))
    assert "0.20 s (ours) and 0.10 s (peer)" in text
    assert "may come near 2.0." in text


def test_the_processor_time_of_another_process() -> None:
    work = "import time\nwhile time.process_time() < 0.3: pass\nprint(time.process_time(), flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        own = float(process.stdout.readline())
        found = servers.Server("any", 0, "m", process.pid).api_seconds()
        process.stdin.close()
    assert own <= found < own + 0.1
    with pytest.raises(OSError, match="No such process"):
        servers.Server("any", 0, "m", process.pid).api_seconds()


def test_every_figure_has_a_key_of_its_own() -> None:
    assert len({figure.key for figure in FIGURES}) == len(FIGURES)
    assert Figure("k", "t", "at least", 2.0).held(2.0)
    assert not Figure("k", "t", "at most", 2.0).held(2.1)
    assert spread([3.0, 1.0, 2.0]) == "2 (1–3)"


def test_a_server_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(servers.COMMANDS, servers.PEER, ["-c", "raise SystemExit('no such {model}')"])
    lines: list[str] = []
    start = servers.running([servers.PEER], Path("/nowhere"), tmp_path, lines.append)
    with pytest.raises(RuntimeError, match=r"vllm ended with 1; the end of .*vllm.log:\nno such /nowhere"), start:
        pytest.fail("it cannot have started")
    assert lines == ["starting vllm"]


def test_a_burst_against_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers.Server, "forward_passes", lambda self: 0.0)
    with serve(StubEngine(say("Hello", " there"))) as stub:
        server = servers.Server(servers.OURS, stub.port, "stub", os.getpid())
        found = burst(server, [workload.plain(n, 100) for n in range(5)], 2)
        assert [(a.text, a.finish, a.tokens) for a in found.answers] == [("Hello there", "stop", 12)] * 5
        assert all(1 <= a.deltas <= 2 and 0 < a.first <= a.whole for a in found.answers)
        assert found.api_seconds >= 0
        with pytest.raises(RuntimeError, match="400"):
            burst(server, [{"messages": "none"}], 1)
    with serve(StubEngine(say("Hello", ValueError("broken")))) as stub:
        server = servers.Server(servers.OURS, stub.port, "stub", os.getpid())
        with pytest.raises(RuntimeError, match="error"):
            burst(server, [workload.plain(0, 100)], 1)


def test_growth_is_that_of_the_second_half() -> None:
    flat = [100.0 + (20 if n else 0) for n in range(21)]
    assert memory.second_half(flat) == 0
    assert memory.second_half([100.0 + n for n in range(21)]) == 10
