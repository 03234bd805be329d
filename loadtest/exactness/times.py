"""How long compiling takes: a pass of its own, before everything else.

A process as the server keeps them for compiling, alone: it is warm, and all that it does is to compile one schema after
the other, none of which it has seen. Two processes at work on one machine share its caches, and often its cores: each
then takes a third more CPU time for the same schema, which says nothing of the compiler.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from loadtest.exactness.compilers import COMPILERS, CompilerName, Grammar
from loadtest.exactness.measure import Record
from schemas.resident import settle, warm_up_once

TimingJob: TypeAlias = tuple[Record, CompilerName]


@dataclass(frozen=True, slots=True)
class CompileTime:
    """CPU times of the thread, in microseconds."""

    id: str
    compiler: CompilerName
    cold_us: float
    """From schema to grammar or refusal, on the first call."""
    cached_us: float | None
    """From an equal document to the same grammar, on the second; None for what is refused."""


def compile_time(job: TimingJob, stage: Callable[[str], None]) -> CompileTime:
    """The work of the one process: see above."""
    record, name = job
    warm_up_once()
    settle()
    stage("compile, timed")
    schema = record["schema"]
    started = time.thread_time_ns()
    result = COMPILERS[name](schema)
    cold = (time.thread_time_ns() - started) / 1000
    if not isinstance(result, Grammar):
        return CompileTime(record["id"], name, cold, None)
    again = copy.deepcopy(schema)
    started = time.thread_time_ns()
    COMPILERS[name](again)
    return CompileTime(record["id"], name, cold, (time.thread_time_ns() - started) / 1000)
