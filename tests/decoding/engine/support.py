"""A small vocabulary for tests that need a tokenizer and no model."""

from __future__ import annotations

from functools import cache

import llguidance


class ByteTokenizer:
    """256 bytes, some words, an end-of-sequence token."""

    eos_token_id = 256
    bos_token_id = None
    special_token_ids = (256,)
    words = (b"hello", b" world", b"<tool", b"_call>", b"<tool_call>", b"\n", b"```", b"```tool", b"\n```", b"tool\n")

    def __init__(self) -> None:
        self.tokens = [bytes([n]) for n in range(256)] + [b"<|end|>", *self.words]

    def __call__(self, text: bytes | str) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


@cache
def tokenizer() -> llguidance.LLTokenizer:
    wrapper = llguidance.TokenizerWrapper(ByteTokenizer())
    return llguidance.LLTokenizer(wrapper, n_vocab=len(ByteTokenizer().tokens))
