"""The socket that the engine's outputs arrive at, read with less ado.

zmq's asyncio socket makes futures, polls and looks up options for every message, which took a fifth of a server's time
per token. vLLM only ever reads whole messages from this one, in one task, so reading is: try, and wait for the file
descriptor where there is nothing.
"""

from __future__ import annotations

import asyncio
from typing import Any

import zmq
import zmq.asyncio

_READABLE = int(zmq.POLLIN)


class _Reader:
    def __init__(self, socket: zmq.Socket[Any]) -> None:
        self._socket = socket
        self._descriptor = int(socket.getsockopt(zmq.FD))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: asyncio.Future[None] | None = None

    def frames(self) -> list[zmq.Frame] | None:
        # Trying to receive would be answered with an exception, which costs more than to ask.
        if not int(self._socket.getsockopt(zmq.EVENTS)) & _READABLE:
            return None
        return self._received()

    async def next_frames(self) -> list[zmq.Frame] | None:
        """Wait until something may have come, and take it if it has. Only after ``frames`` found nothing: the
        descriptor tells of changes."""
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
            loop.add_reader(self._descriptor, self._wake)
        self._waiting = loop.create_future()
        await self._waiting
        try:
            return self._received()  # nearly always it has
        except zmq.Again:
            return None

    def _received(self) -> list[zmq.Frame]:
        frame = self._socket.recv(zmq.NOBLOCK, copy=False)
        frames = [frame]
        while frame.more:
            # A message arrives whole or not at all.
            frame = self._socket.recv(copy=False)
            frames.append(frame)
        return frames

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def stop(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._descriptor)
        self._loop = None


class OutputSocket(zmq.asyncio.Socket):
    """Takes the place of ``other``, as far as reading whole messages goes. One task may read."""

    #: pyzmq's sockets take no attribute that their class does not have.
    _reader: Any = None

    def __init__(self, other: zmq.asyncio.Socket) -> None:
        socket: zmq.Socket[Any] = zmq.Socket.shadow(other)  # keeps it from being closed
        super().__init__(socket)  # type: ignore[misc]  # pyzmq declares other ways only
        self._reader = _Reader(socket)

    async def recv_multipart(self, flags: int = 0, copy: bool = True, track: bool = False) -> list[Any]:  # type: ignore[override]
        """The frames of the next message, never copied. Raises zmq.ZMQError."""
        reader: _Reader = self._reader
        while True:
            if (frames := reader.frames()) is not None or (frames := await reader.next_frames()) is not None:
                return frames

    def close(self, linger: int | None = None) -> None:
        self._reader.stop()
        super().close(linger)
