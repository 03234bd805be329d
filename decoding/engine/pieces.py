"""The text of one token after the other, without a detokenizer for tokens whose text is their own.

Where a token is a sequence of bytes (byte-level BPE), a token of whole characters has the same text wherever it stands
between whole characters. Only tokens that hold a part of one, and special tokens, go through vLLM's detokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence

import tokenizers
from tokenizers import decoders
from vllm.v1.engine.detokenizer import FastIncrementalDetokenizer


class Pieces(dict[int, str | None]):
    """Token → its text, read from ``tokenizer`` when first asked for; ``None`` where that depends on what stands beside
    it. All are ``None`` for a tokenizer that is no byte-level one."""

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer
        self._added = frozenset(tokenizer.get_added_tokens_decoder())
        self._bytes = type(tokenizer.decoder) is decoders.ByteLevel

    def __missing__(self, token: int) -> str | None:
        text = None
        if self._bytes and token not in self._added:
            text = self._tokenizer.decode([token], skip_special_tokens=False)
        # The character that stands for bytes which are none.
        self[token] = text = None if not text or "\ufffd" in text else text
        return text


class TokenReader:
    """One answer's detokenizer: the same text as ``detokenizer`` gives, token by token."""

    __slots__ = ("_pieces", "_step", "_whole")

    def __init__(
        self, pieces: Pieces, detokenizer: FastIncrementalDetokenizer, prompt_token_ids: Sequence[int]
    ) -> None:
        self._pieces = pieces
        self._step = detokenizer.decode_next
        self._whole = bool(prompt_token_ids) and pieces[prompt_token_ids[-1]] is not None
        """What came last ends with a whole character, all of which has been given out."""

    def read(self, token: int) -> str:
        """The text that ``token`` makes certain."""
        if self._whole and (piece := self._pieces[token]) is not None:
            return piece
        text: str = self._step(token)
        self._whole = bool(text)
        return text
