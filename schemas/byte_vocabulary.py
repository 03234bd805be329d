"""A vocabulary of single bytes, for what is said of texts without any model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import llguidance

EOS = 256
"""End of sequence; tokens 0 to 255 are the bytes."""


class _Bytes:
    """The vocabulary in the form that ``llguidance.TokenizerWrapper`` asks for."""

    eos_token_id = EOS
    bos_token_id = None
    tokens: Sequence[bytes] = [bytes([b]) for b in range(256)] + [b"<|end|>"]
    special_token_ids = (EOS,)

    def __call__(self, text: bytes | str) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


@cache
def byte_tokenizer() -> llguidance.LLTokenizer:
    """256 single bytes and an end-of-sequence token."""
    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes()), slices=[])
