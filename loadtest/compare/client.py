"""Streamed chat completions over bare sockets: the client must cost little, it shares the cores with the servers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from loadtest.compare.servers import Server

#: Seconds of silence after which a server counts as hanging.
SILENCE = 300.0


@dataclass(frozen=True, slots=True)
class Answer:
    """Seconds from the request's start to the first delta and to the end; completion tokens; deltas with something in
    them; what was written (content, and calls as name and arguments)."""

    first: float
    whole: float
    tokens: int
    deltas: int
    calls: int
    finish: str
    text: str


@dataclass(frozen=True, slots=True)
class Burst:
    """Many answers. ``seconds`` of wall time, ``api_seconds`` of processor time in the process that speaks HTTP,
    ``passes`` of the model."""

    seconds: float
    api_seconds: float
    passes: float
    answers: Sequence[Answer]

    @property
    def tokens(self) -> int:
        return sum(answer.tokens for answer in self.answers)

    @property
    def deltas(self) -> int:
        return sum(answer.deltas for answer in self.answers)


def burst(server: Server, bodies: Sequence[dict[str, Any]], clients: int) -> Burst:
    """Send all ``bodies``, ``clients`` at a time. Raises RuntimeError for anything but whole answers."""
    return asyncio.run(_burst(server, bodies, clients))


async def _burst(server: Server, bodies: Sequence[dict[str, Any]], clients: int) -> Burst:
    queue = [server.request(body) for body in reversed(bodies)]
    answers: list[Answer] = []

    async def work() -> None:
        # One connection for all requests of a client, as SDKs keep theirs.
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        try:
            while queue:
                writer.write(queue.pop())
                answers.append(await _answer(server, reader))
        finally:
            writer.close()

    passes, api, started = server.forward_passes(), server.api_seconds(), time.perf_counter()
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(clients, len(bodies))):
                group.create_task(work())
    except ExceptionGroup as faults:  # what ``except*`` raises is a group again before Python 3.11.4
        fault = faults.exceptions[0]
        if isinstance(fault, OSError | EOFError):
            raise RuntimeError(f"{server.name}: the connection broke: {fault!r}") from None
        raise fault from None
    seconds = time.perf_counter() - started
    return Burst(seconds, server.api_seconds() - api, server.forward_passes() - passes, answers)


async def _answer(server: Server, reader: asyncio.StreamReader) -> Answer:
    started = time.perf_counter()
    first = 0.0
    tokens = deltas = calls = 0
    finish = ""
    text: list[str] = []
    async for frame in _frames(server, reader):
        chunk = orjson.loads(frame)
        if "error" in chunk:
            raise RuntimeError(f"{server.name}: {chunk['error']}")
        if chunk.get("usage"):
            tokens = chunk["usage"]["completion_tokens"]
        for choice in chunk["choices"]:
            delta = choice["delta"]
            found = delta.get("tool_calls") or ()
            if content := delta.get("content"):
                text.append(content)
            for call in found:
                calls += bool(call.get("id"))
                text += [call["function"].get("name") or "", call["function"].get("arguments") or ""]
            if content or found:
                first = first or time.perf_counter() - started
                deltas += 1
            finish = choice.get("finish_reason") or finish
    if not finish:
        raise RuntimeError(f"{server.name}: a stream without an end")
    return Answer(first, time.perf_counter() - started, tokens, deltas, calls, finish, "".join(text))


async def _frames(server: Server, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The payloads of one chunked answer. Raises RuntimeError for another status, and after ``SILENCE`` seconds."""
    try:
        async with asyncio.timeout(SILENCE):
            head = await reader.readuntil(b"\r\n\r\n")
    except TimeoutError:
        raise RuntimeError(f"{server.name}: no answer within {SILENCE:.0f} s") from None
    if not head.startswith(b"HTTP/1.1 200"):
        rest = await asyncio.wait_for(reader.read(2000), 5)
        raise RuntimeError(f"{server.name}: {head.splitlines()[0].decode()}: {rest.decode(errors='replace')}")
    buffer = b""
    while True:
        try:
            async with asyncio.timeout(SILENCE):
                size = int(await reader.readline(), 16)
                data = (await reader.readexactly(size + 2))[:-2]
        except TimeoutError:
            raise RuntimeError(f"{server.name}: a stream was silent for {SILENCE:.0f} s") from None
        if not size:
            return
        *frames, buffer = (buffer + data).split(b"\n\n")
        for frame in frames:
            if frame.startswith(b"data: {"):
                yield frame[6:]
