"""Uvicorn's HTTP/1.1, with a shortcut for streams and an end to what uvicorn would wait for without limit.

Shortcut: a chunk goes to the socket in one call, past ASGI's ``send``, which is a coroutine: a task would have to be
woken for every token, and six layers of middleware pass the token on. What the shortcut writes is what ``send`` would.

Ends: of a head that does not arrive, or is larger than any; of a client that takes nothing of its answer; of the answer
to a client that is gone and has sent its next request before. And two kinds of clients are served that uvicorn fails:
those of HTTP/1.0 get no chunks, for they know none, and those that offer HTTP/2 with a request (Java's do so unless
told otherwise) are answered as if they had not: their body would be lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

WRITE_NOW = "strictcall.write_now"
"""The key among a request's ``extensions``. The function writes a chunk of an answer under way, and says whether it
could; it cannot before the headers are out and while the client does not take what there is."""
DROP = "strictcall.drop"
"""Another key: the function ends the connection at once, and forgets what the client has not taken."""
ON_GONE = "strictcall.on_gone"
"""A third one: the function takes what is to be called when the client has closed its connection while the answer is
under way; ``None`` for nothing any more. The request's body must have been read."""

WHOLE_BODY = "strictcall.whole_body"
"""And a fourth: the function returns the request's body if all of it is here, in place of what ``receive`` would say of
it; ``None`` where it is not."""

IN_ONE_WRITE = "strictcall.in_one_write"
"""A fifth: the function makes a context in which all that ``send`` writes leaves together; not the answer's end."""

#: Bytes of a request's line and headers, about; more is 431.
MAX_HEAD = 128 * 1024
#: Requests that may wait behind the one that is being answered before the connection is read no more. While there are
#: fewer it is, for only so its end is noticed.
_AHEAD = 16
_OFFER = (b"connection", b"upgrade", b"http2-settings")


class Turn:
    """What is written in one turn of the event loop leaves at its end, for all connections together.

    A step of the engine brings a token to each of many streams. Writing is a system call, after which the processor has
    forgotten much of what it needs for the next token: so first all tokens are made ready, then all are written. When
    the process is behind and several steps come in one turn, theirs leave together.
    """

    __slots__ = ("_loop", "_written")

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._written: dict[asyncio.Transport, list[bytes]] = {}

    def write(self, transport: asyncio.Transport, data: bytes) -> None:
        """As ``transport.write``, before whatever is scheduled after this call."""
        written = self._written
        if not written:
            if self._loop is None:
                self._loop = asyncio.get_running_loop()
            self._loop.call_soon(self._end)
        if transport in written:
            written[transport].append(data)
        else:
            written[transport] = [data]

    def _end(self) -> None:
        written, self._written = self._written, {}
        for transport, pieces in written.items():
            # One whose client has gone since would raise, and the others would lose what is theirs.
            if not transport.is_closing():
                transport.write(pieces[0] if len(pieces) == 1 else b"".join(pieces))


