"""Uvicorn as an API process uses it, and how one stops."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI

from server.http_protocol import StreamingProtocol, Turn
from server.settings import Settings

#: Seconds for open connections to take their last bytes after generation has ended.
LAST_BYTES = 1.5


class HttpServer(uvicorn.Server):
    """Uvicorn without its own signal handlers: stopping is decided elsewhere."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def http_protocol(settings: Settings) -> Any:
    """What uvicorn makes a protocol of each connection with."""
    return partial(
        StreamingProtocol,
        turn=Turn(),
        receive_timeout=settings.receive_timeout,
        send_timeout=settings.send_timeout,
    )


def http_server(app: FastAPI, settings: Settings) -> HttpServer:
    return HttpServer(
        uvicorn.Config(
            app,
            loop="none",
            http=http_protocol(settings),
            ws="none",
            log_config=None,
            access_log=True,
            server_header=False,
            timeout_graceful_shutdown=max(1, round(LAST_BYTES)),
            timeout_keep_alive=75,
        )
    )


async def drain(app: FastAPI, server: HttpServer, http: asyncio.Task[None] | None, grace: float) -> None:
    """Refuse new requests, let running ones end within ``grace`` seconds, close connections."""
    app.state.draining = True
    if app.state.engine is not None:
        await app.state.engine.drain(grace)
    server.should_exit = True
    if http is not None:
        await asyncio.wait({http}, timeout=LAST_BYTES + 0.5)
