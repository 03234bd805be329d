"""Are the masks of a step better computed one by one, or in one call of llguidance's own threads?

``python -m loadtest.compare.batched_masks``: 32 rows, of one grammar and of 32, in cheap places (inside calls, taken at
random) and in costly ones (free text full of ``<``, without the engine's table of known masks). Each step is computed
both ways, from copies of the same matchers, in random order.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import llguidance
import numpy as np

from loadtest.compare.masks import ANGLES, backend_of
from loadtest.compare.workload import Tools, benchmark

ROWS, STEPS = 32, 100
#: Step, matcher and its mask: goes on to the next step.
Advance = Callable[[int, llguidance.LLMatcher, Any], None]
Fill = Callable[[Sequence[llguidance.LLMatcher], Any], None]


def one_by_one(matchers: Sequence[llguidance.LLMatcher], bitmask: Any) -> None:
    size, address = bitmask.shape[1] * 4, bitmask.data_ptr()
    for row, matcher in enumerate(matchers):
        matcher.unsafe_compute_mask_ptr(address + row * size, size)


def in_one_call(executor: llguidance.LLExecutor) -> Fill:
    def fill(matchers: Sequence[llguidance.LLMatcher], bitmask: Any) -> None:
        rows, words = bitmask.shape
        pairs = [(matcher, row) for row, matcher in enumerate(matchers)]
        executor.unsafe_compute_mask_ptr(pairs, bitmask.data_ptr(), words * 4, rows)

    return fill


def compare(
    matchers: Sequence[llguidance.LLMatcher],
    ways: dict[str, Fill],
    bitmask: Any,
    advance: Advance,
) -> dict[str, list[tuple[float, float]]]:
    """By way, of each step: µs by the clock and µs of CPU time. Raises RuntimeError where two ways differ."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    shuffle = random.Random(0)
    for step in range(STEPS):
        masks = []
        for name in shuffle.sample(list(ways), len(ways)):
            copies = [matcher.deep_copy() for matcher in matchers]
            clock, cpu = time.perf_counter(), time.process_time()
            ways[name](copies, bitmask)
            found[name].append(((time.perf_counter() - clock) * 1e6, (time.process_time() - cpu) * 1e6))
            masks.append(bitmask.clone())
        if any(not mask.equal(masks[0]) for mask in masks):
            raise RuntimeError("the masks differ")
        for row, matcher in enumerate(matchers):
            advance(step, matcher, masks[0][row])
    return found


def _at_random(choose: random.Random) -> Advance:
    def advance(_: int, matcher: llguidance.LLMatcher, mask: Any) -> None:
        if matcher.is_stopped():
            matcher.reset()
            return
        allowed = np.nonzero(np.unpackbits(mask.numpy().view(np.uint8), bitorder="little"))[0]
        matcher.consume_tokens(matcher.compute_ff_tokens() or [int(choose.choice(allowed[:2000]))])

    return advance


def _along(text: Sequence[int]) -> Advance:
    def advance(step: int, matcher: llguidance.LLMatcher, _: Any) -> None:
        matcher.consume_token(text[step])

    return advance


def _renamed(tools: Tools, number: int) -> Tools:
    return [t | {"function": t["function"] | {"name": f"{t['function']['name']}_{number}"}} for t in tools]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m loadtest.compare.batched_masks", description=__doc__)
    parser.add_argument("--model", type=Path, help="model folder (default: the embedded model)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="llguidance's (default: 1 and 2)")
    given = parser.parse_args()
    from transformers import AutoTokenizer
    from vllm.v1.structured_output.backend_types import StructuredOutputOptions

    from decoding import tool_grammar
    from server.embedded import default_cache_dir, prepare

    tokenizer = AutoTokenizer.from_pretrained(given.model or prepare(default_cache_dir(), print))
    backend = backend_of(tokenizer)
    bitmask: Any = backend.allocate_token_bitmask(ROWS)
    text = (tokenizer.encode(ANGLES, add_special_tokens=False) * STEPS)[:STEPS]
    ways: dict[str, Fill] = {"one by one": one_by_one}
    ways |= {f"{n} thread(s)": in_one_call(llguidance.LLExecutor(num_threads=n)) for n in given.threads}
    tools = benchmark().tools[:10]
    for place, choice in (("cheap", "required"), ("costly", "auto")):
        for kinds in (1, ROWS):
            grammars = [tool_grammar(_renamed(tools, n % kinds), choice, True, "hermes") for n in range(ROWS)]
            matchers = [
                backend.compile_grammar(StructuredOutputOptions.GRAMMAR, g.cfg.definition).matcher for g in grammars
            ]
            advance = _at_random(random.Random(1)) if place == "cheap" else _along(text)
            for name, times in compare(matchers, ways, bitmask, advance).items():
                clock, cpu = ([time[n] for time in times] for n in (0, 1))
                print(
                    f"{place} places, {kinds:2d} grammar(s), {name:12s}: {statistics.median(clock):6.0f} µs a step "
                    f"(mean {statistics.mean(clock):6.0f}), "
                    f"CPU {statistics.median(cpu):6.0f} (mean {statistics.mean(cpu):6.0f})"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
