"""A streamed answer on the wire: what the frames are is the protocol's business, how they leave is ours."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, nullcontext
from typing import Any, TypeAlias, cast

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from server.errors import ClientGone, unavailable
from server.gone import unless_gone
from server.http_protocol import DROP, IN_ONE_WRITE, WRITE_NOW
from server.outbox import SlowClient
from server.request_id import request_id

log = logging.getLogger(__name__)

HEADERS = (
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # nginx would hold the frames back
    (b"content-type", b"text/event-stream; charset=utf-8"),
)


WriteNow: TypeAlias = Callable[[bytes], bool]
"""Writes between two frames of the iterator, without waiting, and says whether it could."""


class LastFrame(bytes):
    """A frame that leaves together with the end of the stream. Its iterator has nothing more to do, either."""


class EventStream(Response):
    """Server-sent events from an iterator of byte strings, each one write. ``frames`` begins the work; while its
    iterator waits it may write by the function that it is given, once its first frame has gone out.

    The headers wait for the first of them, so that a fault before it is answered with a proper status:
    ``fault_response`` makes that answer and ``fault_frame`` the last frame of a stream that fails later. When the
    client leaves, or takes nothing for ``send_timeout`` seconds, the iterator is closed at once. ``on_close`` is called
    when all is over, whatever happened.
    """

    def __init__(
        self,
        frames: Callable[[WriteNow], AsyncIterator[bytes]],
        *,
        fault_response: Callable[[Exception], Response],
        fault_frame: Callable[[Exception], bytes],
        on_close: Callable[[], None],
        on_gone: Callable[[], None],
        send_timeout: float,
    ) -> None:
        # Not the base's constructor: it would work out the same headers for every stream.
        self.status_code = 200
        self.raw_headers = list(HEADERS)
        self.background = None
        self._frames = frames
        self._fault_response = fault_response
        self._fault_frame = fault_frame
        self._on_close = on_close
        self._on_gone = on_gone
        self._send_timeout = send_timeout
        self._started = False
        self._sending_since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._slow = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._watch(task)
        try:
            with unless_gone(scope, receive):
                await self._write(scope, receive, send)
        except ClientGone:
            self._on_gone()
        except asyncio.CancelledError:
            # The server stops. Say so rather than break off: a broken stream looks like a short answer.
            if self._started:
                await self._last_words(send)
            raise
        finally:
            if self._timer is not None:
                self._timer.cancel()
            self._on_close()

    async def _write(self, scope: Scope, receive: Receive, send: Send) -> None:
        extensions: Any = scope.get("extensions", {})
        try:
            write_now: WriteNow = extensions.get(WRITE_NOW, _cannot)
            async with aclosing(cast("Any", self._frames(write_now))) as frames:
                async for frame in frames:
                    more = type(frame) is not LastFrame
                    body = {"type": "http.response.body", "body": frame, "more_body": more}
                    if self._started:
                        await self._send(send, body)
                    else:
                        self._started = True
                        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
                        with extensions.get(IN_ONE_WRITE, nullcontext)() if more else nullcontext():
                            await self._send(send, start)
                            await self._send(send, body)
                    if not more:
                        return
        except SlowClient:
            log.warning("%s: the client was dropped: it does not take its answer", request_id.get())
            self._on_gone()
            # Closing would wait until the client has taken what there is.
            extensions.get(DROP, _nothing)()
            return
        except Exception as fault:
            if not self._started:
                await self._fault_response(fault)(scope, receive, send)
                return
            await self._send(send, {"type": "http.response.body", "body": self._fault_frame(fault), "more_body": True})
        await self._send(send, {"type": "http.response.body", "body": b"", "more_body": False})

    async def _send(self, send: Send, message: Message) -> None:
        self._sending_since = time.monotonic()
        try:
            await send(message)
        except asyncio.CancelledError:
            if not self._slow:
                raise
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
            raise SlowClient from None
        finally:
            self._sending_since = None

    def _watch(self, task: asyncio.Task[Any]) -> None:
        """End a ``send`` that takes too long: one timer for the whole stream, not one for each frame."""
        left = self._send_timeout
        if self._sending_since is not None:
            left -= time.monotonic() - self._sending_since
        if left <= 0:
            self._slow = True
            task.cancel()
            return
        self._timer = asyncio.get_running_loop().call_later(left, self._watch, task)

    async def _last_words(self, send: Send) -> None:
        frame = self._fault_frame(unavailable("The server is stopping; the answer is not complete."))
        with contextlib.suppress(Exception):
            async with asyncio.timeout(1):
                await send({"type": "http.response.body", "body": frame, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})


def _cannot(_: bytes) -> bool:
    return False


def _nothing() -> None:
    pass
