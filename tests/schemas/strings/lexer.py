"""Runs a terminal in llguidance over a vocabulary of single bytes."""

from __future__ import annotations

import random

from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class _Bytes:
    eos_token_id = 0
    bos_token_id = None
    special_token_ids = (0,)
    tokens = (b"<end>", *(bytes([n]) for n in range(256)))

    def __call__(self, text: bytes | str) -> list[int]:
        return [byte + 1 for byte in (text if isinstance(text, bytes) else text.encode())]


TOKENIZER = LLTokenizer(TokenizerWrapper(_Bytes()))


def matcher(terminal: str) -> LLMatcher:
    found = LLMatcher(TOKENIZER, LLMatcher.grammar_from_lark(f"start: S\nS: {terminal}\n"), log_level=0)
    assert not found.is_error(), found.get_error()
    return found


def accepts(start: LLMatcher, text: str) -> bool:
    """Whether the whole of ``text`` is taken. ``start`` stays as it is."""
    walker = start.deep_copy()
    taken = walker.try_consume_tokens([byte + 1 for byte in text.encode()])
    return taken == len(text.encode()) and bool(walker.is_accepting())


def spelled(text: str, rng: random.Random) -> str:
    """A random JSON spelling of ``text`` among those that every string has."""
    return '"' + "".join(rng.choice(spellings(char)) for char in text) + '"'


def spellings(char: str) -> list[str]:
    found = [SHORT[char]] if char in SHORT else []
    if char >= " " and char not in '"\\':
        found.append(char)
    if not " " <= char <= "~":
        units = char.encode("utf-16-be")
        code = "".join(f"\\u{units[i] * 256 + units[i + 1]:04x}" for i in range(0, len(units), 2))
        found += [code, code.upper().replace("\\U", "\\u")]
    return found
