"""Markers that are special tokens: the grammar takes the token and not its spelling, and the reader agrees."""

from __future__ import annotations

import json
from dataclasses import replace

import llguidance
import pytest

from decoding import CallFinished, CallStarted, Finished, Format, Text, tool_grammar
from schemas.spelling import Quoted
from tests.decoding.support import ALL_FORMATS, TOOLS, merged, read

MARKS = {
    "deepseek_v32": ["｜DSML｜"],
    "glm": ["<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"],
    "qwen_xml": ["<tool_call>", "</tool_call>", "</parameter>", "</function>"],
    "gemma": ["<|tool_call>", "<tool_call|>", '<|"|>', "<|channel>", "<channel|>"],
    "functiongemma": ["<start_function_call>", "<end_function_call>", "<escape>"],
    "minimax": ["<minimax:tool_call>", "</minimax:tool_call>"],
    "mistral": ["[TOOL_CALLS]", "[ARGS]", "[THINK]", "[/THINK]"],
    "deepseek_v31": [
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>",
        "<｜tool▁calls▁end｜>",
    ],
    "kimi": [
        "<|tool_calls_section_begin|>",
        "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
        "<|tool_calls_section_end|>",
    ],
    "kimi_k3": ["<|open|>", "<|close|>", "<|sep|>"],
    "llama_json": ["<|python_tag|>"],
    "granite": ["<|tool_call|>"],
    "phi": ["<|tool_call|>", "<|/tool_call|>"],
    "cohere": [
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        "<|START_RESPONSE|>",
        "<|END_RESPONSE|>",
        "<|START_ACTION|>",
        "<|END_ACTION|>",
    ],
    "harmony": ["<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>"],
}
BOUND = [
    replace(fmt, special=tuple((mark, 257 + n) for n, mark in enumerate(MARKS[fmt.name])))
    for fmt in ALL_FORMATS
    if fmt.name in MARKS
]
every_format = pytest.mark.parametrize(
    "fmt", [fmt for fmt in BOUND if fmt.marker in dict(fmt.special) or fmt.name == "kimi_k3"], ids=lambda fmt: fmt.name
)
EOS = 256


class Vocabulary:
    """Single bytes, the end of sequence and the format's special tokens."""

    eos_token_id = EOS
    bos_token_id = None

    def __init__(self, fmt: Format) -> None:
        marks = [mark.encode() for mark, _ in fmt.special]
        self.tokens = [*(bytes([byte]) for byte in range(256)), b"<|end|>", *marks]
        self.special_token_ids = list(range(EOS, len(self.tokens)))

    def __call__(self, text: bytes | str) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


def tokens(fmt: Format, text: str) -> list[int]:
    """The text with its markers as special tokens."""
    for mark, number in fmt.special:
        text = text.replace(mark, chr(0xE000 + number))
    return [
        token
        for character in text
        for token in ([ord(character) - 0xE000] if 0xE100 < ord(character) < 0xE200 else list(character.encode()))
    ]


def accepts(fmt: Format, mode: str, ids: list[int], reasoning: bool = False) -> bool:
    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Vocabulary(fmt)), slices=[])
    grammar = llguidance.grammar_from("grammar", tool_grammar(TOOLS, mode, True, fmt, reasoning).cfg.definition)
    machine = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
    assert not machine.is_error(), machine.get_error()
    return bool(machine.validate_tokens([*ids, EOS]) == len(ids) + 1)


@every_format
@pytest.mark.parametrize("mode", ["auto", "required"])
def test_the_token_and_not_its_spelling(fmt: Format, mode: str) -> None:
    text = fmt.write_calls([("ping", "{}"), ("find", '{"q":"x"}')])
    assert accepts(fmt, mode, tokens(fmt, text))
    assert not accepts(fmt, mode, list(text.encode()))


