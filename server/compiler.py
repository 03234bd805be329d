"""Schemas compiled off the event loop, in processes that may die of a schema without harm to anybody else."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import pickle
import signal
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import orjson

from schemas import CompiledSchema, SchemaError
from schemas.spelling import JSON, Spelling
from server.compile_worker import HEADER
from server.metrics import Metrics

log = logging.getLogger(__name__)

Undeclared: TypeAlias = Literal["forbid", "allow"]
Schema: TypeAlias = dict[str, Any] | bool
Outcome: TypeAlias = CompiledSchema | SchemaError | None
_Key: TypeAlias = tuple[str, Undeclared, bytes | str, Spelling]

_HERE = str(Path(__file__).parents[1])
_MEGABYTES = 4096
_START_SECONDS = 60.0
_PATIENCE = 8.0  # times the processor seconds, on a machine that is busy with other things


def as_written(schema: Schema) -> Schema:
    """What ``Compiler.compile`` does to a schema before it is compiled, when nothing has to be done."""
    return schema


def _compile_job(
    source: Schema | None, undeclared: Undeclared, prepare: Callable[[Any], Schema], spelling: Spelling
) -> bytes:
    return pickle.dumps(("compile", (prepare(source), undeclared, spelling)))


class CompileFailed(RuntimeError):
    """The compiler has a fault of its own: it raised something that is no SchemaError. The text is the traceback."""


@dataclass(slots=True)
class _Worker:
    process: asyncio.subprocess.Process

    async def run(self, job: bytes, seconds: float) -> Outcome:
        """Raises TimeoutError, EOFError when the process dies of the job, and CompileFailed."""
        stdin = self.process.stdin
        assert stdin is not None
        try:
            async with asyncio.timeout(seconds):
                stdin.write(HEADER.pack(len(job)) + job)
                await stdin.drain()
                outcome: Outcome | str = pickle.loads(await self.read())
        except ConnectionError:
            raise EOFError from None
        if isinstance(outcome, str):
            raise CompileFailed(outcome)
        return outcome

    async def read(self) -> bytes:
        """One frame. Raises EOFError when the process has ended."""
        stdout = self.process.stdout
        assert stdout is not None
        try:
            size = HEADER.unpack(await stdout.readexactly(HEADER.size))[0]
            return await stdout.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise EOFError from None

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()


class Compiler:
    """A cache in front of a few compile processes.

    Refusals are cached like successes, and a schema that is being compiled is not compiled twice. A hit costs one
    serialisation of the schema. Waiting callers may be cancelled; the compilation goes on for whoever asks next.
    """

    def __init__(self, metrics: Metrics, *, workers: int = 2, seconds: float = 10.0, cache_bytes: int = 2**28) -> None:
        self._metrics = metrics
        self._seconds = seconds
        self._bytes_left = cache_bytes
        self._idle: list[_Worker] = []
        self._slots = asyncio.Semaphore(workers)
        self._done: OrderedDict[_Key, Outcome] = OrderedDict()
        self._running: dict[_Key, asyncio.Task[Outcome]] = {}

    async def compile(
        self,
        source: Schema | None,
        undeclared: Undeclared,
        prepare: Callable[[Any], Schema] = as_written,
        spelling: Spelling = JSON,
    ) -> CompiledSchema:
        """The compiled form of ``prepare(source)``, its grammar in ``spelling``.

        Raises SchemaError when ``prepare`` does, or when the schema is refused, takes too long or is too large for the
        compile process, and CompileFailed.
        """
        key = prepare.__qualname__, undeclared, _text(source), spelling
        outcome = await self._look_up(key, partial(_compile_job, source, undeclared, prepare, spelling))
        assert outcome is not None
        return outcome

    def at_hand(
        self,
        sources: Sequence[Schema | None],
        undeclared: Undeclared,
        prepare: Callable[[Any], Schema] = as_written,
        spelling: Spelling = JSON,
    ) -> list[CompiledSchema] | None:
        """What ``compile`` returns for each of ``sources``; ``None`` unless all of it is known by now."""
        try:
            keys: list[_Key] = [(prepare.__qualname__, undeclared, _text(source), spelling) for source in sources]
        except SchemaError:
            return None
        found = [outcome for key in keys if isinstance(outcome := self._done.get(key), CompiledSchema)]
        if len(found) < len(keys):
            return None
        for key in keys:
            self._done.move_to_end(key)
        self._metrics.grammar_cache_hits.inc(len(keys))
        return found

    def has_tried(self, grammar: str) -> bool:
        """Whether it is known by now that ``try_grammar`` passes."""
        key: _Key = "grammar", "allow", grammar, JSON
        if key not in self._done or self._done[key] is not None:
            return False
        self._done.move_to_end(key)
        self._metrics.grammar_cache_hits.inc()
        return True

    async def try_grammar(self, grammar: str) -> None:
        """Let a compile process see whether the grammar engine takes ``grammar``. Raises SchemaError when it does not.

        What has been tried once is not tried again.
        """
        # The text itself is the key: its hash is kept in the string, and the string is cached by who made it.
        key: _Key = "grammar", "allow", grammar, JSON
        await self._look_up(key, lambda: pickle.dumps(("try_grammar", (grammar,))))

    async def warm_up(self) -> None:
        """Start one process and let it compile something, so that the first request does not wait for that."""
        with contextlib.suppress(SchemaError):
            await self.compile({"type": "object", "properties": {"a": {"type": "string"}}}, "forbid")

    async def close(self) -> None:
        """End the compile processes."""
        for task in list(self._running.values()):
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        await asyncio.gather(*(worker.kill() for worker in self._idle))
        self._idle.clear()

    async def _look_up(self, key: _Key, job: Callable[[], bytes]) -> CompiledSchema | None:
        if key in self._done:
            outcome = self._done[key]
            self._done.move_to_end(key)
            self._metrics.grammar_cache_hits.inc()
        else:
            outcome = await asyncio.shield(self._task(key, job))
        if isinstance(outcome, SchemaError):
            raise SchemaError(outcome.path, outcome.keyword, outcome.reason)
        return outcome

    def _task(self, key: _Key, job: Callable[[], bytes]) -> asyncio.Task[Outcome]:
        task = self._running.get(key)
        if task is None:
            self._metrics.grammar_cache_misses.inc()
            task = asyncio.create_task(self._compile(key, job))
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))
        return task

    async def _compile(self, key: _Key, job: Callable[[], bytes]) -> Outcome:
        async with self._slots:
            started = time.perf_counter()
            outcome: Outcome
            try:
                outcome = await self._outcome(await asyncio.to_thread(job))
            except SchemaError as refused:
                outcome = refused
            except RecursionError:
                outcome = SchemaError("", "", "too complex: it is nested too deeply")
            self._metrics.grammar_compile_seconds.observe(time.perf_counter() - started)
        if isinstance(outcome, CompiledSchema):
            # Build the validator here and now: it is needed at the end of a call, on the event loop.
            await asyncio.to_thread(outcome.validate, {})
        self._done[key] = outcome
        self._bytes_left -= _weight(key, outcome)
        while self._bytes_left < 0 and len(self._done) > 1:
            self._bytes_left += _weight(*self._done.popitem(last=False))
        return outcome

    async def _outcome(self, job: bytes) -> Outcome:
        for last in (False, True):
            worker = self._idle.pop() if self._idle else await self._start()
            try:
                outcome = await worker.run(job, _PATIENCE * self._seconds)
            except TimeoutError:
                await worker.kill()
                break
            except EOFError:
                code = await worker.process.wait()
                log.warning("a compile process ended with code %s", code)
                if code == -signal.SIGPROF:  # its processor time is used up
                    break
                if last:
                    return SchemaError("", "", "too complex: it took the compile process down")
            except CompileFailed:
                self._idle.append(worker)
                raise
            except BaseException:
                await worker.kill()
                raise
            else:
                self._idle.append(worker)
                return outcome
        return SchemaError("", "", f"too complex: not compiled within {self._seconds:g} s of processor time")

    async def _start(self) -> _Worker:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # a folder called ``server`` where the command was started is not ours
            "-m",
            "server.compile_worker",
            str(self._seconds),
            str(_MEGABYTES),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (_HERE, os.environ.get("PYTHONPATH"))))},
        )
        worker = _Worker(process)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await worker.read()
        except (EOFError, TimeoutError):
            await worker.kill()
            raise RuntimeError("a compile process did not start") from None
        return worker


def _text(source: Schema | None) -> bytes:
    try:
        return orjson.dumps(source)
    except TypeError:  # an integer beyond 64 bits, or nesting beyond orjson's limit
        pass
    try:
        return json.dumps(source).encode()
    except RecursionError:
        raise SchemaError("", "", "over the limit of nesting") from None


def _weight(key: _Key, outcome: Outcome) -> int:
    """Roughly the bytes that an entry keeps: the schema stands in the key, in the result and in its validator."""
    return 1000 + 5 * len(key[2]) + (len(outcome.grammar) if isinstance(outcome, CompiledSchema) else 0)
