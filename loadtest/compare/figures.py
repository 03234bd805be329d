"""What is measured and what is to be reached."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Bound = Literal["at most", "at least"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table. With a peer the goal is about ours / peer, else about our value itself; ``None``: none."""

    key: str
    text: str
    bound: Bound = "at most"
    goal: float | None = None
    paired: bool = True

    def held(self, value: float) -> bool | None:
        if self.goal is None:
            return None
        return value <= self.goal if self.bound == "at most" else value >= self.goal


FIGURES = (
    Figure("named_t0", "one client, forced call of `get_weather`, temperature 0: s", goal=0.25),
    Figure("named_t1", "one client, forced call of `get_weather`, temperature 1: s", goal=0.25),
    Figure("named_tokens_t0", "— completion tokens of these calls, temperature 0"),
    Figure("named_tokens_t1", "— completion tokens of these calls, temperature 1"),
    Figure("named_sampled_t0", "— those of them that were sampled, temperature 0"),
    Figure("required_s", "one client, `required` with the benchmark tools, temperature 0: s"),
    Figure("passes", "— forward passes per call (prefill and decoding)", goal=0.45),
    Figure("required_tokens", "— completion tokens per call"),
    Figure("first_seen", "— first delta, grammar seen before: s"),
    Figure("first_unseen", "first delta, grammar never seen, benchmark tools: s", goal=0.7),
    Figure("auto_text", "one client, `auto` with the benchmark tools, a text answer: ms per token", goal=1.0),
    Figure("calls_8_t0", "8 clients, forced calls of the small tools, temperature 0: calls/s", "at least", 1.8),
    Figure("calls_8_t1", "8 clients, forced calls of the small tools, temperature 1: calls/s", "at least", 1.8),
    Figure("calls_32_t0", "32 clients, forced calls of the small tools, temperature 0: calls/s", "at least", 1.3),
    Figure("calls_32_t1", "32 clients, forced calls of the small tools, temperature 1: calls/s", "at least", 1.3),
    Figure("plain_8", "8 clients, plain chat: tokens/s", "at least", 1.0),
    Figure("step_ms", "one client, plain chat: ms per token"),
    Figure("tiny_text_us", "tiny model, 32 clients, text: µs of the API process per token streamed", goal=0.6),
    Figure("tiny_text_deltas", "— deltas per token (below 1: joined, because the process was late)"),
    Figure("tiny_call_us", "tiny model, 32 clients, arguments: µs of the API process per token streamed", goal=0.6),
    Figure("tiny_plain_tokens", "tiny model, 32 clients, plain chat: tokens/s", "at least", 1.0),
    Figure("tiny_calls", "tiny model, 32 clients, calls of four choices: calls/s"),
    Figure("async_llm_us", "vLLM's AsyncLLM alone, no HTTP, 32 requests at once: µs per delta", paired=False),
    Figure(
        "tiny_text_beside_async_llm",
        "— text by a server, HTTP and all, over it, round by round",
        goal=1,
        paired=False,
    ),
    Figure("tiny_call_beside_async_llm", "— arguments by a server over it", goal=1, paired=False),
    Figure("mask_plain_p50", "mask of a row in free text, plain text, p50: µs", goal=5, paired=False),
    Figure("mask_plain_p99", "mask of a row in free text, plain text, p99: µs", goal=20, paired=False),
    Figure("mask_angles_p50", "mask of a row in free text, text full of `<`, p50: µs", goal=5, paired=False),
    Figure("mask_angles_p99", "mask of a row in free text, text full of `<`, p99: µs", goal=20, paired=False),
    Figure("mask_angles_p99_bare", "— the same by llguidance alone, text full of `<`, p99: µs", paired=False),
    Figure("compiles_seen", "grammars compiled while those seen before are asked for again", goal=0, paired=False),
    Figure("memory_mb", "API process over 20,000 requests, growth in the second half: MB", goal=5, paired=False),
    Figure("memory_children_mb", "— growth of the engine and the compile processes: MB", paired=False),
    Figure("limit_t0", "limit: sampled tokens × step time / measured time, forced call, temperature 0", paired=False),
)


@dataclass(slots=True)
class Samples:
    """Figure → server → one value per round."""

    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def add(self, key: str, server: str, value: float) -> None:
        self.values.setdefault(key, {}).setdefault(server, []).append(value)

    def of(self, key: str, server: str) -> list[float]:
        return self.values.get(key, {}).get(server, [])

    def median(self, key: str, server: str) -> float | None:
        found = self.of(key, server)
        return statistics.median(found) if found else None

    def ratios(self, key: str, ours: str, peer: str) -> list[float]:
        """Ours / peer, round by round."""
        return [a / b for a, b in zip(self.of(key, ours), self.of(key, peer), strict=False) if b]


def spread(values: Sequence[float]) -> str:
    """Median and range."""
    if not values:
        return "–"
    if len(values) == 1:
        return f"{values[0]:.3g}"
    return f"{statistics.median(values):.3g} ({min(values):.3g}–{max(values):.3g})"
