"""Tools, schemas and values made to break a format, each format with its marks as text and as special tokens."""

from __future__ import annotations

import json
import random
from typing import Any

import llguidance
import pytest

from decoding import (
    CallFinished,
    CallStarted,
    Event,
    Finished,
    Format,
    Reader,
    Text,
    Tool,
    ToolChoice,
    ToolGrammar,
    tool_from_wire,
    tool_grammar,
)
from decoding.formats import get, text_behind_arguments
from decoding.reasoning import ReasoningMode
from decoding.spelled_tools import members_of, spelled
from schemas import SchemaError
from schemas.engine import grammar_of
from schemas.spelling import JSON, Keywords, Quoted, Tags
from tests.decoding.support import ALL_FORMATS, accepts, call, merged, read, wire
from tests.decoding.test_special_tokens import BOUND, EOS, Vocabulary, tokens

every_format = pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda fmt: fmt.name)
AS_TOKENS = {fmt.name: fmt for fmt in BOUND}

NAMES = ["a", "ab", "abc", "a-b", "a_b", "-", "_", "0", "to", "functions", "function", "name", "json", "x" * 64]
KEYS = ["a", "b", "a b", '"', "'", "<", "</parameter>", "</arg_key>", "\n", "=", ":", ",", "{", "]", "(", "\\", "&"]
KEYS += ["&quot;", "日本", "\0", '<|"|>', "True", "5", "", 'x" y', "to"]
MARKS = sorted({text for fmt in ALL_FORMATS for text in (fmt.marker, text_behind_arguments(fmt.call)) if text})
STRINGS = ["x", "", "5", "null", "True", "\n", " \n ", "\n</parameter>", "a</arg_value>b", '<|"|>', "<escape>", "```\n"]
STRINGS += ["<|close|>argument<|sep|>", "<|open|>response<|sep|>", "</think>", "\\", "'", '"', "]", "}", ")", ", "]
STRINGS += MARKS


@every_format
def test_names_that_begin_alike_and_odd_ones(fmt: Format) -> None:
    tools = [tool_from_wire(wire(name, {"q": {"type": "string"}}, required=[])) for name in NAMES]
    grammar = tool_grammar(tools, "required", True, fmt)
    for name in NAMES:
        for arguments in ("{}", '{"q": "x"}'):
            text = fmt.write_calls([(name, arguments), (name, arguments)])
            expected = [*call(0, name, arguments), *call(1, name, arguments), Finished("tool_calls")]
            assert accepts(grammar, text), text
            assert merged(read(fmt, text, tools=tools)) == expected
            assert merged(read(fmt, list(text), tools=tools)) == expected


def test_names_that_a_format_could_not_tell() -> None:
    """Kimi's ids are ``functions.NAME:INDEX``, and models leave the beginning out."""
    for name in ("a:0", "functions.a"):
        with pytest.raises(ValueError, match="kimi"):
            tool_grammar([wire(name)], "auto", True, "kimi")
        assert accepts(tool_grammar([wire(name)], "auto", True, "hermes"), get("hermes").write_calls([(name, "{}")]))


@every_format
def test_markers_are_data_in_every_value(fmt: Format) -> None:
    """As constants, in lists of choices and deep inside; what a format cannot write is refused with its place."""
    own = [*fmt.fixed_texts, fmt.opening] if fmt.spelling == JSON else STRINGS[: -len(MARKS)]
    for value in dict.fromkeys([*own, fmt.marker, text_behind_arguments(fmt.call)]):
        for schema, written in (
            ({"const": value}, value),
            ({"enum": ["zz", value, None]}, value),
            ({"type": "array", "items": {"enum": ["zz", value]}}, [value, "zz", value]),
            ({"type": "object", "properties": {"k": {"type": ["string", "null"]}}}, {"k": value}),
        ):
            tool = wire("f", {"p": schema, "q": {"type": "string"}})
            arguments = {"q": "r", "p": written}
            known, place = spelled_or_refused(tool, fmt)
            if place:
                assert place.startswith("/properties/p")
                assert isinstance(fmt.spelling, Tags | Quoted), value
                continue
            text = fmt.write_calls([("f", json.dumps(arguments))], 0, members_of(known, fmt.spelling))
            if accepts(tool_grammar(known, "required", True, fmt), text):
                done = [event for event in read(fmt, list(text), tools=known) if isinstance(event, CallFinished)]
                assert [json.loads(event.arguments) for event in done] == [arguments], text
            else:
                assert isinstance(fmt.spelling, Tags | Quoted), (value, text)


