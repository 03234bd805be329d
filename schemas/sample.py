"""Random texts of a grammar: a seeded walk through the masks of a byte-level tokenizer.

Bytes are the finest tokens there are, so a walk can reach every text of the grammar; what it cannot leave is the
grammar, so a text that is no valid value is a fault of the grammar.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal, TypeAlias

import llguidance

from schemas.byte_vocabulary import EOS, byte_tokenizer
from schemas.engine import LIMITS, grammar_of

Style: TypeAlias = Literal["short", "wild", "sharp"]
"""``short`` ends soon and is readable; ``wild`` takes every byte alike; ``sharp`` looks for the corners of JSON: long
numbers, exponents, escapes, surrogates, repeated short keys."""

STYLES: tuple[Style, ...] = ("short", "wild", "sharp")

_Table: TypeAlias = Literal["short", "wild", "sharp", "prose", "closing", "quote"]

Ending: TypeAlias = Literal["done", "unfinished", "dead end", "error"]


@dataclass(frozen=True, slots=True)
class Walk:
    """Where one walk went. Only a ``done`` walk's ``text`` is a whole text of the grammar."""

    text: bytes
    ending: Ending
    error: str = ""


def matcher(grammar: str) -> llguidance.LLMatcher:
    """A byte-level matcher of ``CompiledSchema.grammar``, with the limits of the server's engine. Never raises: see
    ``LLMatcher.is_error``."""
    return llguidance.LLMatcher(byte_tokenizer(), grammar_of(grammar), log_level=0, limits=LIMITS)


@dataclass(frozen=True, slots=True)
class Hints:
    """Member names worth trying where a key begins: without them a walk hardly ever finds a long required name."""

    required: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()

    def draw(self, rng: random.Random, closing: bool) -> list[str]:
        """A few names in random order, required ones only when the walk is to end."""
        names = self.required if closing else self.declared
        return rng.sample(names, min(len(names), 24 if closing else 4))


def hints_of(schema: Any) -> Hints:
    """All names under any ``required`` and ``properties`` of a schema, sorted."""
    required: set[str] = set()
    declared: set[str] = set()
    stack = [schema]
    while stack:
        match stack.pop():
            case dict() as node:
                if isinstance(names := node.get("required"), list):
                    required.update(name for name in names if isinstance(name, str))
                if isinstance(names := node.get("properties"), dict):
                    declared.update(names)
                stack.extend(node.values())
            case list() as items:
                stack.extend(items)
    return Hints(tuple(sorted(required)), tuple(sorted(declared | required)))


def key_text(name: str) -> bytes:
    """The rest of a key after its opening quote."""
    return json.dumps(name, ensure_ascii=False)[1:].encode("utf-8", "surrogatepass")


def walk(
    start: llguidance.LLMatcher,
    rng: random.Random,
    style: Style = "short",
    budget: int = 150,
    hints: Hints = Hints(),
) -> Walk:
    """Walks a fresh byte-level matcher to an end. After ``budget`` bytes it closes whatever is open; after eight
    budgets it gives up (``unfinished``). The matcher is used up."""
    text = bytearray()
    while len(text) < 8 * budget:
        mask = start.compute_bitmask()
        if start.is_error():
            return Walk(bytes(text), "error", start.get_error())
        closing = len(text) > budget
        choices, weights = _choices(mask, "closing" if closing else style)
        if not choices:
            return Walk(bytes(text), "done" if start.is_accepting() else "dead end")
        if _at_key(text) and (closing or rng.random() < 0.7) and (name := _fitting(start, hints.draw(rng, closing))):
            start.consume_tokens(list(name))
            text += name
            continue
        token = rng.choices(choices, cum_weights=weights)[0]
        if token == EOS:
            return Walk(bytes(text), "done")
        if not start.consume_token(token):
            return Walk(bytes(text), "error", start.get_error())
        text.append(token)
    return Walk(bytes(text), "unfinished")


def _at_key(text: bytearray) -> bool:
    """Whether the last byte may be the opening quote of a key (or of a string in a list: no harm)."""
    return text[-1:] == b'"' and bytes(text[:-1]).rstrip(b" ")[-1:] in (b"{", b",")


def _fitting(matcher: llguidance.LLMatcher, names: Sequence[str]) -> bytes:
    for name in names:
        rest = key_text(name)
        if matcher.validate_tokens(list(rest)) == len(rest):
            return rest
    return b""


def sample(grammar: str, count: int, seed: int = 0, hints: Hints = Hints()) -> list[str]:
    """``count`` texts of ``CompiledSchema.grammar`` (fewer where walks do not end), different ones where it has them.

    Raises ValueError when llguidance cannot read the grammar.
    """
    origin = matcher(grammar)
    if origin.is_error():
        raise ValueError(origin.get_error())
    rng = random.Random(seed)
    found: dict[str, None] = {}
    for attempt in range(6 * count):
        taken = walk(origin.deep_copy(), rng, "short", budget=60 + 60 * (attempt % 3), hints=hints)
        if taken.ending == "done":
            found.setdefault(taken.text.decode("utf-8", "replace"))
        if len(found) == count:
            break
    return list(found)


@lru_cache(maxsize=4096)
def _choices(mask: bytes, style: _Table) -> tuple[list[int], list[float]]:
    """The tokens of a mask and their weights, added up from the left."""
    allowed = [8 * i + bit for i, byte in enumerate(mask) if byte for bit in range(8) if byte >> bit & 1]
    inside = len(allowed) > 60  # of a string: nowhere else are there so many choices
    table = _weights(_INSIDE.get(style, style) if inside else style)
    return allowed, list(itertools.accumulate(table[token] for token in allowed))


_INSIDE: dict[_Table, _Table] = {"short": "prose", "closing": "quote"}


@cache
def _weights(style: _Table) -> list[float]:
    """Weight of each token: only the ratios among the tokens allowed at a step matter."""
    table = [1.0] * 257
    match style:
        case "wild":
            table[EOS] = 8
            for byte in b'"}],':
                table[byte] = 6
        case "sharp":
            table[EOS] = 2
            for byte in range(0x80, 0x100):
                table[byte] = 0.2
            for byte in b"eE0123456789+-.":
                table[byte] = 3
            for byte in b"\\":
                table[byte] = 24
            for byte in b"uUdDcCfF":
                table[byte] = 12
            for byte in b'"':
                table[byte] = 40
        case "short":
            table = [0.05] * 257
            table[EOS] = 60
            for byte in range(0x80, 0x100):
                table[byte] = 1e-5
            for byte in range(0x61, 0x7B):
                table[byte] = 1
            for byte in b"0123456789":
                table[byte] = 0.6
            for byte in b"}],":
                table[byte] = 4
            table[ord('"')] = 12
        case "prose":
            table = [1e-4] * 257
            for byte in range(0x61, 0x7B):
                table[byte] = 1
            table[ord('"')] = 5
            table[ord(" ")] = 0.5
        case "quote":
            table = [1e-6] * 257
            table[ord('"')] = 1
        case "closing":
            # Ends first, then what leads to an end; an opening bracket only where nothing else is allowed.
            table = [1e-6] * 257
            table[EOS] = 1e9
            for byte in b"}]":
                table[byte] = 1e6
            table[ord('"')] = 1e4
            for byte in b":nft0123456789":
                table[byte] = 1.0
            for byte in b", ":
                table[byte] = 1e-3
            for byte in b"[{":
                table[byte] = 1e-9
            for byte in range(0x61, 0x7B):
                table[byte] = max(table[byte], 0.1)
    return table
