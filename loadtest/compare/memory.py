"""Does the API process grow? ``python -m loadtest.compare.memory --requests 20000``

Many short requests (chat, and calls of a tool that no other request has), 32 at a time, to Strictcall with the tiny
model; its API process's memory after every twentieth of them. Exit code 1 when it grew in the second half by more than
``--allowed`` MB.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from loadtest.compare.client import burst
from loadtest.compare.servers import OURS, Server, running, with_template
from loadtest.compare.tiny_model import make_tiny_model
from loadtest.compare.workload import choices_only, plain

CLIENTS = 32
PARTS = 20


def grow(server: Server, requests: int) -> list[tuple[int, float]]:
    """Requests sent so far and MB resident in the API process, from before the first to after the last."""
    found = [(0, server.api_memory() / 1e6)]
    size = max(1, requests // PARTS)
    for begin in range(0, requests, size):
        burst(server, [_body(n) for n in range(begin, min(requests, begin + size))], CLIENTS)
        found.append((min(requests, begin + size), server.api_memory() / 1e6))
        print(f"{found[-1][0]} requests: {found[-1][1]:.1f} MB", file=sys.stderr, flush=True)
    return found


def second_half(found: list[tuple[int, float]]) -> float:
    """By how many MB the highest of the last quarter stands above the highest up to the middle."""
    middle, late = len(found) // 2, len(found) - len(found) // 4
    return max(m for _, m in found[late - 1 :]) - max(m for _, m in found[: middle + 1])


def _body(number: int) -> dict[str, Any]:
    """Three in four are chat; the fourth calls a tool of a name of its own, so that every cache is filled and turned
    over."""
    if number % 4:
        return plain(number, 4)
    body = choices_only().forced(0, 0.0, named=True)
    name = f"choose_{number}"
    tool = body["tools"][0]["function"] | {"name": name}
    choice = {"type": "function", "function": {"name": name}}
    return body | {"tools": [{"type": "function", "function": tool}], "tool_choice": choice}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m loadtest.compare.memory", description=__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--allowed", type=float, default=10.0, help="MB of growth in the second half (default: 10)")
    parser.add_argument("--out", type=Path, help="where to write what was found, as JSON")
    given = parser.parse_args()
    from server.embedded import default_cache_dir, prepare

    with tempfile.TemporaryDirectory() as scratch:
        source = with_template(Path(prepare(default_cache_dir(), print)), Path(scratch) / "model")
        tiny = make_tiny_model(source, Path(scratch) / "tiny")
        started = time.monotonic()
        with running([OURS], tiny, Path(scratch), lambda text: print(text, file=sys.stderr, flush=True)) as servers:
            found = grow(servers[0], given.requests)
    grown = second_half(found)
    seconds = time.monotonic() - started
    print(
        f"{given.requests} requests in {seconds:.0f} s: {found[1][1]:.1f} MB after the first part of them, "
        f"{found[-1][1]:.1f} MB at the end; {grown:+.1f} MB in the second half"
    )
    if given.out is not None:
        given.out.write_text(json.dumps({"requests_and_mb": found, "second_half_mb": grown}), encoding="utf-8")
    return int(grown > given.allowed)


if __name__ == "__main__":
    sys.exit(main())
