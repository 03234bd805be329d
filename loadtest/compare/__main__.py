"""``python -m loadtest.compare``: alternating rounds against both servers; JSON, Markdown and a picture."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from loadtest.compare import report, workload
from loadtest.compare.drive import Burst, burst
from loadtest.compare.servers import COMMANDS, Server, running, with_template
from loadtest.tools import BUILT_IN


def measure(server: Server, tools: list[dict[str, Any]], number: int, *, quick: bool) -> dict[str, float]:
    """One round against one server: figure → value. ``number`` keeps the questions of rounds apart."""
    few, tokens = (2, 24) if quick else (6, 96)
    found: dict[str, float] = {}

    def calls(count: int, clients: int, temperature: float) -> Burst:
        bodies = [workload.forced_call(tools, number * 100 + n, temperature) for n in range(count)]
        return burst(server, bodies, clients)

    calls(1, 1, 0.0)  # the prompt's prefix and the grammar are warm from here on, for both
    for temperature in (0, 1):
        alone = calls(few, 1, float(temperature))
        found[f"one_call_t{temperature}"] = statistics.median(a.whole for a in alone.answers)
        if temperature == 0:
            found["passes"] = alone.passes / len(alone.answers)
    text = burst(server, [workload.text_beside_tools(tools, number * 100 + n, tokens) for n in range(few)], 1)
    found["auto_text"] = 1000 * statistics.median((a.whole - a.first) / max(1, a.tokens - 1) for a in text.answers)
    found["first_unseen"] = burst(server, [workload.unseen(tools, number)], 1).answers[0].first
    chat = burst(server, [workload.plain(number * 100 + n, tokens) for n in range(8 if quick else 24)], 8)
    found["plain_8"] = chat.tokens / chat.seconds
    for clients in (8,) if quick else (8, 32):
        for temperature in (0, 1):
            many = calls(clients if quick else 2 * clients, clients, float(temperature))
            found[f"calls_{clients}_t{temperature}"] = len(many.answers) / many.seconds
            if clients == 32 and temperature == 0:
                found["api_us"] = 1e6 * many.api_seconds / max(1, many.deltas)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m loadtest.compare", description=__doc__)
    parser.add_argument("--model", type=Path, help="model folder (default: the embedded model)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one round, few requests: does it run at all")
    parser.add_argument("--without-off", action="store_true", help="leave out our server without jump-forward")
    parser.add_argument("--built-in-tools", action="store_true", help="offer a few small tools, not the benchmark's")
    parser.add_argument("--out", type=Path, default=Path("build/compare"))
    arguments = parser.parse_args()
    tools, described = workload.benchmark_tools()
    if arguments.built_in_tools:
        tools, described = [tool.wire() for tool in BUILT_IN], "the built-in tools"
    servers = [name for name in COMMANDS if not (arguments.without_off and "off" in name)]
    rounds = 1 if arguments.quick else arguments.rounds
    samples: report.Samples = defaultdict(lambda: defaultdict(list))
    notes = [
        f"{rounds} round(s), servers in turn on one machine: {os.cpu_count()} cores, {platform.machine()}, "
        f"load at the start {os.getloadavg()[0]:.1f}",
        f"offered: {described}",
        "each cell: median (range) over the rounds; the ratio is the median of the rounds' ratios",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        model = with_template(arguments.model or _embedded(), Path(scratch) / "model")
        for number in range(rounds):
            for name in servers if number % 2 == 0 else reversed(servers):
                print(f"round {number + 1}: {name}", file=sys.stderr, flush=True)
                with running(name, model, Path(scratch) / "server.log") as server:
                    for key, value in measure(server, tools, number, quick=arguments.quick).items():
                        samples[key][name].append(value)
                        print(f"  {key} {value:.4g}", file=sys.stderr, flush=True)
            report.save(arguments.out, samples, servers, notes)
    print(report.markdown(samples, servers, notes))
    return 0


def _embedded() -> Path:
    from server.embedded import default_cache_dir, prepare

    return Path(prepare(default_cache_dir(), lambda text: print(text, file=sys.stderr)))


if __name__ == "__main__":
    sys.exit(main())
