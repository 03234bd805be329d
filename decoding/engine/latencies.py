"""vLLM's Prometheus metrics, with the latencies between tokens counted step by step and not token by token.

All requests that got a token in the last step and get one in this have the same latency, to the bit. Observed one by
one they were most of what the metrics cost.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import Any

from vllm.v1.metrics.loggers import PrometheusStatLogger


class StepPrometheusLogger(PrometheusStatLogger):  # type: ignore[misc]
    """The same metrics with the same values as its base."""

    def record(
        self,
        scheduler_stats: Any,
        iteration_stats: Any,
        mm_cache_stats: Any = None,
        engine_idx: int = 0,
    ) -> None:
        if iteration_stats is not None:
            observe_all(self.histogram_inter_token_latency[engine_idx], iteration_stats.inter_token_latencies_iter)
            iteration_stats.inter_token_latencies_iter = []
        super().record(scheduler_stats, iteration_stats, mm_cache_stats, engine_idx)


def observe_all(histogram: Any, values: Sequence[float]) -> None:
    """What ``histogram.observe`` does with each of ``values``."""
    if not values:
        return
    histogram._sum.inc(sum(values))
    for value, count in Counter(values).items():
        histogram._buckets[bisect_left(histogram._upper_bounds, value)].inc(count)