def spelled_or_refused(tool: dict[str, Any], fmt: Format) -> tuple[list[Tool], str]:
    """The tool, or the place in its schema that the format cannot write."""
    try:
        return spelled([tool], fmt.spelling), ""
    except SchemaError as refused:
        return [], refused.path


@pytest.mark.parametrize(
    "fmt", [fmt for fmt in ALL_FORMATS if isinstance(fmt.spelling, Keywords | Quoted | Tags)], ids=lambda fmt: fmt.name
)
def test_long_names_and_names_of_odd_spaces(fmt: Format) -> None:
    """Of members that the schema does not name: what the grammar lets a model write the reader takes for a name."""
    tools = spelled([wire("f", {}, additionalProperties=True)], fmt.spelling)
    grammar = tool_grammar(tools, "required", True, fmt)
    for name in ("n" * 5000, "a\x1cb", "a\x1fb", "a\x85b", "a\ufeffb", "a\u00a0b", "a\u2028b", "a\x0bb"):
        text = fmt.write_calls([("f", json.dumps({name: 1, "z": "x"}))])
        whole = merged(read(fmt, text, tools=tools))
        assert merged(read(fmt, list(text), tools=tools)) == whole
        if accepts(grammar, text):
            assert [json.loads(e.arguments) for e in whole if isinstance(e, CallFinished)] == [{name: 1, "z": "x"}]
        else:
            assert len(name) == 3
            assert not isinstance(fmt.spelling, Tags)


