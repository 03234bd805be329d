"""The other API processes (``--api-processes``), as the first one sees them: started, watched, told what to do."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import signal
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from server import api_process
from server.settings import Settings
from server.start_errors import StartError
from server.threads import in_thread

if TYPE_CHECKING:
    from decoding.engine.shared_core import Seat


@dataclass(slots=True)
class _Process:
    number: int
    process: SpawnProcess
    pipe: Connection
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    failure: str = ""


class ApiProcesses:
    """All but the first. ``folder`` is where all of them meet."""

    def __init__(self, settings: Settings, listeners: Sequence[socket.socket], console: TextIO, folder: Path) -> None:
        self._settings = settings
        self._listeners = listeners
        self._console = console
        self._processes: list[_Process] = []
        self._stopping = False
        self.folder = folder

    async def start(self, seats: Sequence[Seat], names: Sequence[str]) -> None:
        """One process for each seat; returns when all are ready. Raises StartError when one is not."""
        for seat, listener in zip(seats, self._listeners, strict=True):
            self._processes.append(await in_thread(lambda s=seat, at=listener: self._spawn(s, at, names)))  # type: ignore[misc]
            self._watch(self._processes[-1])
        death = asyncio.create_task(self.wait_for_a_death())
        for one in self._processes:
            ready = asyncio.create_task(one.ready.wait())
            await asyncio.wait({ready, death}, return_when=asyncio.FIRST_COMPLETED)
            if death.done():
                ready.cancel()
                raise StartError(death.result())
        death.cancel()

    def open(self) -> None:
        """Let them take connections."""
        self._tell("open")

    def engine_is_dead(self) -> None:
        self._tell("engine dead")

    async def wait_for_a_death(self) -> str:
        """Wait until one of them has ended by itself; what is known of why. Never returns once they are stopped."""
        waiting = {asyncio.create_task(one.gone.wait()): one for one in self._processes}
        try:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
        if self._stopping:
            await asyncio.get_running_loop().create_future()
        one = waiting[done.pop()]
        await in_thread(lambda: one.process.join(1.0))
        code = one.process.exitcode
        ended = f"was ended by {signal.Signals(-code).name}" if code is not None and code < 0 else f"ended with {code}"
        return f"API process {one.number} {one.failure or ended}"

    async def stop(self, *, seconds: float) -> None:
        """Let their running answers end; returns when all processes have, and after ``seconds`` in any case."""
        self._stopping = True
        for one in self._processes:
            if not one.ready.is_set():
                one.process.kill()
        self._tell("stop")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(one.gone.wait() for one in self._processes))

    def stop_at_once(self) -> None:
        self._tell("stop at once")

    def _tell(self, order: str) -> None:
        for one in self._processes:
            with contextlib.suppress(OSError):
                one.pipe.send((order,))

    def _spawn(self, seat: Seat, listener: socket.socket, names: Sequence[str]) -> _Process:
        ours, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        process = context.Process(
            target=api_process.main,
            args=(self._settings, tuple(names), seat, listener, theirs, self.folder),
            name=f"api {seat.index}",
        )
        # Inherited: a Ctrl-C must not end it before it has come to ignoring that.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        process.start()
        for end in (theirs, listener, seat):
            end.close()
        return _Process(seat.index, process, ours)

    def _watch(self, one: _Process) -> None:
        loop = asyncio.get_running_loop()

        def tell(event: asyncio.Event) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(event.set)

        def read() -> None:
            while True:
                try:
                    message = one.pipe.recv()
                except (EOFError, OSError):
                    tell(one.gone)
                    return
                match message:
                    case ("log", line):
                        self._console.write(f"{line}\n")
                    case ("ready",):
                        tell(one.ready)
                    case ("failed", reason):
                        one.failure = f"failed: {reason}"

        threading.Thread(target=read, daemon=True, name=f"api {one.number}").start()
