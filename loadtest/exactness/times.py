"""How long compiling takes: a pass of its own, before everything else.

A process as the server keeps them for compiling, alone: it is warm, and all that it does is to compile one schema after
the other, none of which it has seen. It gets many at a time and waits for nobody between them: whatever else runs on
the processor in a pause (another process of the benchmark, say) empties its caches, and compiling then takes up to a
third more CPU time, which says nothing of the compiler.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from loadtest.exactness.compilers import COMPILERS, CompilerName, Grammar
from loadtest.exactness.judge import Json
from loadtest.exactness.measure import Record
from schemas.resident import settle, warm_up_once

TimingJob: TypeAlias = tuple[Sequence[Record], CompilerName]


@dataclass(frozen=True, slots=True)
class CompileTime:
    """CPU times of the thread, in microseconds."""

    id: str
    compiler: CompilerName
    cold_us: float
    """From schema to grammar or refusal, on the first call."""
    cached_us: float | None
    """From an equal document to the same grammar, on the second; None for what is refused."""

    def smaller(self, other: CompileTime) -> CompileTime:
        """The smaller times of two processes."""
        both = self.cached_us is not None and other.cached_us is not None
        cached = min(self.cached_us or 0.0, other.cached_us or 0.0) if both else None
        return CompileTime(self.id, self.compiler, min(self.cold_us, other.cold_us), cached)


def compile_times(job: TimingJob, stage: Callable[[str], None]) -> list[CompileTime]:
    """The work of the one process: see above. Few enough records that none has left a cache before its second call."""
    records, name = job
    warm_up_once()
    stage("compile, timed")  # once: every message wakes another process
    cold = []
    for record in records:
        settle()
        cold.append(_timed(record["schema"], name))
    again = [copy.deepcopy(record["schema"]) for record in records]
    settle()
    taken = []
    for record, schema, (first_us, compiled) in zip(records, again, cold, strict=True):
        second_us = _timed(schema, name)[0] if compiled else None
        taken.append(CompileTime(record["id"], name, first_us, second_us))
    return taken


def _timed(schema: Json, name: CompilerName) -> tuple[float, bool]:
    """Microseconds, and whether it compiles."""
    started = time.thread_time_ns()
    result = COMPILERS[name](schema)
    return (time.thread_time_ns() - started) / 1000, isinstance(result, Grammar)
