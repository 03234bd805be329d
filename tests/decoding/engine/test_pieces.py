"""Texts of single tokens: always what vLLM's detokenizer says."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("vllm.v1.engine.detokenizer", reason="needs vLLM")

from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from vllm import SamplingParams
from vllm.v1.engine import EngineCoreRequest
from vllm.v1.engine.detokenizer import FastIncrementalDetokenizer

from decoding.engine.pieces import Pieces, TokenReader


def made(decoder: Any) -> PreTrainedTokenizerFast:
    """Tokens of single bytes, of words, of parts of characters, and special ones."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    # How byte-level BPE writes a byte: as itself where it can be seen, else as a letter from U+0100 on.
    byte = {value: chr(value) for value in (*range(33, 127), *range(161, 173), *range(174, 256))}
    rest = iter(chr(256 + n) for n in range(256))
    byte |= {value: next(rest) for value in range(256) if value not in byte}
    words = ["the", " a", "é", "日本", "\n\n", "\ufffd"]
    parts = [b"\xf0\x9f", b"\x98\x80", b"x\xc3", b"\xa9y", b"\xff"]
    vocabulary = {letter: n for n, letter in enumerate(letters)}
    for data in (*(word.encode() for word in words), *parts):
        vocabulary.setdefault("".join(byte[value] for value in data), len(vocabulary))
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoder
    core.add_special_tokens([AddedToken("<one>", special=True), AddedToken("<two>", special=True)])
    core.add_tokens([AddedToken("<three>")])
    return PreTrainedTokenizerFast(tokenizer_object=core)


TOKENIZER = made(decoders.ByteLevel())
SIZE = len(TOKENIZER)
#: The rarer kinds of tokens more often than the bytes.
TOKENS = st.integers(0, SIZE - 1) | st.integers(256, SIZE - 1)


def detokenizer(tokenizer: Any, prompt: list[int], skip_special: bool) -> FastIncrementalDetokenizer:
    params = SamplingParams(max_tokens=100, skip_special_tokens=skip_special)
    request = EngineCoreRequest("r", prompt, None, params, None, 0.0, None, None, None)
    return FastIncrementalDetokenizer(tokenizer, request)


@given(st.lists(TOKENS, min_size=1, max_size=4), st.lists(TOKENS, max_size=30), st.booleans())
def test_the_same_text_as_vllm_s(prompt: list[int], tokens: list[int], skip_special: bool) -> None:
    pieces = Pieces(TOKENIZER._tokenizer)
    reader = TokenReader(pieces, detokenizer(TOKENIZER, prompt, skip_special), prompt)
    plain = detokenizer(TOKENIZER, prompt, skip_special)
    assert [reader.read(token) for token in tokens] == [plain.decode_next(token) for token in tokens]


def test_what_is_a_piece() -> None:
    pieces = Pieces(TOKENIZER._tokenizer)
    ids = {text: TOKENIZER._tokenizer.token_to_id(text) for text in ("the", "<one>", "<three>")}
    assert pieces[ids["the"]] == "the"
    assert pieces[ids["<one>"]] is None
    assert pieces[ids["<three>"]] is None
    whole = [piece for piece in map(pieces.__getitem__, range(SIZE)) if piece is not None]
    assert {"the", " a", "é", "日本", "\n\n"} <= set(whole)
    assert len([piece for piece in whole if len(piece) == 1 and piece.isascii()]) == 128


def test_no_piece_stands_alone_where_the_decoder_is_another() -> None:
    pieces = Pieces(made(decoders.Metaspace())._tokenizer)
    assert all(pieces[token] is None for token in range(SIZE))
