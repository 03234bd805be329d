"""The life of a server process: bind, serve, load, stop. ``run`` returns its exit code."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import time
from typing import TYPE_CHECKING, NoReturn

import uvloop
from fastapi import FastAPI

from server.api_processes import ApiProcesses
from server.app import create_app
from server.belongings import allow_many_connections, mark, set_engine_environment
from server.http_server import LAST_BYTES, HttpServer, drain, http_server
from server.loading import load_engine, with_details
from server.logs import LOGGER, ConsoleOutput, configure
from server.settings import Settings
from server.shared_metrics import SharedMetrics
from server.start_errors import StartError, bind_several, explain

if TYPE_CHECKING:
    from server.engine import VllmEngine

#: Seconds for the engine's processes to end by themselves after SIGTERM, before SIGKILL.
ENGINE_EXIT = 3.0


class _Stop:
    """The wish to stop: the first signal asks, a second one insists."""

    def __init__(self, output: ConsoleOutput) -> None:
        self._output = output
        self.asked = asyncio.Event()
        self.insisted = asyncio.Event()

    def signal(self) -> None:
        if self.asked.is_set():
            self.insisted.set()
        else:
            LOGGER.info("stopping (once more to stop at once)")
            # From here on the engine's complaints about its end say nothing new.
            self._output.forward_problems = False
            self.asked.set()


def run(settings: Settings) -> int:
    """Serve until a signal or a failure: 0 after a signal, 1 after a failure, which is told in one line on stderr.

    Never returns with a process left behind.
    """
    try:
        listeners = bind_several(settings.host, settings.port, settings.api_processes)
        belongings = mark()
    except StartError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    allow_many_connections()
    set_engine_environment(settings)
    output = ConsoleOutput(echo=settings.log_level == "debug")
    count = settings.api_processes
    configure(output.stream, settings.log_level, "api 0" if count > 1 else "")
    settings = _share(settings)
    others = ApiProcesses(settings, listeners[1:], output.stream, belongings.folder) if count > 1 else None
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            code = runner.run(_serve(settings, listeners[0], output, others))
        except Exception as error:
            LOGGER.error("%s: %s", type(error).__name__, error, exc_info=settings.log_level == "debug")
            code = 1
        belongings.end()
        output.stream.flush()
        # Not by way of the interpreter's end: threads that still load a model, and libraries' exit handlers, can
        # hold that up for minutes, and nothing is left to clean up.
        os._exit(code)


def _share(settings: Settings) -> Settings:
    """One process's part of the limits."""
    count = settings.api_processes
    running, queued = -(-settings.max_running // count), -(-settings.max_queued // count)
    return settings.model_copy(update={"max_running": running, "max_queued": queued})


async def _serve(
    settings: Settings, listener: socket.socket, output: ConsoleOutput, others: ApiProcesses | None
) -> int:
    stop = _Stop(output)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.signal)
    app = create_app(settings, None)
    app.state.draining = False
    server = http_server(app, settings)
    http = asyncio.create_task(server.serve(sockets=[listener]))
    life = asyncio.create_task(_load_and_watch(app, settings, listener, output, others))
    asked = asyncio.create_task(stop.asked.wait())
    await asyncio.wait({http, life, asked}, return_when=asyncio.FIRST_COMPLETED)
    code = 0
    if not stop.asked.is_set():
        code = 1
        failure = _failure(life) if life.done() else _failure(http) or "the HTTP server ended"
        output.forward_problems = False
        LOGGER.error("%s", failure)
    insisted = asyncio.create_task(stop.insisted.wait())
    shutdown = asyncio.create_task(_shut_down(app, server, http, settings.shutdown_grace, others))
    await asyncio.wait({shutdown, insisted}, return_when=asyncio.FIRST_COMPLETED)
    if others is not None:
        others.stop_at_once()
    if code == 0:
        LOGGER.info("stopped")
    return code


async def _load_and_watch(
    app: FastAPI, settings: Settings, listener: socket.socket, output: ConsoleOutput, others: ApiProcesses | None
) -> NoReturn:
    """Load the engine, give it to the app, and watch both. Raises StartError at the end of the engine, or of one of the
    other API processes."""
    started = time.monotonic()
    engine = await load_engine(settings, started, output)
    dead = asyncio.create_task(engine.wait_until_dead())
    work = asyncio.create_task(_work(app, settings, listener, output, others, engine, started))
    await asyncio.wait({dead, work}, return_when=asyncio.FIRST_COMPLETED)
    if not dead.done():
        dead.cancel()
        work.result()
    work.cancel()
    if others is not None:
        others.engine_is_dead()
    # Long enough for the answers in flight to end with an error frame, and for a probe to see it.
    await asyncio.sleep(LAST_BYTES)
    # Only the last words: earlier faults were those of single requests.
    reason = explain(engine.death_story(), output.lines()[-80:])
    raise StartError(with_details(f"the engine died: {reason}", settings, output))


async def _work(
    app: FastAPI,
    settings: Settings,
    listener: socket.socket,
    output: ConsoleOutput,
    others: ApiProcesses | None,
    engine: VllmEngine,
    started: float,
) -> NoReturn:
    """From a loaded engine to a server that is ready, and on. Raises StartError when another API process has ended."""
    if others is not None:
        LOGGER.info("[%3.0f s] starting %d more API processes", time.monotonic() - started, len(engine.seats))
        await others.start(engine.seats, engine.model_names)
        metrics = SharedMetrics(others.folder, 0, settings.api_processes, app.state.serving.metrics)
        await metrics.open()
        app.state.serving.shared_metrics = metrics
    await app.state.on_engine(engine)
    app.state.serving.metrics.watch_engine(engine.totals)
    if others is not None:
        others.open()
    output.forward_problems = True
    host, port = listener.getsockname()[:2]
    LOGGER.info(
        "ready: http://%s:%d/v1  model %s  format %s  in %.0f s",
        f"[{host}]" if ":" in host else host,
        port,
        engine.model_names[0],
        app.state.format_name,
        time.monotonic() - started,
    )
    if others is None:
        await asyncio.get_running_loop().create_future()
        raise AssertionError("nobody ends this")
    raise StartError(f"{await others.wait_for_a_death()}; the server stops, for want of it")


async def _shut_down(
    app: FastAPI, server: HttpServer, http: asyncio.Task[None], grace: float, others: ApiProcesses | None
) -> None:
    """Let all API processes come to their end, then the engine."""
    limit = grace + LAST_BYTES + 1.0
    await asyncio.gather(drain(app, server, http, grace), *([others.stop(seconds=limit)] if others else []))
    engine: VllmEngine | None = app.state.engine
    if engine is not None:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(engine.shutdown(), ENGINE_EXIT)


def _failure(task: asyncio.Task[None]) -> str:
    """Why the task ended; empty when it has not, or ended well."""
    error = task.exception() if task.done() and not task.cancelled() else None
    if error is None:
        return ""
    if not isinstance(error, StartError):
        LOGGER.debug("", exc_info=error)
    return str(error) if isinstance(error, StartError) else f"{type(error).__name__}: {error}"
