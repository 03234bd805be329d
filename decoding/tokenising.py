"""The token ids of rendered prompts, piece by piece: what stood in an earlier prompt is not tokenised again.

Added tokens (``<|im_start|>`` and the like) are cut out of a text before anything else is done with it, so what stands
between two of them has the same tokens wherever it stands. A prompt's tools and its earlier messages come again with
every turn, and tokenising them was the largest part of what a request cost.
"""

from __future__ import annotations

import re
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterator
from functools import cache
from sys import getsizeof
from typing import Any
from weakref import WeakKeyDictionary

import tokenizers
from transformers import PreTrainedTokenizerFast

#: Bytes that may be taken by the pieces which are kept for a tokenizer.
KEPT = 8_000_000
#: Bytes that a table takes for an entry, beside the text and its tokens: most of what a short piece costs.
_ENTRY = 100


def tokenise(tokenizer: Any, text: str) -> list[int]:
    """Token ids of a rendered prompt, in which special tokens are written out: those that
    ``tokenizer.encode(text, add_special_tokens=False)`` gives."""
    if not _is_plain(tokenizer):
        return list(tokenizer.encode(text, add_special_tokens=False))
    pieces = _known.get(tokenizer)
    if pieces is None:
        pieces = _known[tokenizer] = Pieces(tokenizer._tokenizer)
    return pieces.encode(text)


class Pieces:
    """The pieces of texts that one tokenizer has seen. Safe to use from several threads."""

    def __init__(self, core: tokenizers.Tokenizer) -> None:
        self._core = core
        # Tokens that stand for themselves in normalised text are looked for later, in what is left between the others.
        cuts = [token for token in core.get_added_tokens_decoder().values() if not token.normalized]
        blind = not any(token.lstrip or token.single_word for token in cuts)
        # Of two that begin at the same place the tokenizer takes the longer one.
        marks = sorted((token.content for token in cuts), key=len, reverse=True)
        self._cut = re.compile("|".join(map(re.escape, marks))) if marks and blind else None
        self._seen: OrderedDict[str, array[int]] = OrderedDict()
        self._left = KEPT
        self._lock = threading.Lock()

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for piece in self._split(text):
            ids += self._ids(piece)
        return ids

    def _split(self, text: str) -> Iterator[str]:
        """``text`` in pieces that begin with an added token, all but the first."""
        begin = 0
        if self._cut is not None:
            for found in self._cut.finditer(text):
                if found.start() > begin:
                    yield text[begin : found.start()]
                    begin = found.start()
        yield text[begin:]

    def _ids(self, piece: str) -> array[int]:
        with self._lock:
            ids = self._seen.get(piece)
            if ids is not None:
                self._seen.move_to_end(piece)
                return ids
        ids = array("I", self._core.encode(piece, add_special_tokens=False).ids)
        with self._lock:
            if piece not in self._seen:
                self._seen[piece] = ids
                self._left -= _bytes(piece, ids)
                while self._left < 0:
                    self._left += _bytes(*self._seen.popitem(last=False))
        return ids


def _bytes(piece: str, ids: array[int]) -> int:
    return _ENTRY + getsizeof(piece) + getsizeof(ids)


def _is_plain(tokenizer: Any) -> bool:
    """Whether the tokenizer's core does all of its work, and finds special tokens in it."""
    if not _encodes_as_usual(type(tokenizer)):  # type: ignore[arg-type]  # mypy takes a class for what it makes
        return False
    core = tokenizer._tokenizer
    return (
        type(core) is tokenizers.Tokenizer
        and core.truncation is None
        and core.padding is None
        and not core.encode_special_tokens
        and not tokenizer.split_special_tokens
    )


@cache
def _encodes_as_usual(kind: type) -> bool:
    usual = PreTrainedTokenizerFast
    return issubclass(kind, usual) and all(maker(kind, name) is maker(usual, name) for name in _ENCODING)


def maker(kind: type, name: str) -> type | None:
    """The class that a tokenizer's method is of. vLLM's own classes around it do nothing else."""
    makers = (each for each in kind.__mro__ if name in vars(each) and each.__module__ != "vllm.tokenizers.hf")
    return next(makers, None)


_ENCODING = ("encode", "_encode_plus")
_known: WeakKeyDictionary[Any, Pieces] = WeakKeyDictionary()