class StreamingProtocol(HttpToolsProtocol):
    """One connection. Every request gets the extensions ``WRITE_NOW``, ``DROP``, ``ON_GONE``, ``WHOLE_BODY`` and
    ``IN_ONE_WRITE``.

    ``receive_timeout``: seconds from the first byte of a request's head to its last. ``send_timeout``: seconds in which
    a client must take some of a whole answer (how long a stream waits, the stream knows). ``turn``: the event loop's.
    """

    def __init__(
        self, *args: Any, turn: Turn, receive_timeout: float = 60.0, send_timeout: float = 60.0, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self._turn = turn
        self._receive_timeout = receive_timeout
        self._send_timeout = send_timeout
        self._answering: RequestResponseCycle | None = None
        self._on_gone: Callable[[], None] | None = None
        self._in_head = False
        self._head_size = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._untaken = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._within(self.timeout_keep_alive, self._no_request)

    def connection_lost(self, exc: Exception | None) -> None:
        self._no_deadline()
        # Uvicorn tells the request that came last, which may be one that waits behind this one.
        cycle = self._answering
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
            if self._on_gone is not None:
                self._on_gone()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        in_head = self._in_head
        try:
            self._parse(data)
        except httptools.HttpParserError:
            self.send_400_response("Invalid HTTP request received.")
        if in_head and self._in_head:
            self._head_size += len(data)
            if self._head_size > MAX_HEAD and not self.transport.is_closing():
                self._refuse(431, f"The head of the request is larger than {MAX_HEAD} bytes.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_size = True, 0
        self._within(self._receive_timeout, self._no_request)

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self.parser.should_upgrade():
            return  # to come again, without the offer
        self._no_deadline()
        super().on_headers_complete()
        cycle = self.cycle
        # The task that answers has been made and not run yet.
        if cycle is None or cycle.scope is not self.scope:
            return
        extensions: Any = {WRITE_NOW: partial(_write_now, cycle, self._turn), DROP: self.transport.abort}
        extensions |= {ON_GONE: partial(self._tell_when_gone, cycle), WHOLE_BODY: partial(_whole_body, cycle)}
        extensions[IN_ONE_WRITE] = partial(_in_one_write, cycle)
        self.scope["extensions"] = extensions
        if self.scope["http_version"] == "1.0":
            cycle.send = _without_chunks(cycle)  # type: ignore[assignment, method-assign]
        if 0 < len(self.pipeline) <= _AHEAD:
            self.flow.resume_reading()

    def _tell_when_gone(self, cycle: RequestResponseCycle, tell: Callable[[], None] | None) -> None:
        if cycle is not self._answering:
            return  # its answer is complete, and another request has its turn
        self._on_gone = tell
        if tell is not None and cycle.disconnected:
            self.loop.call_soon(tell)
        elif tell is not None:
            self.flow.resume_reading()  # or the connection's end would not be noticed

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_idle():
            self._untaken = self.transport.get_write_buffer_size()
            if self._untaken:
                self._within(self._send_timeout, self._not_taken)
            elif not self.transport.is_closing():
                self._within(self.timeout_keep_alive, self._no_request)

    def timeout_keep_alive_handler(self) -> None:
        """Ours, ``_no_request``, begins at once and not after the first request."""

    def on_message_complete(self) -> None:
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _parse(self, data: bytes) -> None:
        """Raises HttpParserError."""
        while True:
            try:
                self.parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as offer:
                if (method := self.parser.get_method()) == b"CONNECT":
                    raise httptools.HttpParserError("this is no proxy") from None
                # The parser takes what follows for the other protocol. So another one gets the head again.
                kept = [b"%b: %b" % header for header in self.headers if header[0] not in _OFFER]
                line = b"%b %b HTTP/%b" % (method, self.url, self.parser.get_http_version().encode())
                data = b"\r\n".join([line, *kept, b"", data[offer.args[0] :]])
                self.parser = httptools.HttpRequestParser(self)

    def _is_idle(self) -> bool:
        return self._answering is None or self._answering.response_complete

    def _no_request(self) -> None:
        if not self._is_idle():
            return
        if self._in_head and not self.transport.is_closing():
            self._refuse(408, f"The head of the request has not arrived within {self._receive_timeout:g} seconds.")
        else:
            self.transport.abort()

    def _not_taken(self) -> None:
        left = self.transport.get_write_buffer_size()
        if not self._is_idle():
            return
        if 0 < left < self._untaken:
            self._untaken = left
            self._within(self._send_timeout, self._not_taken)
        elif left:
            self.transport.abort()
        elif not self.transport.is_closing():
            self._within(self.timeout_keep_alive, self._no_request)

    def _within(self, seconds: float, otherwise: Callable[[], None]) -> None:
        self._no_deadline()
        self._deadline = self.loop.call_later(seconds, otherwise)

    def _no_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, status: int, text: str) -> None:
        head = b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(text)
        self.transport.write(STATUS_LINE[status] + head + text.encode())
        self.transport.close()


def _write_now(cycle: RequestResponseCycle, turn: Turn, data: bytes) -> bool:
    if not cycle.chunked_encoding or cycle.flow.write_paused or cycle.disconnected or cycle.response_complete:
        return False
    turn.write(cycle.transport, b"%x\r\n%b\r\n" % (len(data), data))
    return True


@contextmanager
def _in_one_write(cycle: RequestResponseCycle) -> Iterator[None]:
    transport = cycle.transport
    written: list[bytes] = []
    cycle.transport = SimpleNamespace(write=written.append)  # type: ignore[assignment]
    try:
        yield
    finally:
        cycle.transport = transport
        if written and not transport.is_closing():
            transport.write(b"".join(written))


def _whole_body(cycle: RequestResponseCycle) -> bytes | None:
    if cycle.more_body or cycle.disconnected:
        return None
    body, cycle.body = bytes(cycle.body), bytearray()
    cycle.message_event.clear()
    return body


def _without_chunks(cycle: RequestResponseCycle) -> Callable[[Any], Coroutine[Any, Any, None]]:
    """The cycle's ``send`` for HTTP/1.0: an answer whose length is not known ends with the connection."""
    send = cycle.send
    endless = False

    async def send_without_chunks(message: Any) -> None:
        nonlocal endless
        if message["type"] == "http.response.start":
            endless = all(name.lower() != b"content-length" for name, _ in message.get("headers", ()))
            if endless:
                cycle.chunked_encoding = False
        elif endless:
            cycle.expected_content_length = len(message.get("body", b""))  # whatever comes is right
        await send(message)

    return send_without_chunks
