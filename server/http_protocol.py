"""Uvicorn's HTTP/1.1 with a shortcut for streams: a chunk goes to the socket in one call, past ASGI's ``send``.

``send`` is a coroutine, so a task has to be woken for every token, and six layers of middleware pass the token on. What
the shortcut writes is what ``send`` would.
"""

from __future__ import annotations

from functools import partial

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

WRITE_NOW = "strictcall.write_now"
"""The key among a request's ``extensions``. The function writes a chunk of an answer under way, and says whether it
could; it cannot before the headers are out and while the client does not take what there is."""


class StreamingProtocol(HttpToolsProtocol):
    """Gives every request the extension ``WRITE_NOW``."""

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        cycle = self.cycle
        # The task that answers has been made and not run yet.
        if cycle is not None and cycle.scope is self.scope:
            self.scope["extensions"] = {WRITE_NOW: partial(_write_now, cycle)}  # type: ignore[dict-item]


def _write_now(cycle: RequestResponseCycle, data: bytes) -> bool:
    if not cycle.chunked_encoding or cycle.flow.write_paused or cycle.disconnected or cycle.response_complete:
        return False
    cycle.transport.write(b"%x\r\n%b\r\n" % (len(data), data))
    return True
