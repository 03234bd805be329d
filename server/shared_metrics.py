"""One ``/metrics`` for several API processes: whichever is asked, asks the others, and adds up.

Each process answers on a Unix socket of its own with its own exposition. Counters and histograms are added; what the
engine itself counts is the same for all, so the newest (highest) stands; the server's gauges are added, and other
gauges (vLLM's, the process's) carry the number of the process they come from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from server.errors import unavailable
from server.metrics import ENGINE_COUNTERS, Metrics

#: Seconds for another process to answer.
PATIENCE = 5.0
_OURS = "strictcall_"
_ENGINE = {f"{_OURS}{name}_total" for name in ENGINE_COUNTERS}


class SharedMetrics:
    """The metrics of process ``index`` and of all that share ``folder`` with it."""

    def __init__(self, folder: Path, index: int, count: int, metrics: Metrics) -> None:
        self._paths = [folder / f"{number}.metrics" for number in range(count)]
        self._index = index
        self._metrics = metrics
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Answer the others from now on."""
        self._server = await asyncio.start_unix_server(self._answer, self._paths[self._index])

    async def _answer(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(self._metrics.exposition())
            await writer.drain()
        finally:
            writer.close()

    async def exposition(self) -> bytes:
        """All processes' metrics, added up. Raises ApiError 503 when one does not answer: without its share, counters
        would seem to fall."""
        others = [path for number, path in enumerate(self._paths) if number != self._index]
        try:
            async with asyncio.timeout(PATIENCE):
                texts = await asyncio.gather(*map(_ask, others))
        except (OSError, TimeoutError):
            raise unavailable("An API process has not answered for its metrics.") from None
        texts.insert(self._index, self._metrics.exposition())
        return await asyncio.to_thread(add_up, texts)


async def _ask(path: Path) -> bytes:
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        return await reader.read()
    finally:
        writer.close()


def add_up(texts: Sequence[bytes]) -> bytes:
    """Expositions in Prometheus' text format as one; the place of each is the number of its process."""
    families: dict[str, Metric] = {}
    values: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]] = {}
    for number, text in enumerate(texts):
        for family in text_string_to_metric_families(text.decode()):
            families.setdefault(family.name, family)
            found = values.setdefault(family.name, {})
            apart = family.type not in ("counter", "histogram", "summary") and not family.name.startswith(_OURS)
            for sample in family.samples:
                labels = sample.labels | ({"process": str(number)} if apart else {})
                key = (sample.name, tuple(labels.items()))
                old = found.get(key)
                if old is None:
                    found[key] = sample.value
                else:
                    found[key] = max(old, sample.value) if sample.name in _ENGINE else old + sample.value
    return generate_latest(_Shown(families, values))


class _Shown(Collector, CollectorRegistry):
    """What was added up, in the place of a registry."""

    def __init__(
        self,
        families: dict[str, Metric],
        values: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]],
    ) -> None:
        super().__init__()
        self._families, self._values = families, values

    def collect(self) -> Iterable[Metric]:
        for name, family in self._families.items():
            metric = Metric(name, family.documentation, family.type)
            metric.samples = [
                Sample(sample, dict(labels), value) for (sample, labels), value in self._values[name].items()
            ]
            yield metric
