"""Work that ends when the client goes away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from types import TracebackType

from starlette.types import Receive, Scope

from server.errors import ClientGone
from server.http_protocol import ON_GONE


class unless_gone:
    """``with unless_gone(request.scope, request.receive):`` cancels what the task does inside when the client closes
    its connection, and raises ClientGone. The request's body must have been read.

    It works as ``asyncio.timeout`` does: no task of its own for the work, nor for the waiting where the protocol tells.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._scope = scope
        self._receive = receive
        self._inside = self._gone = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._inside = True
        self._stop = _watch(self._scope, self._receive, self._leave)

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self._inside = False
        self._stop()
        # Another who wants the task cancelled comes first.
        if self._gone and self._task.uncancel() == 0 and kind is asyncio.CancelledError:
            raise ClientGone from None

    def _leave(self) -> None:
        if self._inside and not self._gone:
            self._gone = True
            self._task.cancel()


def _watch(scope: Scope, receive: Receive, tell: Callable[[], None]) -> Callable[[], None]:
    """Call ``tell`` when the client is gone; what is returned ends the watch."""
    watch = scope.get("extensions", {}).get(ON_GONE)
    if watch is not None:
        watch(tell)
        return partial(watch, None)
    watcher = asyncio.create_task(_until_gone(receive, tell))
    return partial(_end, watcher)


async def _until_gone(receive: Receive, tell: Callable[[], None]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    tell()


def _end(watcher: asyncio.Task[None]) -> None:
    watcher.cancel()
