"""Work ends when the client goes away, whichever way the server learns of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from server.errors import ClientGone
from server.gone import unless_gone
from server.http_protocol import ON_GONE


class Client:
    """A client seen through ASGI's ``receive``, or through the protocol's extension."""

    def __init__(self, *, told: bool) -> None:
        self.leaves = asyncio.Event()
        self.tell: Callable[[], None] | None = None
        self.scope: Any = {"extensions": {ON_GONE: self._watch}} if told else {}

    def _watch(self, tell: Callable[[], None] | None) -> None:
        self.tell = tell

    async def receive(self) -> Any:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    def leave(self) -> None:
        if self.tell is not None:
            self.tell()
        self.leaves.set()


@pytest.mark.parametrize("told", [True, False])
def test_the_work_is_cancelled(told: bool) -> None:
    async def main() -> None:
        client = Client(told=told)
        asyncio.get_running_loop().call_later(0.01, client.leave)
        ended = False

        async def work() -> None:
            nonlocal ended
            with unless_gone(client.scope, client.receive):
                try:
                    await asyncio.sleep(60)
                finally:
                    ended = True

        with pytest.raises(ClientGone):
            await work()
        assert ended
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0.01)

    asyncio.run(main())


@pytest.mark.parametrize("told", [True, False])
def test_what_is_done_is_done(told: bool) -> None:
    async def main() -> int:
        client = Client(told=told)
        with unless_gone(client.scope, client.receive):
            await asyncio.sleep(0)
            answer = 42
        assert client.tell is None
        client.leave()
        await asyncio.sleep(0.01)
        return answer

    assert asyncio.run(main()) == 42


def test_a_late_word_is_not_heard() -> None:
    async def main() -> None:
        client = Client(told=True)
        with unless_gone(client.scope, client.receive):
            tell = client.tell
        assert tell is not None
        tell()
        await asyncio.sleep(0)

    asyncio.run(main())


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("both", [True, False])
def test_another_s_cancelling_goes_before(told: bool, both: bool) -> None:
    async def main() -> None:
        client = Client(told=told)

        async def work() -> None:
            with unless_gone(client.scope, client.receive):
                await asyncio.sleep(60)

        task = asyncio.create_task(work())
        await asyncio.sleep(0.01)
        if both:
            client.leave()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_the_work_s_own_fault() -> None:
    async def main() -> None:
        client = Client(told=True)

        async def work() -> None:
            with unless_gone(client.scope, client.receive):
                try:
                    client.leave()
                    await asyncio.sleep(60)
                finally:
                    raise ValueError("its own")

        with pytest.raises(ValueError, match="its own"):
            await work()

    asyncio.run(main())
