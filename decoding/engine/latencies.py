"""vLLM's Prometheus metrics, counted when they are read and not with every step.

Of a step in which requests only went on, there are a few numbers to keep. All requests that got a token in the last
step and get one in this have the same latency, to the bit. A request that has ended is counted by a dozen histograms,
which together with many others costs a fraction.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

from prometheus_client import REGISTRY
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from vllm.v1.metrics.loggers import PrometheusStatLogger
from vllm.v1.metrics.stats import FinishedRequestStats, IterationStats, SchedulerStats

#: How many steps, and how many requests, may wait for somebody to read the metrics.
_HELD = 256


class StepPrometheusLogger(PrometheusStatLogger):  # type: ignore[misc]
    """The same metrics with the same values as its base, whenever Prometheus' registry is read."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Of the steps that are not counted yet: the last one's gauges, each one's tokens, all latencies.
        self._stats: SchedulerStats | None = None
        self._tokens: list[int] = []
        self._latencies: list[float] = []
        # Requests that have ended and are not counted yet.
        self._ended: list[FinishedRequestStats] = []
        # The registry reads its collectors in the order in which they came: before vLLM's own.
        REGISTRY.register(_BeforeReading(self))
        super().__init__(*args, **kwargs)

    def record(
        self,
        scheduler_stats: Any,
        iteration_stats: Any,
        mm_cache_stats: Any = None,
        engine_idx: int = 0,
    ) -> None:
        if len(self.engine_indexes) == 1 and mm_cache_stats is None and _only_went_on(scheduler_stats, iteration_stats):
            self._stats = scheduler_stats
            self._tokens.append(iteration_stats.num_generation_tokens)
            self._latencies += iteration_stats.inter_token_latencies_iter
            if len(self._tokens) >= _HELD:
                self.catch_up()
            return
        if scheduler_stats is not None:
            self._stats = None  # these are newer
        if iteration_stats is not None:
            observe_all(self.histogram_inter_token_latency[engine_idx], iteration_stats.inter_token_latencies_iter)
            iteration_stats.inter_token_latencies_iter = []
            if len(self.engine_indexes) == 1:
                self._ended += iteration_stats.finished_requests
                iteration_stats.finished_requests = []
                if len(self._ended) >= _HELD:
                    self.catch_up()
        super().record(scheduler_stats, iteration_stats, mm_cache_stats, engine_idx)

    def catch_up(self) -> None:
        """Count the steps and the requests that were kept."""
        ended, self._ended = self._ended, []
        if ended:
            self._count(ended)
        stats, self._stats = self._stats, None
        tokens, self._tokens = self._tokens, []
        latencies, self._latencies = self._latencies, []
        if not tokens:
            return
        (engine,) = self.engine_indexes
        if stats is not None:
            super().record(stats, None, None, engine)  # the gauges
        self.counter_generation_tokens[engine].inc(sum(tokens))
        observe_all(self.histogram_iteration_tokens[engine], tokens)
        observe_all(self.histogram_inter_token_latency[engine], latencies)

    def _count(self, ended: Sequence[FinishedRequestStats]) -> None:
        """What vLLM's ``record`` does with each of these requests."""
        (engine,) = self.engine_indexes
        for reason, times in Counter(request.finish_reason for request in ended).items():
            self.counter_request_success[reason][engine].inc(times)
        for name, value in _OF_REQUESTS.items():
            observe_all(getattr(self, name)[engine], [value(request) for request in ended])
        most = [request.max_tokens_param for request in ended if request.max_tokens_param]
        observe_all(self.histogram_max_tokens_request[engine], most)


class _BeforeReading(Collector):
    """Has no metrics, but is asked for them first."""

    def __init__(self, logger: StepPrometheusLogger) -> None:
        self._logger = logger

    def collect(self) -> Iterable[Metric]:
        self._logger.catch_up()
        return ()


#: What a step changes at most in which requests only went on, and what of the scheduler's statistics is a gauge: the
#: last value counts.
_OF_STEPS = {"iteration_timestamp", "num_generation_tokens", "inter_token_latencies_iter"}
_GAUGES = {
    "num_running_reqs",
    "num_waiting_reqs",
    "num_skipped_waiting_reqs",
    "num_kv_fetch_reqs_by_stage",
    "step_counter",
    "current_wave",
    "kv_cache_usage",
}
_STEP = [name for name in vars(IterationStats()) if name not in _OF_STEPS]
_SCHEDULER = [name for name in vars(SchedulerStats()) if name not in _GAUGES]
# One call for some forty attributes.
_of_step, _of_scheduler = attrgetter(*_STEP), attrgetter(*_SCHEDULER)
_STILL, _SILENT = _of_step(IterationStats()), _of_scheduler(SchedulerStats())


#: The histograms of requests, and what of a request that has ended they count.
_OF_REQUESTS: dict[str, Callable[[FinishedRequestStats], float]] = {
    "histogram_e2e_time_request": attrgetter("e2e_latency"),
    "histogram_queue_time_request": attrgetter("queued_time"),
    "histogram_prefill_time_request": attrgetter("prefill_time"),
    "histogram_inference_time_request": attrgetter("inference_time"),
    "histogram_decode_time_request": attrgetter("decode_time"),
    "histogram_request_num_preemptions": attrgetter("num_preemptions"),
    "histogram_prefill_kv_computed_request": lambda r: r.num_prompt_tokens - max(r.num_cached_tokens, 0),
    "histogram_num_prompt_tokens_request": attrgetter("num_prompt_tokens"),
    "histogram_num_generation_tokens_request": attrgetter("num_generation_tokens"),
    "histogram_request_time_per_output_token": attrgetter("mean_time_per_output_token"),
}


def _only_went_on(stats: SchedulerStats | None, step: IterationStats | None) -> bool:
    """Nothing began, ended or was preempted, and the scheduler has nothing that is to be counted."""
    return stats is not None and step is not None and _of_step(step) == _STILL and _of_scheduler(stats) == _SILENT


def observe_all(histogram: Any, values: Sequence[float]) -> None:
    """What ``histogram.observe`` does with each of ``values``."""
    if not values:
        return
    histogram._sum.inc(sum(values))
    for value, count in Counter(values).items():
        histogram._buckets[bisect_left(histogram._upper_bounds, value)].inc(count)
