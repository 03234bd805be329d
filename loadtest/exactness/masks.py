"""How long masks take, along texts, over SmolLM2's vocabulary, as the engine computes them: a pass of its own.

One process that has the machine to itself. Two of them would share a core's caches or even, as the processors of a
virtual machine often do, the core: then a mask takes half as long again, which says nothing of the grammar.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import TypeAlias

import llguidance

from loadtest.exactness.compilers import COMPILERS, CompilerName, Grammar
from loadtest.exactness.measure import Record
from loadtest.exactness.vocabulary import engine_vocabulary, smollm2
from loadtest.exactness.walks import mask_buffer
from schemas.engine import LIMITS
from schemas.resident import settle, warm_up_once

INSTANCES = 3
"""Texts of a schema along which masks are timed, at most."""
TOKENS = 1000
"""Tokens of one text along which masks are timed, at most."""

MasksItem: TypeAlias = tuple[Record, Sequence[bytes]]
"""A record and texts that its grammar takes."""
MasksJob: TypeAlias = tuple[Sequence[MasksItem], CompilerName]


@dataclass(slots=True)
class MaskTimes:
    """CPU times of the thread: from grammar to matcher, and of each mask along the texts, less what the clock takes."""

    id: str
    compiler: CompilerName
    matcher_us: float
    first_us: float = 0.0
    """The slowest first mask of a text; 0 without texts."""
    later_ns: array[int] = field(default_factory=lambda: array("q"))
    denied: list[tuple[bytes, str]] = field(default_factory=list)
    """Where a mask denies the next token of a text that the grammar takes: what was written until then, and why."""


@dataclass(frozen=True, slots=True)
class _Timed:
    """CPU nanoseconds of each mask along one text; ``denied`` as in `MaskTimes`."""

    nanoseconds: list[int]
    denied: tuple[bytes, str] | None


def timed_masks(job: MasksJob, stage: Callable[[str], None]) -> list[MaskTimes]:
    """The work of the one process, for one schema after the other."""
    items, name = job
    warm_up_once()
    vocabulary = engine_vocabulary() if name == "strictcall" else smollm2()
    stage("masks, timed")  # once: every message wakes another process
    taken = []
    for record, texts in items:
        settle()
        grammar = COMPILERS[name](record["schema"])
        if isinstance(grammar, Grammar):
            settle()
            taken.append(mask_times(record["id"], name, texts[:INSTANCES], grammar.source, vocabulary))
    return taken


def mask_times(
    id: str,
    compiler: CompilerName,
    texts: Sequence[bytes],
    source: str,
    vocabulary: llguidance.LLTokenizer,
) -> MaskTimes:
    """The masks along texts that the grammar takes.

    As in the engine, the grammar becomes a matcher once, and each text has a copy, so a later text finds the lexer's
    states of the earlier ones. All is done twice, from a new matcher, and the smaller times count: what the machine
    does besides (a page fault, another machine on the same processor) only adds.
    """
    matcher_us, first = _pass(texts, source, vocabulary)
    again_us, second = _pass(texts, source, vocabulary)
    times = MaskTimes(id, compiler, min(matcher_us, again_us))
    for one, other in zip(first, second, strict=True):
        if one.denied is not None:
            times.denied.append(one.denied)
        smaller = [min(pair) for pair in zip(one.nanoseconds, other.nanoseconds, strict=True)]
        if smaller:
            times.first_us = max(times.first_us, smaller[0] / 1000)
            times.later_ns.extend(smaller[1:])
    return times


@cache
def _clock_ns() -> int:
    """What reading the clock adds to a time. It asks the kernel, which takes as long as a tenth of a mask."""
    readings = [time.thread_time_ns() for _ in range(1000)]
    return min(later - earlier for earlier, later in pairwise(readings))


def _pass(texts: Sequence[bytes], source: str, vocabulary: llguidance.LLTokenizer) -> tuple[float, list[_Timed]]:
    """Microseconds that the matcher took, and the masks of each text."""
    started = time.thread_time_ns()
    origin = llguidance.LLMatcher(vocabulary, source, log_level=0, limits=LIMITS)
    matcher_us = (time.thread_time_ns() - started) / 1000
    return matcher_us, [_along(text, origin.deep_copy(), vocabulary) for text in texts]


def _along(text: bytes, matcher: llguidance.LLMatcher, vocabulary: llguidance.LLTokenizer) -> _Timed:
    buffer = mask_buffer(vocabulary)
    address, size = buffer.ctypes.data, buffer.size
    clock = _clock_ns()
    times: list[int] = []
    tokens = vocabulary.tokenize_bytes(text)
    done = 0
    while done < len(tokens) and len(times) < TOKENS:
        token = tokens[done]
        started = time.thread_time_ns()
        matcher.unsafe_compute_mask_ptr(address, size)
        times.append(max(0, time.thread_time_ns() - started - clock))
        allowed = buffer[token >> 3] >> (token & 7) & 1
        if not allowed and (forced := matcher.compute_ff_tokens()):
            # Where the next bytes are forced, llguidance allows one tokenisation of them alone.
            rest = vocabulary.decode_bytes(tokens[done:])
            ahead = vocabulary.decode_bytes(forced)
            if rest.startswith(ahead):
                tokens[done:] = [*forced, *vocabulary.tokenize_bytes(rest[len(ahead) :])]
                token, allowed = tokens[done], True
        if not allowed or not matcher.consume_token(token):
            return _Timed(times, (vocabulary.decode_bytes(tokens[:done]), matcher.get_error() or f"at token {token}"))
        done += 1
    return _Timed(times, None)
