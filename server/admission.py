"""How many requests run and how many wait; beyond that, 429."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from server.errors import overloaded
from server.metrics import Metrics


class Admission:
    """``max_running`` requests at once and ``max_queued`` in a first-come queue behind them."""

    def __init__(self, metrics: Metrics, *, max_running: int, max_queued: int) -> None:
        self._metrics = metrics
        self._max_running = max_running
        self._max_queued = max_queued
        self._running = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    def enter_at_once(self) -> Callable[[], None] | None:
        """What ``enter`` returns, if there is a place; ``None`` where one would have to wait, or there is no room."""
        if self._running >= self._max_running:
            return None
        self._running += 1
        return self._entered()

    async def enter(self) -> Callable[[], None]:
        """Wait for a turn; call what is returned when the answer is over (more than once does no harm).

        Raises ApiError 429 when the queue is full. Cancelling a waiting caller leaves the queue.
        """
        entered = self.enter_at_once()
        if entered is None:
            await self._wait()
            entered = self._entered()
        return entered

    def _entered(self) -> Callable[[], None]:
        self._metrics.running.inc()
        left = False

        def leave() -> None:
            nonlocal left
            if not left:
                left = True
                self._metrics.running.dec()
                self._next()

        return leave

    async def _wait(self) -> None:
        if len(self._queue) >= self._max_queued:
            raise overloaded(
                f"The server is busy: {self._running} requests are running and {len(self._queue)} are waiting. "
                "Try again in a moment."
            )
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._metrics.queued.inc()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._next()  # the turn came just as the caller left: pass it on
            else:
                self._queue.remove(turn)
            raise
        finally:
            self._metrics.queued.dec()

    def _next(self) -> None:
        """Hand this place to the first in the queue, or free it."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._running -= 1
