"""Messages arrive whole, in order, and the task that waits for them wakes up for each."""

from __future__ import annotations

import asyncio
import gc
import random

import pytest
import uvloop
import zmq
import zmq.asyncio

from decoding.engine.output_socket import OutputSocket


@pytest.mark.parametrize("seed", range(3))
def test_messages_arrive_whole_and_in_order(seed: int) -> None:
    rng = random.Random(seed)
    bursts = [rng.choice([1, 1, 2, 7, 150]) for _ in range(60)]

    async def run() -> None:
        context = zmq.asyncio.Context()
        sender = zmq.Context()
        push = sender.socket(zmq.PUSH)
        # Nobody but the new socket keeps the old one.
        pull = OutputSocket(_bound(context))
        gc.collect()
        push.connect(pull.getsockopt(zmq.LAST_ENDPOINT).decode())
        found: list[bytes] = []

        async def read() -> None:
            while len(found) < sum(bursts):
                frames = await pull.recv_multipart(copy=False)
                assert bytes(frames[1]) == b"x" * int(bytes(frames[0])) ** 2
                found.append(bytes(frames[0]))

        reading = asyncio.create_task(read())
        number = 0
        for size in bursts:
            for _ in range(size):
                push.send_multipart([b"%d" % number, b"x" * number**2] if number < 300 else [b"0", b""])
                number += 1
            await asyncio.sleep(rng.choice([0, 0, 0.002]))
        await asyncio.wait_for(reading, 30)
        assert found == [b"%d" % n if n < 300 else b"0" for n in range(number)]
        waiting = asyncio.create_task(pull.recv_multipart(copy=False))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        waiting.cancel()
        pull.close(0)
        push.close(0)
        sender.term()
        context.term()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


def _bound(context: zmq.asyncio.Context) -> zmq.asyncio.Socket:
    socket = context.socket(zmq.PULL)
    socket.bind_to_random_port("tcp://127.0.0.1")
    return socket
