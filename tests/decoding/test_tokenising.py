"""Prompts tokenised piece by piece have the tokens that they have as a whole."""

from __future__ import annotations

import tracemalloc
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from decoding import tokenising
from decoding.tokenising import Pieces, tokenise

ADDED = [
    AddedToken("<s>", special=True, normalized=False),
    AddedToken("<s><b>", special=True, normalized=False),
    AddedToken("<b>", special=True, normalized=False, rstrip=True),
    AddedToken("<tool>", special=False, normalized=False),
    AddedToken("Over", special=False, normalized=True),
]
WORDS = [
    "<s>",
    "<b>",
    "<tool>",
    "<s",
    ">",
    "over",
    "Over",
    "the lazy dog",
    " ",
    "  ",
    "\n",
    "é",
    "e\u0301",
    "😀",
    "日本",
]
CORPUS = ["the quick brown fox jumps over the lazy dog", "<s> user\n over the dog </s>", "é 日本 e\u0301"] * 20


@cache
def made(kind: str) -> Any:
    core = Tokenizer(models.BPE(byte_fallback=kind != "bytes", unk_token=None))
    trainer = trainers.BpeTrainer(vocab_size=500, show_progress=False)
    match kind:
        case "bytes":
            core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
            core.decoder = decoders.ByteLevel()
            core.normalizer = normalizers.NFC()
            trainer.initial_alphabet = pre_tokenizers.ByteLevel.alphabet()
        case "first":
            core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
        case "always":
            core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        case "llama":
            core.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        case "lower":
            core.normalizer = normalizers.Lowercase()
            core.pre_tokenizer = pre_tokenizers.Whitespace()
    core.train_from_iterator(CORPUS, trainer)
    core.add_tokens(ADDED)
    return PreTrainedTokenizerFast(tokenizer_object=core)


@pytest.mark.parametrize("kind", ["bytes", "first", "always", "llama", "lower"])
@given(words=st.lists(st.sampled_from(WORDS)))
def test_the_same_tokens(kind: str, words: list[str]) -> None:
    tokenizer, text = made(kind), "".join(words)
    whole = tokenizer.encode(text, add_special_tokens=False)
    assert tokenise(tokenizer, text) == whole
    assert tokenise(tokenizer, text) == whole  # from what is kept


def test_a_tokenizer_whose_special_tokens_look_around_is_not_cut() -> None:
    core = Tokenizer.from_str(made("bytes").backend_tokenizer.to_str())
    core.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core)
    assert Pieces(core)._cut is None
    text = "the dog  <mask><s> over"
    assert tokenise(tokenizer, text) == tokenizer.encode(text, add_special_tokens=False)


def test_a_tokenizer_of_its_own_kind_is_asked() -> None:
    class Own(PreTrainedTokenizerFast):
        def encode(self, text: str, **more: Any) -> list[int]:  # type: ignore[override]
            return [7, *super().encode(text, **more)]

    tokenizer = Own(tokenizer_object=made("bytes").backend_tokenizer)
    assert tokenise(tokenizer, "over")[0] == 7
    split = PreTrainedTokenizerFast(tokenizer_object=made("bytes").backend_tokenizer, split_special_tokens=True)
    assert tokenise(split, "<s>over") == split.encode("<s>over", add_special_tokens=False)


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenising, "KEPT", 4000)
    pieces = Pieces(made("bytes").backend_tokenizer)
    for number in range(60):
        pieces.encode(f"<s>over {number}<b> the dog")
        assert sum(map(len, pieces._seen)) <= 4000
        assert len(pieces._seen) <= 4000 // 200, "short pieces take more than their text"
    assert len(pieces._seen) > 3
    pieces.encode("over" * 1000)
    assert not pieces._seen


def test_as_many_bytes_are_kept_as_is_said() -> None:
    pieces = Pieces(made("bytes").backend_tokenizer)
    pieces.encode("once, before anything is counted")
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(5000):
            pieces.encode(f"the dog number {number} over the dog")
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 0.7 < taken / (tokenising.KEPT - pieces._left) < 1.3
