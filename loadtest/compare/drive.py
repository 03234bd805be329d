"""One streamed request, and many at once; what came when."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from loadtest.compare.servers import Server


@dataclass(frozen=True, slots=True)
class Timing:
    """One answer: seconds from the request's start to the first delta and to the end; completion tokens; deltas."""

    first: float
    whole: float
    tokens: int
    deltas: int
    calls: int
    finish: str


@dataclass(frozen=True, slots=True)
class Burst:
    """Many answers: wall seconds, and seconds of processor time that the API process took."""

    seconds: float
    api_seconds: float
    passes: float
    answers: Sequence[Timing]

    @property
    def tokens(self) -> int:
        return sum(answer.tokens for answer in self.answers)

    @property
    def deltas(self) -> int:
        return sum(answer.deltas for answer in self.answers)


async def ask(client: httpx2.AsyncClient, server: Server, body: dict[str, Any]) -> Timing:
    """Raises RuntimeError for anything but a whole stream."""
    sent = body | {"model": server.model, "stream": True, "stream_options": {"include_usage": True}}
    started = time.perf_counter()
    first = 0.0
    tokens = deltas = calls = 0
    finish = ""
    async with client.stream("POST", f"{server.url}/v1/chat/completions", json=sent) as response:
        if response.status_code != 200:
            raise RuntimeError(f"{server.name}: {response.status_code} {(await response.aread())[:500]!r}")
        async for line in response.aiter_lines():
            if not line.startswith("data: ") or line == "data: [DONE]":
                continue
            chunk = json.loads(line[6:])
            if "error" in chunk:
                raise RuntimeError(f"{server.name}: {chunk['error']}")
            if chunk.get("usage"):
                tokens = chunk["usage"]["completion_tokens"]
            for choice in chunk["choices"]:
                delta = choice["delta"]
                found = delta.get("tool_calls") or ()
                if delta.get("content") or found:
                    first = first or time.perf_counter() - started
                    deltas += 1
                calls += sum(1 for call in found if call.get("id"))
                finish = choice.get("finish_reason") or finish
    if not finish:
        raise RuntimeError(f"{server.name}: a stream without an end")
    return Timing(first, time.perf_counter() - started, tokens, deltas, calls, finish)


async def _burst(server: Server, bodies: Sequence[dict[str, Any]], clients: int) -> Burst:
    passes, api, started = server.forward_passes(), server.api_seconds(), time.perf_counter()
    queue = list(reversed(bodies))
    answers: list[Timing] = []
    limits = httpx2.Limits(max_connections=clients)
    async with httpx2.AsyncClient(timeout=900, limits=limits) as client:

        async def work() -> None:
            while queue:
                answers.append(await ask(client, server, queue.pop()))

        await asyncio.gather(*(work() for _ in range(clients)))
    seconds = time.perf_counter() - started
    return Burst(seconds, server.api_seconds() - api, server.forward_passes() - passes, answers)


def burst(server: Server, bodies: Sequence[dict[str, Any]], clients: int) -> Burst:
    """Send all ``bodies``, ``clients`` at a time."""
    return asyncio.run(_burst(server, bodies, clients))
