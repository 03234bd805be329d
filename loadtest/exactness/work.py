"""One piece of work for a worker process: a schema, or a group of the test suite, under one compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from loadtest.exactness.compilers import CompilerName
from loadtest.exactness.measure import Options, Outcome, Record, measure
from loadtest.exactness.suite import Group, SuiteOutcome, run_group
from schemas.resident import settle, warm_up_once

Job: TypeAlias = tuple[Record | Group, CompilerName, Options]


def work(job: Job, stage: Callable[[str], None]) -> Outcome | SuiteOutcome:
    """``stage`` is told what comes next. The process is kept as the server keeps those that compile."""
    subject, compiler, options = job
    warm_up_once()
    settle()
    if isinstance(subject, Group):
        stage("suite")
        return run_group(subject, compiler)
    return measure(subject, compiler, options, stage)
