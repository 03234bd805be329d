"""Random walks through the masks of a real vocabulary, beside the byte walks of ``schemas.sample``."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache, lru_cache

import llguidance
import numpy as np
from numpy.typing import NDArray

from schemas.sample import Hints, Walk, key_text

# Tried in this order once a walk is over its budget.
_CLOSERS = ("]", "}", "}}", "]}", '"', '"}', '"]', '":', ":", "1", "null", "true", "a", ",")
_QUOTES = 4
"""Where those that end a string begin."""


def mask_buffer(tokenizer: llguidance.LLTokenizer) -> NDArray[np.uint8]:
    """Room for one mask: a bit a token, rounded up to 32."""
    return np.zeros((tokenizer.vocab_size + 31) // 32 * 4, dtype=np.uint8)


@cache
def _closers(tokenizer: llguidance.LLTokenizer) -> list[int]:
    return [tokenizer.tokenize_str(text)[0] for text in _CLOSERS]


def vocabulary_walk(
    start: llguidance.LLMatcher,
    tokenizer: llguidance.LLTokenizer,
    rng: random.Random,
    budget: int = 60,
    hints: Hints = Hints(),  # noqa: B008  frozen
) -> Walk:
    """Walks a fresh matcher over ``tokenizer``: every allowed token alike, but the end with one chance in five where it
    is allowed, and what closes brackets after ``budget`` tokens. The matcher is used up."""
    closers = _closers(tokenizer)
    buffer = mask_buffer(tokenizer)
    tokens: list[int] = []
    eos = tokenizer.eos_token
    while len(tokens) < 6 * budget:
        start.unsafe_compute_mask_ptr(buffer.ctypes.data, buffer.size)
        if start.is_error():
            return Walk(tokenizer.decode_bytes(tokens), "error", start.get_error())
        closing = len(tokens) > budget
        if tokens and _opens_key(tokenizer, tokens[-1]) and (closing or rng.random() < 0.7):
            name = _fitting(start, tokenizer, hints.draw(rng, closing))
            start.consume_tokens(name)
            tokens += name
            if name:
                continue
        token = _choose(buffer, tokenizer.vocab_size, eos, closers if closing else [], rng)
        if token is None:
            return Walk(tokenizer.decode_bytes(tokens), "done" if start.is_accepting() else "dead end")
        if token == eos:
            return Walk(tokenizer.decode_bytes(tokens), "done")
        if not start.consume_token(token):
            return Walk(tokenizer.decode_bytes([*tokens, token]), "error", start.get_error())
        tokens.append(token)
    return Walk(tokenizer.decode_bytes(tokens), "unfinished")


@lru_cache(maxsize=65536)
def _opens_key(tokenizer: llguidance.LLTokenizer, token: int) -> bool:
    text: bytes = tokenizer.decode_bytes([token])
    return text.endswith((b'{"', b',"', b', "', b' "')) or text == b'"'


def _fitting(start: llguidance.LLMatcher, tokenizer: llguidance.LLTokenizer, names: Sequence[str]) -> list[int]:
    for name in names:
        tokens: list[int] = tokenizer.tokenize_bytes(key_text(name))
        if start.validate_tokens(tokens) == len(tokens):
            return tokens
    return []


def _choose(buffer: NDArray[np.uint8], vocab_size: int, eos: int, closers: list[int], rng: random.Random) -> int | None:
    if _bit(buffer, eos) and (closers or rng.random() < 0.2):
        return eos
    # A quarter of the mask's bytes in use is the inside of a string, where a bracket closes nothing.
    inside = np.count_nonzero(buffer) > buffer.size // 4
    if closers and rng.random() < 0.9:
        for token in closers[_QUOTES:] if inside else closers:
            if _bit(buffer, token):
                return token
    if inside:
        for _ in range(64):
            if _bit(buffer, token := rng.randrange(vocab_size)):
                return token
    allowed = np.flatnonzero(np.unpackbits(buffer, bitorder="little")[:vocab_size])
    return int(allowed[rng.randrange(allowed.size)]) if allowed.size else None


def _bit(buffer: NDArray[np.uint8], token: int) -> bool:
    return bool(buffer[token >> 3] >> (token & 7) & 1)
