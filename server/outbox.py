"""What the choices of a stream have produced and the client has not yet taken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from decoding.deltas import TokenLogprob
from decoding.events import ArgumentsDelta, Event, Reasoning, Text
from server.generation import Choice, Step

_COALESCE_ABOVE = 64


Steps: TypeAlias = list[tuple[int, Step]]


class SlowClient(Exception):
    """The client reads so slowly that its answer piles up; it is dropped."""


class Outbox:
    """Runs choices in tasks and hands over their steps in order of arrival.

    A client that keeps up gets each step as it comes. When more than a few dozen steps wait, neighbouring pieces of
    one choice are joined, so that a slow client costs no more than its text; past ``limit`` events it is given up.
    """

    def __init__(self, choices: Sequence[Choice], limit: int = 100_000) -> None:
        self.shortcut: Callable[[Steps], bool] | None = None
        """Tried first while a task waits in ``take``: whether it has taken these steps at once, all of them. Spares the
        switch to that task for every token of a client that keeps up."""
        self._limit = limit
        self._waiting: Steps = []
        self._events = 0
        self._changed = asyncio.Event()
        self._hand_over_soon = False
        self._fault: BaseException | None = None
        self._idle_since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._tasks = [asyncio.create_task(self._run(choice)) for choice in choices]
        self._open = len(self._tasks)
        self._alone = self._open == 1

    async def take(self, seconds: float) -> Steps | None:
        """All that waits, as ``(choice, step)``; empty after ``seconds`` with nothing, ``None`` at the end.

        Raises what a choice raised, once the steps before it have been taken, and SlowClient.
        """
        if not self._waiting and self._open and self._fault is None:
            self._idle_since = time.monotonic()
            if self._timer is None:
                self._wake_when_idle(seconds)
            await self._changed.wait()
            self._idle_since = None
        self._changed.clear()
        if self._waiting:
            taken, self._waiting, self._events = self._waiting, [], 0
            return _joined(taken) if len(taken) > _COALESCE_ABOVE else taken
        if self._fault is not None:
            raise self._fault
        return None if not self._open else []

    def _put(self, choice: int, step: Step) -> None:
        if self._alone and not self._waiting and self._passes_at_once([(choice, step)]):
            return
        self._waiting.append((choice, step))
        self._events += len(step.events)
        if self._events > self._limit:
            raise SlowClient
        if self._alone:
            self._wake()
        elif not self._hand_over_soon:
            # Not now: what other choices have in the same step of the engine leaves in the same write.
            self._hand_over_soon = True
            self._loop.call_soon(self._hand_over)

    def _hand_over(self) -> None:
        self._hand_over_soon = False
        if not self._waiting:
            return
        if self._passes_at_once(self._waiting):
            self._waiting, self._events = [], 0
        else:
            self._wake()

    def _passes_at_once(self, steps: Steps) -> bool:
        """Whether the shortcut has taken ``steps``; only while a task waits for them."""
        if self._idle_since is None or self.shortcut is None or self._fault is not None:
            return False
        try:
            passed = self.shortcut(steps)
        except Exception as fault:
            self._fault = fault
            return False
        if passed:
            self._idle_since = time.monotonic()
        return passed

    def _wake(self) -> None:
        """Let the task that waits in ``take`` go on; from now on it is its turn to hand steps over."""
        self._idle_since = None
        self._changed.set()

    def _wake_when_idle(self, seconds: float) -> None:
        """Wake ``take`` once it has waited so long: one timer for the whole answer, not one for each delta."""
        idle = 0.0 if self._idle_since is None else time.monotonic() - self._idle_since
        left = seconds - idle
        if left <= 0:
            self._wake()
            left = seconds
        self._timer = asyncio.get_running_loop().call_later(left, self._wake_when_idle, seconds)

    async def close(self) -> None:
        """End all choices; each aborts its generation in the engine. Nothing is handed over any more."""
        self.shortcut = None
        if self._timer is not None:
            self._timer.cancel()
        running = [task for task in self._tasks if not task.done()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.gather(*running, return_exceptions=True)

    async def _run(self, choice: Choice) -> None:
        try:
            await choice.run(partial(self._put, choice.number))
        except Exception as fault:
            if isinstance(fault, SlowClient):
                self._waiting.clear()
            self._fault = self._fault or fault
        finally:
            self._open -= 1
            self._wake()


def _joined(steps: Steps) -> Steps:
    """One step per choice, neighbouring pieces of the same kind in one event."""
    events: dict[int, list[Event]] = {}
    logprobs: dict[int, list[TokenLogprob]] = {}
    for choice, step in steps:
        events.setdefault(choice, []).extend(step.events)
        logprobs.setdefault(choice, []).extend(step.logprobs)
    return [(choice, Step(_merge(events[choice]), logprobs[choice])) for choice in sorted(events)]


def _merge(events: list[Event]) -> list[Event]:
    out: list[Event] = []
    run: list[str] = []
    last: Event | None = None
    for event in events:
        if last is not None and not _same_kind(last, event):
            out.append(_one(last, run))
            run = []
        run.append(_piece(event))
        last = event
    if last is not None:
        out.append(_one(last, run))
    return out


def _same_kind(a: Event, b: Event) -> bool:
    if isinstance(a, ArgumentsDelta):
        return isinstance(b, ArgumentsDelta) and a.index == b.index
    return isinstance(a, Text | Reasoning) and type(a) is type(b)


def _piece(event: Event) -> str:
    match event:
        case Text(text) | Reasoning(text):
            return text
        case ArgumentsDelta(_, fragment):
            return fragment
        case _:
            return ""


def _one(last: Event, run: list[str]) -> Event:
    match last:
        case Text():
            return Text("".join(run))
        case Reasoning():
            return Reasoning("".join(run))
        case ArgumentsDelta(index, _):
            return ArgumentsDelta(index, "".join(run))
        case _:
            return last
