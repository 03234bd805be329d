"""Sums over all schemas: what the table shows, from one ``Outcome`` at a time."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from loadtest.exactness.compilers import CompilerName, RefusalKind
from loadtest.exactness.masks import INSTANCES, MaskTimes
from loadtest.exactness.measure import Counterexample, Outcome
from loadtest.exactness.suite import SuiteOutcome
from loadtest.exactness.times import CompileTime


@dataclass(slots=True)
class Tally:
    """Everything of one compiler. Times as in ``CompileTime`` and ``MaskTimes``."""

    compiler: CompilerName
    schemas: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    refusals: list[tuple[str, RefusalKind, str, str, str]] = field(default_factory=list)
    """(schema id, kind, path, keyword, reason)"""
    checked: int = 0
    residue: Counter[str] = field(default_factory=Counter)
    """Schemas with a residue of this keyword."""
    residues: list[tuple[str, str, str, str]] = field(default_factory=list)
    """(schema id, path, keyword, reason)"""
    died: list[tuple[str, str]] = field(default_factory=list)
    examples: dict[str, list[tuple[str, Counterexample]]] = field(default_factory=dict)
    texts: dict[str, list[bytes]] = field(default_factory=dict)
    """By the id of a schema that compiled: texts along which its masks are timed."""
    compile_us: array[float] = field(default_factory=lambda: array("d"))
    matcher_us: array[float] = field(default_factory=lambda: array("d"))
    cached_us: array[float] = field(default_factory=lambda: array("d"))
    first_mask_us: array[float] = field(default_factory=lambda: array("d"))
    mask_us: array[float] = field(default_factory=lambda: array("d"))
    slowest: list[tuple[float, str, str]] = field(default_factory=list)
    """The slowest of each schema: (milliseconds, what, schema id), the worst 200."""
    suite: list[SuiteOutcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        self.schemas += 1
        self.counts.update(outcome.counts)
        for example in outcome.found:
            self.examples.setdefault(example.kind, []).append((outcome.id, example))
        if outcome.died:
            self.died.append((outcome.id, outcome.died))
            return
        if outcome.refusal is not None:
            refusal = outcome.refusal
            self.refusals.append((outcome.id, refusal.kind, refusal.path, refusal.keyword, refusal.reason))
            return
        self.texts[outcome.id] = outcome.accepted[:INSTANCES]
        if outcome.residue:
            self.checked += 1
            self.residue.update({keyword for _, keyword, _ in outcome.residue})
            self.residues.extend((outcome.id, *entry) for entry in outcome.residue)

    def add_time(self, taken: CompileTime) -> None:
        self.compile_us.append(taken.cold_us)
        self._slow(taken.cold_us / 1000, "compile", taken.id)
        if taken.cached_us is not None:
            self.cached_us.append(taken.cached_us)

    def add_masks(self, taken: MaskTimes) -> None:
        self.matcher_us.append(taken.matcher_us)
        self._slow(taken.matcher_us / 1000, "matcher", taken.id)
        for text, why in taken.denied:
            denied = Counterexample("mask denies an accepted text", -1, text.decode("utf-8", "backslashreplace"), why)
            self.counts[denied.kind] += 1
            self.examples.setdefault(denied.kind, []).append((taken.id, denied))
        if taken.first_us:
            self.first_mask_us.append(taken.first_us)
            self._slow(taken.first_us / 1000, "first mask", taken.id)
        if taken.later_ns:
            self.mask_us.extend(ns / 1000 for ns in taken.later_ns)
            self._slow(max(taken.later_ns) / 1e6, "mask", taken.id)

    def _slow(self, milliseconds: float, what: str, schema: str) -> None:
        if milliseconds > 1:
            self.slowest.append((milliseconds, what, schema))
            if len(self.slowest) > 2000:
                self.slowest = sorted(self.slowest, reverse=True)[:200]

    @property
    def compiled(self) -> int:
        return self.schemas - len(self.refusals) - len(self.died)


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` of ``values`` do not exceed; 0 for none. ``values`` is sorted."""
    if not values:
        return 0.0
    return values[min(len(values) - 1, int(share * len(values)))]


def suite_summary(outcomes: Sequence[SuiteOutcome], draft: str, part: str) -> tuple[int, int, int, int]:
    """(cases, cases of refused schemas, cases compiled, wrong ones) of one part of one draft."""
    chosen = [o for o in outcomes if o.draft == draft and o.part == part]
    cases = sum(o.cases for o in chosen)
    refused = sum(o.cases for o in chosen if o.refusal is not None)
    return cases, refused, cases - refused, sum(len(o.wrong) for o in chosen)
