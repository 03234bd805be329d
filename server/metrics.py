"""What the server counts, in Prometheus form. The engine's own metrics stand beside it on ``/metrics``."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate

from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

disable_created_metrics()  # type: ignore[no-untyped-call]  # a line of creation time beside every counter helps nobody

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_SHORT = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)


#: What the engine process counts: our name, what it is.
ENGINE_COUNTERS = {
    "forward_passes": "Forward passes of the model, prefill and decoding.",
    "forced_tokens": "Completion tokens that the grammar forced and that were never sampled.",
    "engine_grammar_cache_hits": "Requests whose grammar the engine found compiled.",
    "engine_grammar_cache_misses": "Requests whose grammar the engine had to compile.",
    "engine_grammar_compile_seconds": "Time the engine spent compiling grammars, beside its steps.",
}


class _EngineCounters(Collector):
    """Reads the engine's totals when the metrics are asked for."""

    def __init__(self, read: Callable[[], Mapping[str, float]]) -> None:
        self._read = read

    def collect(self) -> Iterable[Metric]:
        values = self._read()
        for name, text in ENGINE_COUNTERS.items():
            yield CounterMetricFamily(f"strictcall_{name}", text, value=values.get(name, 0))


class LoopHistogram(Collector):
    """A histogram for what is observed with every delta, by one thread: no lock, no label, no child to look up."""

    def __init__(self, name: str, text: str, *, registry: CollectorRegistry, buckets: Sequence[float]) -> None:
        self._name, self._text = name, text
        self._bounds = [float(bound) for bound in buckets]
        self._counts = [0] * (len(buckets) + 1)
        self._sum = 0.0
        registry.register(self)

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def collect(self) -> Iterable[Metric]:
        bounds = [*(floatToGoString(b) for b in self._bounds), "+Inf"]  # type: ignore[no-untyped-call]
        buckets = list(zip(bounds, map(float, accumulate(self._counts)), strict=True))
        yield HistogramMetricFamily(self._name, self._text, buckets=buckets, sum_value=self._sum)


class LoopCounter(Collector):
    """A counter of the same kind: ``value`` only grows."""

    def __init__(self, name: str, text: str, *, registry: CollectorRegistry) -> None:
        self._name, self._text = name, text
        self.value = 0.0
        registry.register(self)

    def collect(self) -> Iterable[Metric]:
        yield CounterMetricFamily(self._name, self._text, value=self.value)


class Metrics:
    """One server's counters. Each has a registry of its own, so that several servers can live in one process."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter("strictcall_requests", "Requests answered.", ["route", "status"], registry=registry)
        self.running = Gauge(
            "strictcall_requests_running", "Requests whose answer is being generated.", registry=registry
        )
        self.queued = Gauge("strictcall_requests_queued", "Requests waiting for their turn.", registry=registry)
        self.request_seconds = Histogram(
            "strictcall_request_seconds",
            "From request to the end of its answer.",
            ["route"],
            registry=registry,
            buckets=_SECONDS,
        )
        self.ttft = Histogram(
            "strictcall_ttft_seconds", "From request to the first token.", registry=registry, buckets=_SECONDS
        )
        self.inter_delta = LoopHistogram(
            "strictcall_inter_delta_seconds", "Between two deltas of one choice.", registry=registry, buckets=_SHORT
        )
        self.prompt_tokens = Counter("strictcall_prompt_tokens", "Tokens read in prompts.", registry=registry)
        self.completion_tokens = LoopCounter("strictcall_completion_tokens", "Tokens generated.", registry=registry)
        self.tool_calls = Counter(
            "strictcall_tool_calls",
            "Calls: complete, or cut by the budget (incomplete).",
            ["outcome"],
            registry=registry,
        )
        self.violations = Counter(
            "strictcall_guarantee_violations",
            "Calls or texts that the grammar should have held and did not. They are never shown as an answer.",
            registry=registry,
        )
        self.resampled = Counter(
            "strictcall_resampled_calls", "Calls sampled again after a failed check.", registry=registry
        )
        self.disconnects = Counter(
            "strictcall_client_disconnects", "Answers given up because the client was gone.", registry=registry
        )
        self.grammar_compile_seconds = Histogram(
            "strictcall_grammar_compile_seconds",
            "Compiling one schema, or trying one grammar.",
            registry=registry,
            buckets=_SHORT,
        )
        self.grammar_cache_hits = Counter(
            "strictcall_grammar_cache_hits", "Schemas and grammars found compiled.", registry=registry
        )
        self.grammar_cache_misses = Counter(
            "strictcall_grammar_cache_misses", "Schemas and grammars that had to be compiled.", registry=registry
        )

    def watch_engine(self, read: Callable[[], Mapping[str, float]]) -> None:
        """Show what ``read`` returns, the engine's totals by name (see ``ENGINE_COUNTERS``), from now on."""
        self.registry.register(_EngineCounters(read))

    def exposition(self) -> bytes:
        """Everything in Prometheus' text format, the engine's metrics of this process included."""
        return generate_latest(self.registry) + generate_latest(REGISTRY)
