"""One more API process: it has a seat at an engine core that the first process started, and obeys that process.

Over their pipe go to the first one: ``("log", line)``, ``("ready",)``, ``("failed", reason)``; and back: ``("open",)``
(take connections), ``("engine dead",)``, ``("stop",)``, ``("stop at once",)``. When the pipe ends, this process does.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvloop

from server.app import create_app
from server.http_server import drain, http_server
from server.logs import LOGGER, LineSender, configure
from server.settings import Settings
from server.shared_metrics import SharedMetrics

if TYPE_CHECKING:
    from decoding.engine.shared_core import Seat


def main(
    settings: Settings, names: Sequence[str], seat: Seat, listener: socket.socket, pipe: Connection, folder: Path
) -> None:
    """Serve until told to stop. ``listener`` is bound, and listens from ``("open",)`` on."""
    # Ctrl-C reaches the whole group of a terminal; the first process decides what it means.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    _keep_what_was_handed_over()
    lock = threading.Lock()

    def send(*message: str) -> None:
        with lock, contextlib.suppress(OSError):
            pipe.send(message)

    configure(LineSender(lambda line: send("log", line)), settings.log_level, f"api {seat.index}")
    code = 1
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            runner.run(_serve(settings, names, seat, listener, pipe, send, folder))
            code = 0
        except Exception as error:
            LOGGER.debug("", exc_info=error)
            send("failed", f"{type(error).__name__}: {error}")
        os._exit(code)


def _keep_what_was_handed_over() -> None:
    """A spawned process gets its sockets inheritable. Its compile processes would hold the port beyond its end."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            with contextlib.suppress(OSError):
                os.set_inheritable(int(name), False)


async def _serve(
    settings: Settings,
    names: Sequence[str],
    seat: Seat,
    listener: socket.socket,
    pipe: Connection,
    send: Any,
    folder: Path,
) -> None:
    from server.engine import VllmEngine

    orders = _orders(pipe)
    app = create_app(settings, None)
    serving = app.state.serving
    engine = await VllmEngine.join(seat, names)
    await app.state.on_engine(engine)
    serving.metrics.watch_engine(engine.totals)
    serving.shared_metrics = SharedMetrics(folder, seat.index, seat.count, serving.metrics)
    await serving.shared_metrics.open()
    send("ready")
    server, http = http_server(app, settings), None
    while (order := await orders.get()) not in ("stop", "stop at once"):
        if order == "open":
            http = asyncio.create_task(server.serve(sockets=[listener]))
            http.add_done_callback(lambda _: orders.put_nowait("stop at once"))
        elif order == "engine dead":
            engine.give_up()
    if order == "stop":
        stopping = asyncio.create_task(drain(app, server, http, settings.shutdown_grace))
        insisted = asyncio.create_task(orders.get())
        await asyncio.wait({stopping, insisted}, return_when=asyncio.FIRST_COMPLETED)


def _orders(pipe: Connection) -> asyncio.Queue[str]:
    """What the first process says, as it comes. Ends this process when that one is gone."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[str] = asyncio.Queue()

    def read() -> None:
        while True:
            try:
                (order,) = pipe.recv()
            except (EOFError, OSError):
                os._exit(1)
            loop.call_soon_threadsafe(queue.put_nowait, order)

    threading.Thread(target=read, daemon=True, name="orders").start()
    return queue
