"""Metrics counted late and in groups: they read as those that vLLM counts step by step."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("vllm.v1.worker.cpu_worker", reason="needs vLLM's CPU build")

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY, CollectorRegistry, Histogram
from vllm.v1.engine import EngineCoreOutput, FinishReason
from vllm.v1.metrics.loggers import PrometheusStatLogger
from vllm.v1.metrics.stats import (
    IterationStats,
    LoRARequestStates,
    PrefillStats,
    PrefixCacheStats,
    RequestStateStats,
    SchedulerStats,
)

from decoding.engine.arguments import engine_config
from decoding.engine.latencies import StepPrometheusLogger, observe_all
from decoding.engine.outputs import count_tokens
from server.embedded import default_cache_dir, prepare

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


@pytest.fixture(scope="module")
def model() -> Path:
    return prepare(default_cache_dir(), print)


def steps(seed: int) -> Iterator[tuple[SchedulerStats | None, IterationStats | None]]:
    """Steps of all kinds: most of them only go on, some begin or end a request, preempt one, or count something."""
    dice = random.Random(seed)
    for _ in range(300):
        scheduler = SchedulerStats(num_running_reqs=dice.randrange(9), kv_cache_usage=dice.random())
        step = IterationStats()
        step.num_generation_tokens = dice.randrange(1, 40)
        step.inter_token_latencies_iter = [dice.choice([0.004, 0.02, 0.3])] * dice.randrange(5)
        match dice.randrange(24):
            case 0:
                scheduler.prefix_cache_stats = PrefixCacheStats(requests=1, queries=12, hits=4)
                step.prompt_token_stats.update_from_output(PrefillStats(12, 8, 4, 4))
                step.time_to_first_tokens_iter.append(0.2)
            case 1:
                for _ in range(dice.randrange(1, 4)):
                    reason = dice.choice([FinishReason.STOP, FinishReason.LENGTH, FinishReason.ABORT])
                    limit = dice.choice([None, 20, 500])
                    times = RequestStateStats(
                        num_generation_tokens=dice.choice([0, 1, 9]),
                        num_preemptions=dice.randrange(2),
                        queued_ts=1.0,
                        scheduled_ts=1.0 + dice.random(),
                        first_token_ts=2.5,
                        last_token_ts=2.5 + dice.random(),
                    )
                    step.update_from_finished_request(reason, "r", dice.choice([7, 900]), limit, times, 3)
            case 2:
                step.num_preempted_reqs = 1
            case 3:
                yield scheduler, None
                continue
            case 4:
                yield None, step
                continue
        yield scheduler, step


@pytest.mark.parametrize("seed", range(3))
def test_the_same_metrics_whenever_they_are_read(model: Path, seed: int) -> None:
    config = engine_config(str(model), ["m"], max_model_len=1024)
    dice = random.Random(seed)
    reads = [dice.random() < 0.02 for _ in range(300)] + [True]
    seen: list[list[tuple[str, float]]] = []
    for kind in (PrometheusStatLogger, StepPrometheusLogger):
        logger = kind(config)
        found: list[tuple[str, float]] = []
        for step, read in zip([*steps(seed), None], reads, strict=True):
            if step is not None:
                logger.record(*step)
            if read:
                found += samples()
        seen.append(found)
    vllm, ours = seen
    assert [name for name, _ in ours] == [name for name, _ in vllm]
    assert [value for _, value in ours] == pytest.approx([value for _, value in vllm])
    assert dict(ours)["vllm:generation_tokens_total"] > 1000


def samples() -> list[tuple[str, float]]:
    """All of vLLM's metrics, but for the times at which they were made."""
    found = [sample for metric in REGISTRY.collect() for sample in metric.samples]
    return [
        (s.name if len(s.labels) < 3 else f"{s.name}{sorted(s.labels.items())}", s.value)
        for s in found
        if s.name.startswith("vllm:") and not s.name.endswith("_created")
    ]


def test_a_request_that_goes_on_is_counted_as_vllm_does() -> None:
    sides = [(IterationStats(), RequestStateStats(last_token_ts=1.5, num_generation_tokens=3)) for _ in range(2)]
    for step, _ in sides:
        step.iteration_timestamp = 0.0
    output = EngineCoreOutput("r", [1, 2, 3])
    (theirs, their_stats), (ours, our_stats) = sides
    theirs.update_from_output(output, 2.0, False, their_stats, LoRARequestStates(), None)
    count_tokens(our_stats, 3, 2.0, ours)
    assert vars(ours) == vars(theirs)
    assert our_stats == their_stats