class Wanderer:
    """A model at its wildest: it writes what the grammar lets it, marks and hostile values rather than single bytes."""

    def __init__(self, fmt: Format, grammar: ToolGrammar, rng: random.Random) -> None:
        vocabulary = Vocabulary(fmt)
        self._tokens = vocabulary.tokens
        tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(vocabulary), slices=[])
        self._machine = llguidance.LLMatcher(tokenizer, grammar_of(grammar.cfg.definition), log_level=0)
        spelling = fmt.spelling
        ends = [spelling.key_open, spelling.close] if isinstance(spelling, Tags) else []
        pieces = [*fmt.fixed_texts, fmt.opening, *ends, *STRINGS, *KEYS, *"{}[]\"',:= ()", "null", "true", "-", "e9"]
        self._pieces = [tokens(fmt, piece) for piece in dict.fromkeys(pieces) if piece]
        self._rng = rng

    def write(self) -> tuple[str, bool]:
        """An answer, and whether it came to its end."""
        machine, rng, written = self._machine, self._rng, bytearray()
        for _ in range(200):
            assert not machine.is_error(), machine.get_error()
            if machine.is_stopped() or (machine.is_accepting() and rng.random() < (0.1 if len(written) < 80 else 0.8)):
                return written.decode(), True
            fits = (piece for piece in rng.sample(self._pieces, 25) if machine.validate_tokens(piece) == len(piece))
            piece = next(fits, None) if rng.random() < 0.93 else None
            if piece is None:
                mask = machine.compute_bitmask()
                allowed = [n for n in range(len(self._tokens)) if n != EOS and mask[n // 8] >> n % 8 & 1]
                assert allowed or machine.is_accepting(), f"{machine.get_error()} behind {written.decode()}"
                if not allowed:
                    return written.decode(), True
                piece = [rng.choice(allowed)]
            assert machine.consume_tokens(piece), machine.get_error()
            written += b"".join(self._tokens[n] for n in piece)
        return written.decode(errors="ignore"), False


def hostile_schema(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    """An object with members of hostile names and values."""
    keys = rng.sample(KEYS, rng.choice([0, 0, 1, 1, 2, 3]))
    return {
        "type": "object",
        "properties": {key: _value_schema(rng, depth) for key in keys},
        "required": [key for key in keys if rng.random() < 0.5],
        "additionalProperties": rng.choice([False, False, True, {"type": "string"}]),
    }


def _value_schema(rng: random.Random, depth: int) -> dict[str, Any]:
    kinds = ["string", "integer", "null", "boolean", "array", "number", "object"]
    simple: list[dict[str, Any]] = [
        {"type": "string"},
        {"type": "string", "maxLength": rng.choice([0, 1, 5])},
        {"type": "string", "pattern": rng.choice(["^[<>/a-z]*$", "^[0-9]{1,3}$", "\\n", "^.{0,4}$", "</p"])},
        {"enum": [*rng.sample(STRINGS, 3), *rng.sample([1, None, True, 1.5], 2)]},
        {"const": rng.choice([*STRINGS, 0, None, False])},
        {"type": rng.sample(kinds, rng.randrange(1, 4))},
        {},
    ]
    if depth < 2 and rng.random() < 0.25:
        inner = hostile_schema(rng, depth + 1)
        return rng.choice([inner, {"type": "array", "items": _value_schema(rng, depth + 1), "maxItems": 2}])
    return rng.choice(simple)


def hostile_tools(rng: random.Random, fmt: Format) -> list[Tool]:
    tools = [
        tool_from_wire({"function": {"name": name, "parameters": hostile_schema(rng)}}, undeclared="allow")
        for name in rng.sample(NAMES, 2)
    ]
    try:
        return spelled(tools, fmt.spelling)
    except SchemaError:
        return hostile_tools(rng, fmt)  # a member that has to be there cannot be written


@every_format
def test_whatever_the_grammar_lets_a_model_write(fmt: Format) -> None:
    """Hostile tools, every choice, reasoning or not, marks as text and as tokens: the grammar engine does not give up,
    no call is invalid or lost, and grammar and reader agree on what is one."""
    rng = random.Random(fmt.name)
    reasons: tuple[ReasoningMode, ...] = ("none", "optional", "open") if fmt.reasoning else ("none",)
    made = 0
    for number in range(16):
        form = AS_TOKENS.get(fmt.name, fmt) if number % 2 else fmt
        tools = hostile_tools(rng, form)
        choice = rng.choice(
            [ToolChoice("auto"), ToolChoice("required"), ToolChoice("required", (tools[0].name,), True)]
        )
        parallel, reasoning = rng.random() < 0.5, rng.choice(reasons)
        grammar = tool_grammar(tools, choice, parallel, form, reasoning)
        text, whole = Wanderer(form, grammar, rng).write()
        events = read_all(form, tools, [text], whole, reasoning)
        assert read_all(form, tools, list(text), whole, reasoning) == events, text
        names = {event.index: event.name for event in events if isinstance(event, CallStarted)}
        finished = [event for event in events if isinstance(event, CallFinished)]
        compiled = {tool.name: tool.compiled for tool in tools}
        for each in finished:
            assert names[each.index] in (choice.names or compiled)
            held = not compiled[names[each.index]].residue
            assert not (held and compiled[names[each.index]].validate(json.loads(each.arguments))), text
        made += len(finished)
        if whole:
            assert len(names) == len(finished), text
            assert events[-1] == Finished("tool_calls" if finished else "stop")
            assert choice.mode == "auto" or (finished and not any(isinstance(event, Text) for event in events)), text
            assert len(finished) <= 1 or (parallel and not choice.once)
    assert made


def read_all(fmt: Format, tools: list[Tool], pieces: list[str], whole: bool, reasoning: ReasoningMode) -> list[Event]:
    reader = Reader(fmt, tools, reasoning=reasoning)
    events = [event for piece in pieces for event in reader.feed(piece)]
    return merged([*events, *reader.finish("stop" if whole else "length")])
