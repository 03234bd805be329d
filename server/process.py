"""The life of a server process: bind, serve, load, stop. ``run`` returns its exit code."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvloop
from fastapi import FastAPI

from decoding import formats
from server.api_processes import ApiProcesses
from server.app import create_app
from server.embedded import EMBEDDED_NAME, EmbeddedModelError, prepare
from server.http_server import LAST_BYTES, HttpServer, drain, http_server
from server.logs import LOGGER, ConsoleOutput, configure
from server.reaper import MARKER_VARIABLE, PATIENCE, end_trackers, kill_marked, marked_processes
from server.settings import Settings
from server.shared_metrics import SharedMetrics
from server.start_errors import StartError, bind_several, check_model, explain, without_prefix
from server.threads import in_thread

if TYPE_CHECKING:
    from server.engine import VllmEngine

#: Seconds between two signs of life while the engine starts.
HEARTBEAT = 10.0
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
    except StartError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    marker = _mark_children()
    guard = _start_reaper(marker)
    set_engine_environment(settings)
    output = ConsoleOutput(echo=settings.log_level == "debug")
    count = settings.api_processes
    configure(output.stream, settings.log_level, "api 0" if count > 1 else "")
    settings = _share(settings)
    others = ApiProcesses(settings, listeners[1:], output.stream) if count > 1 else None
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            code = runner.run(_serve(settings, listeners[0], output, others))
        except Exception as error:
            LOGGER.error("%s: %s", type(error).__name__, error, exc_info=settings.log_level == "debug")
            code = 1
        _end_children(marker)
        if others is not None:
            others.close()
        guard.kill()
        guard.wait()
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
    server = http_server(app)
    http = asyncio.create_task(server.serve(sockets=[listener]))
    life = asyncio.create_task(_load_and_watch(app, settings, listener, output, others))
    asked = asyncio.create_task(stop.asked.wait())
    await asyncio.wait({http, life, asked}, return_when=asyncio.FIRST_COMPLETED)
    code = 0
    if not stop.asked.is_set():
        code = 1
        failure = _failure(life) if life.done() else _failure(http) or "the HTTP server ended"
        LOGGER.error("%s", failure)
    insisted = asyncio.create_task(stop.insisted.wait())
    shutdown = asyncio.create_task(_shut_down(app, server, http, settings.shutdown_grace, others))
    await asyncio.wait({shutdown, insisted}, return_when=asyncio.FIRST_COMPLETED)
    if others is not None:
        others.stop_at_once()
    if code == 0:
        LOGGER.info("stopped")
    return code


def _log_format(name: str, tokenizer: Any) -> None:
    """Say which call format the model gets, and why."""
    if name != "auto":
        LOGGER.info("format %s: set by --tool-format", name)
        return
    found = formats.explain(tokenizer)
    level = logging.WARNING if found.is_a_guess else logging.INFO
    LOGGER.log(level, "format %s: %s", found.format.name, found.reason.removeprefix("warning: "))


async def _load_and_watch(
    app: FastAPI, settings: Settings, listener: socket.socket, output: ConsoleOutput, others: ApiProcesses | None
) -> None:
    """Load the engine, give it to the app, and return never: the end of the engine, or of one of the other API
    processes, raises StartError."""
    started = time.monotonic()
    beat = asyncio.create_task(_heartbeat(started, output))
    try:
        engine = await _load(settings, started, output)
    finally:
        beat.cancel()
    _log_format(settings.tool_format, engine.tokenizer)
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
    await _until_dead(engine, others)
    # Long enough for the answers in flight to end with an error frame, and for a probe to see it.
    await asyncio.sleep(LAST_BYTES)
    # Only the last words: earlier faults were those of single requests.
    reason = explain(engine.death_story(), output.lines()[-80:])
    raise StartError(_with_details(f"the engine died: {reason}", settings, output))


async def _until_dead(engine: VllmEngine, others: ApiProcesses | None) -> None:
    """Return when the engine has died. Raises StartError when another API process has."""
    if others is None:
        await engine.wait_until_dead()
        return
    dead = asyncio.create_task(engine.wait_until_dead())
    gone = asyncio.create_task(others.wait_for_a_death())
    await asyncio.wait({dead, gone}, return_when=asyncio.FIRST_COMPLETED)
    if not dead.done():
        dead.cancel()
        raise StartError(f"{gone.result()}; the server stops, for want of it")
    gone.cancel()
    others.engine_is_dead()


async def _load(settings: Settings, started: float, output: ConsoleOutput) -> VllmEngine:
    def report(text: str) -> None:
        LOGGER.info("[%3.0f s] %s", time.monotonic() - started, text)

    if settings.model is None:
        try:
            model = str(await in_thread(lambda: prepare(settings.cache_dir, report)))
        except EmbeddedModelError as error:
            raise StartError(str(error)) from error
        names = settings.served_model_name or (EMBEDDED_NAME,)
    else:
        given = settings.model
        report(f"looking for the model {given}")
        model = await in_thread(lambda: check_model(given))
        names = settings.served_model_name or (given if model == given else Path(model).name,)
    _check_format(settings.tool_format)
    report("loading vLLM")
    try:
        module: Any = await in_thread(_import_engine)
    except Exception as error:
        raise StartError(_with_details(f"vLLM cannot be loaded: {error}", settings, output)) from error
    report(f"starting the engine with {names[0]}")
    try:
        engine: VllmEngine = await module.VllmEngine.start(
            model,
            names,
            max_model_len=settings.max_model_len,
            tensor_parallel_size=settings.tensor_parallel_size,
            jump_forward=settings.jump_forward,
            api_processes=settings.api_processes,
            extra=settings.engine_args,
        )
    except module.EngineArgumentError as error:
        raise StartError(str(error)) from error
    except module.EngineStartError as error:
        # The children's last words may still be on their way through the pipe.
        await asyncio.sleep(0.3)
        reason = explain(str(error), output.lines())
        raise StartError(_with_details(f"the engine did not start: {reason}", settings, output)) from error
    return engine


def _check_format(name: str) -> None:
    """Before minutes are spent on loading. Raises StartError."""
    if name != "auto":
        try:
            formats.get(name)
        except ValueError as error:
            raise StartError(f"--tool-format {name}: {error}") from error


def _import_engine() -> Any:
    from server import engine

    return engine


async def _heartbeat(started: float, output: ConsoleOutput) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT)
        last = without_prefix(output.last_line())
        LOGGER.info("[%3.0f s] … %s", time.monotonic() - started, last[:120] or "still starting")


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
    error = task.exception() if task.done() and not task.cancelled() else None
    if error is None:
        return ""
    if not isinstance(error, StartError):
        LOGGER.debug("", exc_info=error)
    return str(error) if isinstance(error, StartError) else f"{type(error).__name__}: {error}"


def _with_details(text: str, settings: Settings, output: ConsoleOutput) -> str:
    saved = output.save(settings.cache_dir / "engine.log")
    return f"{text} (what the engine printed: {saved})" if saved else text


def _mark_children() -> str:
    """Put a marker into the environment that every child process inherits."""
    marker = uuid.uuid4().hex
    os.environ[MARKER_VARIABLE] = marker
    # vLLM renames its processes; without this, that overwrites the environment where others can read it.
    os.environ["SPT_NOENV"] = "1"
    return marker


def _end_children(marker: str) -> None:
    kill_marked(marker, quiet=0.2 if marked_processes(marker) else 0.0)
    if marked_processes(marker):
        # What is left is Python's resource tracker, which ends when its last pipe is closed, and that is ours.
        descriptor = resource_tracker.getfd()
        if descriptor is not None:
            os.close(descriptor)
        end_trackers(marker, PATIENCE)


def _start_reaper(marker: str) -> subprocess.Popen[bytes]:
    script = Path(__file__).with_name("reaper.py")
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(script), str(os.getpid()), marker],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env={},
    )


def set_engine_environment(settings: Settings) -> None:
    """Settings that vLLM and its libraries read from the environment; what the user set stays."""
    for name, value in {
        "VLLM_LOGGING_LEVEL": "DEBUG" if settings.log_level == "debug" else "INFO",
        "VLLM_LOGGING_COLOR": "0",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
        "TOKENIZERS_PARALLELISM": "false",
    }.items():
        os.environ.setdefault(name, value)
