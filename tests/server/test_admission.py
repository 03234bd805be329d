"""The queue: in order, bounded, and no place is ever lost."""

from __future__ import annotations

import asyncio
import random

import pytest

from server.admission import Admission
from server.errors import ApiError
from server.metrics import Metrics


@pytest.mark.anyio
async def test_first_come_first_served() -> None:
    admission = Admission(Metrics(), max_running=1, max_queued=3)
    leave = await admission.enter()
    order: list[int] = []

    async def request(n: int) -> None:
        done = await admission.enter()
        order.append(n)
        done()

    tasks = [asyncio.create_task(request(n)) for n in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(ApiError) as full:
        await admission.enter()
    assert full.value.status == 429
    leave()
    leave()  # twice does no harm
    await asyncio.gather(*tasks)
    assert order == [0, 1, 2]


@pytest.mark.anyio
@pytest.mark.parametrize("seed", range(20))
async def test_places_are_never_lost_or_made(seed: int) -> None:
    """Random arrivals, departures and cancellations, the turn's own moment included."""
    dice = random.Random(seed)
    metrics = Metrics()
    admission = Admission(metrics, max_running=3, max_queued=50)
    running = 0

    async def request() -> None:
        nonlocal running
        leave = await admission.enter()
        running += 1
        assert running <= 3
        try:
            for _ in range(dice.randrange(4)):
                await asyncio.sleep(0)
        finally:
            running -= 1
            leave()

    tasks = []
    for _ in range(50):
        tasks.append(asyncio.create_task(request()))
        if dice.random() < 0.5:
            await asyncio.sleep(0)
        if dice.random() < 0.4:
            dice.choice(tasks).cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert metrics.registry.get_sample_value("strictcall_requests_running") == 0
    assert metrics.registry.get_sample_value("strictcall_requests_queued") == 0
    leaves = [await asyncio.wait_for(admission.enter(), 1) for _ in range(3)]
    waiting = asyncio.create_task(admission.enter())
    await asyncio.sleep(0)
    assert not waiting.done()
    leaves[0]()
    (await asyncio.wait_for(waiting, 1))()


@pytest.mark.anyio
async def test_at_once_or_not() -> None:
    metrics = Metrics()
    admission = Admission(metrics, max_running=1, max_queued=1)
    leave = admission.enter_at_once()
    assert leave is not None
    assert admission.enter_at_once() is None
    waiting = asyncio.create_task(admission.enter())
    await asyncio.sleep(0)
    leave()
    assert admission.enter_at_once() is None  # the place is the waiting one's
    (await waiting)()
    assert admission.enter_at_once() is not None
    assert metrics.registry.get_sample_value("strictcall_requests_running") == 1
