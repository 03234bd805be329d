"""Loading a model: from the settings to an engine that has answered once, with signs of life on the way."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decoding import formats
from server.embedded import EMBEDDED_NAME, EmbeddedModelError, prepare
from server.logs import LOGGER, ConsoleOutput
from server.settings import Settings
from server.start_errors import StartError, check_model, explain, without_prefix
from server.threads import in_thread

if TYPE_CHECKING:
    from server.engine import VllmEngine

#: Seconds between two signs of life while the engine starts.
HEARTBEAT = 10.0


async def load_engine(settings: Settings, started: float, output: ConsoleOutput) -> VllmEngine:
    """The engine, and a log of how long each part took since ``started``. Raises StartError."""
    beat = asyncio.create_task(_heartbeat(started, output))
    try:
        engine = await _load(settings, started, output)
    finally:
        beat.cancel()
    _log_format(settings.tool_format, engine.tokenizer)
    return engine


def with_details(text: str, settings: Settings, output: ConsoleOutput) -> str:
    """The text, with the place of a file that has what the engine printed."""
    saved = output.save(settings.cache_dir / "engine.log")
    return f"{text} (what the engine printed: {saved})" if saved else text


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
        raise StartError(with_details(f"vLLM cannot be loaded: {error}", settings, output)) from error
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
        raise StartError(with_details(f"the engine did not start: {reason}", settings, output)) from error
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


def _log_format(name: str, tokenizer: Any) -> None:
    """Say which call format the model gets, and why."""
    if name != "auto":
        LOGGER.info("format %s: set by --tool-format", name)
        return
    found = formats.explain(tokenizer)
    level = logging.WARNING if found.is_a_guess else logging.INFO
    LOGGER.log(level, "format %s: %s", found.format.name, found.reason.removeprefix("warning: "))
