"""Latencies counted in groups: the histogram is the one that single observations make."""

from __future__ import annotations

import pytest

pytest.importorskip("vllm.v1.metrics.loggers", reason="needs vLLM")

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Histogram

from decoding.engine.latencies import observe_all

BUCKETS = (0.01, 0.025, 0.5, 1.0)


@given(st.lists(st.sampled_from([0.0, 0.005, 0.01, 0.02, 0.025, 0.5, 0.75, 1.0, 7.5])))
def test_the_same_histogram(values: list[float]) -> None:
    one, all_at_once = (Histogram("h", "h", registry=CollectorRegistry(), buckets=BUCKETS) for _ in range(2))
    for value in values:
        one.observe(value)
    observe_all(all_at_once, values)
    for first, second in zip(*(next(iter(h.collect())).samples for h in (one, all_at_once)), strict=True):
        assert (first.name, first.labels) == (second.name, second.labels)
        assert first.name.endswith("_created") or first.value == pytest.approx(second.value)
