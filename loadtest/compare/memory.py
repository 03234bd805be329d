"""Does the API process grow? ``python -m loadtest.compare.memory``

20,000 short requests of many kinds (streamed and whole, plain chat and calls, 250 tools in turn, clients that leave in
mid-answer), 32 at a time, to Strictcall with a model of one small layer; the resident memory of its API
process and of the engine's before the first and after each twentieth. Exit code 1 when the API process grew in the
second half by more than ``--allowed`` MB.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadtest.compare.servers import OURS, Server, running, with_template
from loadtest.compare.tiny_model import make_tiny_model
from loadtest.compare.workload import choices_only, plain

REQUESTS, CLIENTS, PARTS = 20_000, 32, 20
#: Tools of different schemas. Compiled ones are kept up to a number of bytes: what is looked for here is what stays
#: beside that, so all have been asked for when the first tenth is over.
TOOLS = 250


@dataclass(frozen=True, slots=True)
class Sample:
    """After ``requests`` requests: MB resident in the API process, and in its children, the engine foremost."""

    requests: int
    api: float
    engine: float


def micro_model(source: Path, folder: Path) -> Path:
    """A model that costs less still than the tiny one: the server is to be kept busy, and nothing is timed."""
    return make_tiny_model(source, folder, hidden=128, layers=1)


def grow(server: Server, requests: int, report: Callable[[str], None]) -> list[Sample]:
    """From before the first request to after the last. Raises RuntimeError for an answer that is none."""
    found = [_sample(server, 0)]
    size = max(1, requests // PARTS)
    for begin in range(0, requests, size):
        end = min(requests, begin + size)
        asyncio.run(_all(server, range(begin, end)))
        found.append(_sample(server, end))
        report(f"{end} requests: API process {found[-1].api:.1f} MB, engine {found[-1].engine:.1f} MB")
    return found


def second_half(values: Sequence[float]) -> float:
    """By how many MB the highest of the last quarter stands above the highest up to the middle."""
    middle, late = len(values) // 2, len(values) - len(values) // 4
    return max(values[late - 1 :]) - max(values[: middle + 1])


def _sample(server: Server, requests: int) -> Sample:
    return Sample(requests, server.api_memory() / 1e6, server.children_memory() / 1e6)


async def _all(server: Server, numbers: range) -> None:
    left = iter(numbers)

    async def work() -> None:
        for number in left:
            await _ask(server, number)

    await asyncio.gather(*(work() for _ in range(CLIENTS)))


async def _ask(server: Server, number: int) -> None:
    """Each eighth goes away when its answer has begun; the others must get a whole one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        writer.write(server.request(_body(number), "close"))
        if number % 8 == 7:
            await reader.readuntil(b"data: {")
            return
        answer = await asyncio.wait_for(reader.read(), 300)
        if not answer.startswith(b"HTTP/1.1 200") or b'"finish_reason":"' not in answer or b'"error"' in answer:
            raise RuntimeError(f"{server.name}: no whole answer: {answer[:2000].decode(errors='replace')}")
    finally:
        writer.close()


def _body(number: int) -> dict[str, Any]:
    tools = choices_only()
    match number % 8:
        case 0:
            return _renamed(tools.forced(0, 0.0, named=True), number // 8 % TOOLS)
        case 1:
            return tools.forced(0, 1.0, named=True) | _WHOLE
        case 2:
            return tools.text_beside(number, 4)
        case 3:
            return plain(number, 4) | {"logprobs": True, "n": 2, "stop": ["nothing of the kind"]}
        case 4 | 5:
            return plain(number, 4) | _WHOLE
        case 7:
            return plain(number, 64)
        case _:
            return plain(number, 4)


_WHOLE = {"stream": False, "stream_options": None}


def _renamed(body: dict[str, Any], number: int) -> dict[str, Any]:
    """The call of a tool with this number in its name and in its schema."""
    name = f"choose_{number}"
    function = body["tools"][0]["function"]
    parameters = function["parameters"] | {"description": f"Number {number}."}
    tool = {"type": "function", "function": function | {"name": name, "parameters": parameters}}
    return body | {"tools": [tool], "tool_choice": {"type": "function", "function": {"name": name}}}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m loadtest.compare.memory", description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--allowed", type=float, default=5.0, help="MB of growth in the second half (default: 5)")
    parser.add_argument("--out", type=Path, help="where to write what was found, as JSON")
    given = parser.parse_args()
    from server.embedded import default_cache_dir, prepare

    def report(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        source = with_template(Path(prepare(default_cache_dir(), print)), Path(scratch) / "model")
        model = micro_model(source, Path(scratch) / "micro")
        with running([OURS], model, Path(scratch), report) as servers:
            started = time.monotonic()
            found = grow(servers[0], given.requests, report)
    grown, engine = second_half([s.api for s in found]), second_half([s.engine for s in found])
    print(
        f"{given.requests} requests in {time.monotonic() - started:.0f} s: API process {found[1].api:.1f} MB after the "
        f"first part of them, {found[-1].api:.1f} MB at the end, {grown:+.1f} MB in the second half; "
        f"its children (engine, compile processes) {found[1].engine:.1f}, {found[-1].engine:.1f}, {engine:+.1f} MB"
    )
    if given.out is not None:
        rows = [[s.requests, s.api, s.engine] for s in found]
        whole = {"requests_api_mb_children_mb": rows, "second_half_mb": grown, "second_half_children_mb": engine}
        given.out.write_text(json.dumps(whole), encoding="utf-8")
    return int(grown > given.allowed)


if __name__ == "__main__":
    sys.exit(main())
