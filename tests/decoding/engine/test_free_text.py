"""Masks kept by state are the masks that the grammar engine computes."""

from __future__ import annotations

from dataclasses import replace

import llguidance
import llguidance.torch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding import tool_grammar
from decoding.engine.free_text import FreeText, FreeTextMasks, Markers, Pattern, declare_free_text
from decoding.formats import get
from tests.decoding.engine.support import ByteTokenizer, tokenizer

TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
#: The last one's marker is a special token: any that the answers below do not hold.
FORMATS = {name: get(name) for name in ("hermes", "prompted", "qwen_xml", "granite")} | {
    "special": replace(get("hermes"), special=(("<tool_call>", ByteTokenizer.eos_token_id),)),
    "special_xml": replace(get("qwen_xml"), special=(("<tool_call>", ByteTokenizer.eos_token_id),)),
}
SHAPES = [
    (fmt, choice, parallel, reasoning)
    for fmt, reasoning in (
        ("hermes", "none"),
        ("hermes", "optional"),
        ("prompted", "none"),
        ("special", "none"),
        ("qwen_xml", "none"),
        ("special_xml", "optional"),
        ("granite", "none"),
    )
    for choice, parallel in (("auto", True), ("auto", False), ("none", True))
]
GRAMMARS = {shape: tool_grammar(TOOLS, *shape[1:3], FORMATS[shape[0]], shape[3]).cfg.definition for shape in SHAPES}
MASKS = {shape: FreeTextMasks(marker) for shape, text in GRAMMARS.items() if (marker := Markers.of(text)) is not None}
MATCHERS = {
    shape: llguidance.LLMatcher(tokenizer(), llguidance.grammar_from("grammar", text), log_level=0)
    for shape, text in GRAMMARS.items()
}
PIECES = st.sampled_from(
    [
        *ByteTokenizer.words,
        b"<think>",
        b"<thi",
        b"</think>",
        b"<function",
        b"<|tool_call|>",
        b"a",
        b" ",
        b"<",
        b"<<tool",
        b"`",
        b"``",
        b"\n\n",
        "é".encode(),
        "😀".encode(),
    ]
)


def test_every_such_grammar_says_so() -> None:
    assert set(MASKS) == set(SHAPES)
    required = tool_grammar(TOOLS, "required", True, "hermes").cfg.definition
    assert Markers.of(required) is None
    assert Markers.of(tool_grammar(TOOLS, "auto", True, "hermes", "open").cfg.definition) is None
    assert Markers.of(tool_grammar(TOOLS, "auto", True, "cohere").cfg.definition) is None, "text in marks"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@settings(max_examples=60, deadline=None)
@given(pieces=st.lists(PIECES, max_size=14))
def test_kept_masks_are_the_computed_ones(shape: tuple[str, str, bool, str], pieces: list[bytes]) -> None:
    matcher = MATCHERS[shape].deep_copy()
    text = FreeText(MASKS[shape])  # kept over all examples: each state's mask was computed in another text
    computed = llguidance.torch.allocate_token_bitmask(1, tokenizer().vocab_size)
    kept = computed.clone()
    size = computed.shape[1] * 4
    for byte in b"".join(pieces):
        llguidance.torch.fill_next_token_bitmask(matcher, computed, 0)
        if text.copy_mask(kept.data_ptr(), size):
            assert kept.equal(computed)
        else:
            text.keep_mask(computed.data_ptr(), size)
        if not text.open or not matcher.consume_token(byte):
            break
        text.write([bytes([byte])])


def test_masks_are_kept_at_all() -> None:
    masks = FreeTextMasks(Markers((Pattern.of(b"<tool_call>"),), 0))
    computed = llguidance.torch.allocate_token_bitmask(1, 64)
    kept = FreeText(masks)
    kept.write([b"hello"])
    kept.keep_mask(computed.data_ptr(), 8)
    other = FreeText(masks)
    assert not other.copy_mask(computed.data_ptr(), 8), "nothing is written yet: another state"
    other.write([b"by", b"e"])
    assert other.copy_mask(computed.data_ptr(), 8)
    other.write([b"\xc3"])
    assert not other.copy_mask(computed.data_ptr(), 8), "in the middle of a character"


@pytest.mark.parametrize(
    ("at_line_start", "text", "left"),
    [
        (False, b"a <tool_call>", True),
        (False, b"<<tool_call>", True),
        (False, b"<tool_<tool_call>", True),
        (False, b"<tool_call", False),
        (False, b"<tool_[F", True),
        (True, b"<tool_call>", True),
        (True, b"a <tool_call>", False),
        (True, b"a\n<tool_call>", True),
        (True, b"a\n\n<tool_call>", True),
    ],
)
def test_the_marker_ends_free_text(at_line_start: bool, text: bytes, left: bool) -> None:
    marker = Markers.of(declare_free_text("start: x\n", ["<tool_call>", "[F"], at_line_start=at_line_start))
    assert marker is not None
    written = FreeText(FreeTextMasks(marker))
    written.write([text[:3], text[3:]])
    assert written.open is not left


@pytest.mark.parametrize(
    ("text", "left", "kept"),
    [
        (b"<think>", True, False),
        (b" \n<think>hm", True, False),
        (b"", False, False),
        (b"\n <thi", False, False),
        (b"\n <thx", False, True),
        (b"a <think>", False, True),
    ],
)
def test_free_text_that_may_turn_out_to_be_reasoning(text: bytes, left: bool, kept: bool) -> None:
    marker = Markers.of(declare_free_text("start: x\n", ["<tool_call>", "[F"], at_line_start=False, unless="<think>"))
    assert marker is not None
    masks = FreeTextMasks(marker)
    computed = llguidance.torch.allocate_token_bitmask(1, 64)
    for _ in range(2):
        for pieces in ([text], [bytes([byte]) for byte in text]):
            written = FreeText(masks)
            written.write(pieces)
            assert written.open is not left
            written.keep_mask(computed.data_ptr(), 8)
            assert written.copy_mask(computed.data_ptr(), 8) == kept


def test_a_marker_with_quotes_and_newlines() -> None:
    marker = Markers.of(declare_free_text("start: x\n", ['"\\\n<é', "b"], at_line_start=False))
    assert marker == Markers((Pattern.of('"\\\n<é'.encode()), Pattern.of(b"b")), 0)