@every_format
def test_free_text(fmt: Format) -> None:
    """c7: what spells the marker would be read as one, so text cannot spell it."""
    assert accepts(fmt, "auto", list("Hello 日本".encode()))
    assert accepts(fmt, "auto", tokens(fmt, fmt.write_answer("Hello.", [("ping", "{}")])))
    assert not accepts(fmt, "auto", list(f"Hello {fmt.marker}".encode()))
    assert not accepts(fmt, "none", tokens(fmt, fmt.write_calls([("ping", "{}")])))
    said = fmt.write_answer("Hello 日本.", [])
    assert accepts(fmt, "auto", tokens(fmt, said))
    assert accepts(fmt, "none", tokens(fmt, said))
    assert merged(read(fmt, said)) == [Text("Hello 日本."), Finished("stop")]
    if fmt.text:
        assert not accepts(fmt, "auto", list(said.encode()))


def test_a_marker_besides_the_first() -> None:
    """Llama's call behind its token, after text too; text cannot spell it."""
    fmt = next(fmt for fmt in BOUND if fmt.name == "llama_json")
    call = '<|python_tag|>{"type": "function", "name": "find", "parameters": {"q":"x"}}'
    for text, mode in ((call, "auto"), (call, "required"), (f"Let me see. {call}", "auto")):
        assert accepts(fmt, mode, tokens(fmt, text))
        assert not accepts(fmt, mode, list(text.encode()))
        assert CallFinished(0, '{"q":"x"}') in read(fmt, text)
    assert not accepts(fmt, "auto", tokens(fmt, f"{fmt.write_calls([('ping', '{}')])}{call}"))


@every_format
def test_markers_in_strings_are_spelled(fmt: Format) -> None:
    """Inside a string a marker can only be spelled, and is data."""
    opening, closing = fmt.write_calls([("find", '{"q": "@@"}')]).split("@@")
    ids = [*tokens(fmt, opening), *fmt.marker.encode(), *tokens(fmt, closing)]
    assert accepts(fmt, "required", ids)
    events = merged(read(fmt, opening + fmt.marker + closing))
    arguments = [json.loads(event.arguments) for event in events if isinstance(event, CallFinished)]
    assert arguments == [{"q": fmt.marker}]
    assert not accepts(fmt, "required", tokens(fmt, opening + fmt.marker + closing))


@every_format
def test_an_empty_string(fmt: Format) -> None:
    """Where a token ends a string there may be nothing before it."""
    assert accepts(fmt, "required", tokens(fmt, fmt.write_calls([("find", '{"q": ""}')])))


@pytest.mark.parametrize("fmt", [fmt for fmt in BOUND if isinstance(fmt.spelling, Quoted)], ids=lambda fmt: fmt.name)
def test_quotes_are_tokens(fmt: Format) -> None:
    """Strings stand between tokens; what spells one is neither a quote nor can it stand in a string."""
    assert isinstance(fmt.spelling, Quoted)
    text = fmt.write_calls([("find", '{"q": "@@"}')])
    for value, good in (("", True), ("x", True), ('"}', True), (fmt.spelling.quote, False)):
        opening, closing = text.split("@@")
        ids = [*tokens(fmt, opening), *value.encode(), *tokens(fmt, closing)]
        assert accepts(fmt, "required", ids) is good
    opening, *_, closing = text.split(fmt.spelling.quote)
    quoted = f"{fmt.spelling.quote}x{fmt.spelling.quote}".encode()
    assert not accepts(fmt, "required", [*tokens(fmt, opening), *quoted, *tokens(fmt, closing)])


@pytest.mark.parametrize("fmt", [fmt for fmt in BOUND if fmt.reasoning], ids=lambda fmt: fmt.name)
def test_reasoning(fmt: Format) -> None:
    assert fmt.reasoning is not None
    calls = fmt.write_calls([("ping", "{}")])
    texts = [f"{fmt.reasoning.open}Hm.{fmt.reasoning.close}{calls}", f"Hm.{fmt.reasoning.close}{calls}"]
    for text in texts[: 1 if fmt.channels else 2]:
        assert accepts(fmt, "required", tokens(fmt, text), reasoning=True)
        events = merged(read(fmt, text, reasoning=True))
        assert [event.name for event in events if isinstance(event, CallStarted)] == ["ping"]
        assert events[-1] == Finished("tool_calls")
        assert not any(isinstance(event, Text) for event in events)
    assert accepts(fmt, "required", tokens(fmt, calls), reasoning=True) == bool(fmt.channels)
