"""Processes that may crash or hang: each piece of work runs in one of a few workers, and a worker that dies or takes
too long is replaced, its work counted as a crash or a hang with the stage it was in."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")

MEMORY_LIMIT = 8 << 30
"""Address space of a worker, bytes."""


START_LIMIT = 120.0
"""Seconds that a worker may take for its imports."""


@dataclass(frozen=True, slots=True)
class Died(Generic[Job]):
    """A job whose process did not come back. ``how`` is ``crash`` or ``hang``; ``detail`` says more of it."""

    job: Job
    how: str
    stage: str
    detail: str


class _Worker(Generic[Job, Result]):
    def __init__(self, work: Callable[[Job, Callable[[str], None]], Result]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        self.process.start()
        theirs.close()
        self.job: Job | None = None
        self.stage = "start"
        self.ready = False
        self.since = 0.0

    def give(self, job: Job) -> None:
        self.job, self.stage, self.since = job, "start", time.monotonic()
        self.pipe.send(job)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_all(
    jobs: Iterable[Job], work: Callable[[Job, Callable[[str], None]], Result], workers: int, time_limit: float
) -> Generator[Result | Died[Job], None, None]:
    """The results of ``work(job, stage)`` in the order in which they are ready. ``work`` must be picklable by name.

    A job over ``time_limit`` seconds (wall) is a hang. Closing the iterator ends the workers.
    """
    queue = iter(jobs)
    crew: list[_Worker[Job, Result]] = [_Worker(work) for _ in range(workers)]
    try:
        idle = list(crew)
        while True:
            while idle and (job := next(queue, None)) is not None:
                idle.pop().give(job)
            busy = [(worker, worker.job) for worker in crew if worker.job is not None]
            if not busy:
                return
            ready = wait([worker.pipe for worker, _ in busy], timeout=0.5)
            for worker, current in busy:
                outcome = _news(worker, current, worker.pipe in ready, time_limit)
                if outcome is None:
                    continue
                if isinstance(outcome, Died):
                    crew.remove(worker)
                    worker.end()
                    worker = _Worker(work)
                    crew.append(worker)
                worker.job = None
                idle.append(worker)
                yield outcome
    finally:
        for worker in crew:
            worker.end()


def _news(worker: _Worker[Job, Result], job: Job, ready: bool, time_limit: float) -> Result | Died[Job] | None:
    if not ready:
        late = time.monotonic() - worker.since > (time_limit if worker.ready else time_limit + START_LIMIT)
        return Died(job, "hang", worker.stage, f"over {time_limit:g} s") if late else None
    try:
        kind, payload = worker.pipe.recv()
    except (EOFError, ConnectionResetError):
        worker.process.join(5)
        if not worker.ready:
            raise RuntimeError("a worker process ended before it was ready; its message is above") from None
        return Died(job, "crash", worker.stage, f"exit code {worker.process.exitcode}")
    if kind == "stage":
        if not worker.ready:
            worker.ready, worker.since = True, time.monotonic()
        worker.stage = payload
        return None
    if kind == "raised":
        return Died(job, "crash", worker.stage, payload)
    result: Result = payload
    return result


def _serve(pipe: Connection, work: Callable[[Any, Callable[[str], None]], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["RAYON_NUM_THREADS"] = "1"
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe.send(("stage", "ready"))
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            result = work(job, lambda stage: pipe.send(("stage", stage)))
        except BaseException as error:  # a Rust panic is no Exception
            pipe.send(("raised", f"{type(error).__name__}: {error}"[:600]))
        else:
            pipe.send(("result", result))
