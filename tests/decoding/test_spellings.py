"""Formats whose arguments are not one JSON text: grammar, reader and rendering agree on what a text means."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from llguidance import LLMatcher

from decoding import CallFinished, Finished, Format, Text, tool_from_wire, tool_grammar
from decoding.formats import text_behind_arguments
from decoding.spelled_tools import members_of, spelled
from decoding.spellings import write_arguments
from schemas import SchemaError
from schemas.sample import matcher
from schemas.spelling import JSON, Keywords, Quoted, Tags
from schemas.writable import quoted_strings, tag_strings
from tests.decoding.support import ALL_FORMATS, accepts, arguments_end, merged, read

SPELLED = [fmt for fmt in ALL_FORMATS if fmt.spelling != JSON]
every_format = pytest.mark.parametrize("fmt", SPELLED, ids=lambda fmt: fmt.name)

PROPERTIES: dict[str, Any] = {
    "text": {"type": "string"},
    "code": {"type": "string", "pattern": "^[0-9]{3}$"},
    "short": {"type": "string", "maxLength": 5},
    "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "many": {"type": ["string", "integer", "boolean"]},
    "list": {"type": ["string", "array"], "items": {"type": "string"}},
    "any": {},
    "n": {"type": "number"},
    "flag": {"type": "boolean"},
    "none": {"type": "null"},
    "kind": {"enum": ["a", "null", "1", 1, None, True]},
    "user-id": {"type": "integer"},
    "nested": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}},
        "required": ["a"],
        "additionalProperties": False,
    },
}
SCHEMA = {
    "type": "object",
    "properties": PROPERTIES,
    "required": ["text"],
    "additionalProperties": {"type": ["string", "integer"]},
    "if": {"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
    "then": {"required": ["n"]},
}


def tool(schema: Any, name: str = "set") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": schema}}


WIRE = tool(SCHEMA)
TOOL = tool_from_wire(WIRE)
CASES: list[dict[str, Any]] = [
    {"text": "hi"},
    {"text": ""},
    {"text": "007"},
    {"text": " two\n lines \n\n"},
    {"text": "\n"},
    {"text": "say \"hi\" \\ back\\slash \t tab, {a}: [b] (c) = <d> 'e' 日本 🎈 \u0000"},
    {"text": "null", "maybe": None},
    {"text": "True", "maybe": "null"},
    {"text": "5", "many": 5},
    {"text": "5", "many": "5"},
    {"text": "5", "many": "5 apples"},
    {"text": "5", "many": True},
    {"text": "5", "many": "True"},
    {"text": "5", "many": '"5"'},
    {"text": "5", "many": '"5" apples'},
    {"text": "x", "list": ["a", "b"]},
    {"text": "x", "list": "[a, b]"},
    {"text": "x", "list": '["a"]'},
    {"text": "x", "any": {"a": [1, {"b": None}]}},
    {"text": "x", "any": '{"a": 1}'},
    {"text": "x", "any": -0.5},
    {"text": "x", "any": "-0.5"},
    {"text": "x", "n": 1e21, "flag": False, "none": None, "user-id": -3},
    {"text": "x", "nested": {"a": 'quo"te', "b": [1, 2]}},
    {"text": "x", "kind": "null"},
    {"text": "x", "kind": "1"},
    {"text": "x", "kind": 1},
    {"text": "x", "kind": None},
    {"text": "x", "kind": "a", "n": 2},
    {"text": "x", "more": "1", "other": 1},
    {"code": "007", "text": "order does not matter", "short": "日本🎈"},
]
WRONG: list[dict[str, Any]] = [
    {},
    {"n": 1},
    {"text": "x", "code": "07"},
    {"text": "x", "short": "123456"},
    {"text": "x", "flag": "yes"},
    {"text": "x", "n": "a"},
    {"text": "x", "kind": "b"},
    {"text": "x", "kind": "a"},
    {"text": "x", "none": "none"},
    {"text": "x", "nested": {"b": []}},
    {"text": "x", "user-id": 1.5},
]


def written(fmt: Format, *arguments: Any) -> str:
    calls = [("set", json.dumps(each, ensure_ascii=False)) for each in arguments]
    return fmt.write_calls(calls, 0, members_of([TOOL], fmt.spelling))


def read_back(fmt: Format, pieces: str | list[str], reason: Any = "stop") -> list[Any]:
    events = read(fmt, pieces, tools=[TOOL], reason=reason)
    assert not any(isinstance(event, Text) for event in events)
    assert events[-1] == Finished("tool_calls")
    return [json.loads(event.arguments) for event in events if isinstance(event, CallFinished)]


def same(left: Any, right: Any) -> bool:
    """Equal as JSON: ``1`` is not ``True``."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@every_format
def test_cases(fmt: Format) -> None:
    grammar = tool_grammar([TOOL], "required", True, fmt)
    for case in CASES:
        text = written(fmt, case)
        assert accepts(grammar, text), text
        assert same(read_back(fmt, text), [case]), text
        assert same(read_back(fmt, list(text)), [case]), text
        assert merged(read(fmt, list(text), tools=[TOOL])) == merged(read(fmt, text, tools=[TOOL]))


@every_format
def test_wrong_arguments_cannot_be_written(fmt: Format) -> None:
    grammar = tool_grammar([TOOL], "required", True, fmt)
    for case in WRONG:
        assert not accepts(grammar, written(fmt, case)), case


@every_format
def test_a_member_comes_once(fmt: Format) -> None:
    grammar = tool_grammar([TOOL], "required", True, fmt)
    for key in ("text", "n", "maybe"):
        value = '"x"' if key != "n" else "1"
        twice = fmt.write_call("set", f'{{"text": "x", "{key}": {value}, "{key}": {value}}}', 0, TOOL.compiled.members)
        assert not accepts(grammar, twice)


@every_format
def test_every_cut(fmt: Format) -> None:
    text = written(
        fmt, CASES[5], {"text": "x", "many": '"5"', "any": [1, "2"], "list": "x[", "maybe": "null!"}, CASES[0]
    )
    for reason in ("stop", "length"):
        whole = merged(read(fmt, text, tools=[TOOL], reason=reason))
        for cut in range(len(text) + 1):
            assert merged(read(fmt, [text[:cut], text[cut:]], tools=[TOOL], reason=reason)) == whole, cut


@every_format
def test_the_budget_ends_an_answer_anywhere(fmt: Format) -> None:
    calls = [("set", json.dumps(case)) for case in (CASES[5], CASES[-2])]
    text, ends = fmt.write_calls(calls), arguments_end(fmt, calls)
    for cut in range(len(text)):
        events = read(fmt, text[:cut], tools=[TOOL], reason="length")
        assert events[-1] == Finished("length")
        assert sum(isinstance(event, CallFinished) for event in events) == sum(cut >= end for end in ends)
        assert not any(isinstance(event, Text) for event in events)


@every_format
def test_strings_arrive_as_they_are_written(fmt: Format) -> None:
    """A long string is not held back, also where it could be something else."""
    for key in ("text", "maybe", "many", "any"):
        text = written(fmt, {"text": "x", key: "word " * 100})
        seen = read(fmt, [text[: len(text) // 2]], tools=[TOOL], reason="length")
        assert len("".join(getattr(event, "fragment", "") for event in seen)) > 150, key


def wander(fmt: Format, start: LLMatcher, rng: random.Random, steps: int = 60) -> str | None:
    """A random text of the grammar, made of markup, names and values as well as of single bytes; ``None`` when it did
    not come to an end. Bytes alone would never find the end of a raw string."""
    names = [*PROPERTIES, "more", "a", "b"]
    ends = [*markup(fmt)[1:], *required(fmt), "}", "]", '"', "0", "7", "1", "true", "null"]
    made = b""
    for step in range(4 * steps):
        if start.is_stopped() or (start.is_accepting() and (step > steps or rng.random() < 0.3)):
            return made.decode()
        # A fifth of the steps, and all when it is to end, go to what ends things.
        tries = ends if step > steps or rng.random() < 0.2 else [*markup(fmt), *names, "word", "12", "é🎈", "\\u00e9"]
        pieces = [piece.encode() for piece in rng.sample(tries, len(tries))]
        found = next((piece for piece in pieces if start.validate_tokens([*piece]) == len(piece)), b"")
        if not found:
            mask = start.compute_bitmask()
            found = bytes([rng.choice([byte for byte in range(256) if mask[byte // 8] >> byte % 8 & 1])])
        assert start.consume_tokens([*found]), start.get_error()
        made += found
    return None


@every_format
def test_walks(fmt: Format) -> None:
    """Whatever the grammar writes is read as valid arguments, and written again it is read as the same."""
    rng = random.Random(fmt.name)
    done = 0
    grammar = tool_grammar([TOOL], "required", False, fmt)
    for _ in range(24):
        text = wander(fmt, matcher(grammar.cfg.definition), rng)
        if text is None:
            continue
        (arguments,) = read_back(fmt, text)
        assert TOOL.compiled.validate(arguments) == [], text
        again = written(fmt, arguments)
        assert same(read_back(fmt, again), [arguments]), text
        assert accepts(grammar, again), text
        done += 1
    assert done > 8


def required(fmt: Format) -> list[str]:
    """The member that has to be there, in front of others and behind them."""
    member = write_arguments(fmt.spelling, '{"text": "w"}', None).removeprefix("{").removesuffix("}")
    return [member, f", {member}", f"\n{member}"]


def markup(fmt: Format) -> list[str]:
    spelling = fmt.spelling
    marks = {
        Tags: lambda s: [s.key_open, s.to_string, s.to_other, s.close, s.close[:-1], s.close.strip()],
        Quoted: lambda s: [s.quote, s.quote[:-1], s.quote[1:]],
        Keywords: lambda s: ["=", ", ", ")", "\\'", "\\"],
    }[type(spelling)](spelling)
    return [
        *marks,
        text_behind_arguments(fmt.call),
        fmt.marker,
        "null",
        "True",
        "1",
        '"',
        "'",
        "{",
        "[",
        "]",
        "}",
        ":",
        ",",
        "\n",
        " ",
    ]


def can_be_written(fmt: Format, value: Any, kinds: Any = None) -> bool:
    match value:
        case str():
            if isinstance(fmt.spelling, Tags):
                # Without `kinds` the string is inside of JSON, or in quotes.
                return (kinds != {"string"} and not fmt.spelling.tells_strings) or tag_strings(
                    fmt.spelling, kinds
                ).contains(value)
            return not isinstance(fmt.spelling, Quoted) or quoted_strings(fmt.spelling).contains(value)
        case list():
            return isinstance(fmt.spelling, Tags) or all(can_be_written(fmt, each) for each in value)
    return True


@every_format
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_render_then_read_is_the_identity(fmt: Format, data: st.DataObject) -> None:
    """Over strings full of markup, in members of every kind; and the grammar writes all of it."""
    strings = st.lists(st.sampled_from(markup(fmt)) | st.text(max_size=3), max_size=6).map("".join)
    numbers = st.integers(-10, 10**6) | st.sampled_from([0.5, -2.25, 1e-5])
    arguments = {"text": data.draw(strings)}
    optional: dict[str, st.SearchStrategy[Any]] = {
        "maybe": strings | st.none(),
        "many": strings | st.integers(-10, 10) | st.booleans(),
        "list": strings | st.lists(strings, max_size=2),
        "any": strings | numbers | st.booleans() | st.none() | st.lists(numbers | strings, max_size=2),
        "n": numbers,
        "more": strings | st.integers(-10, 10),
    }
    arguments |= data.draw(st.fixed_dictionaries({}, optional=optional))
    members = members_of([TOOL], fmt.spelling)["set"]
    assume(all(can_be_written(fmt, value, members.kinds(key)) for key, value in arguments.items()))
    text = written(fmt, arguments)
    assert same(read_back(fmt, text), [arguments])
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    assert same(read_back(fmt, pieces), [arguments])
    assert accepts(tool_grammar([TOOL], "required", True, fmt), text)


@every_format
def test_history_takes_anything(fmt: Format) -> None:
    """Broken arguments stand as they are, and what could not have been written is written all the same."""
    assert '{"a": "x' in fmt.write_call("set", '{"a": "x')
    assert "5" in fmt.write_call("set", "5")
    odd = fmt.write_call("set", json.dumps({"text": "".join(markup(fmt)), "a b\nc": {"x": 1}}))
    assert "\n" in odd or fmt.spelling == Keywords()


@every_format
def test_a_schema_that_the_format_cannot_write_is_refused(fmt: Format) -> None:
    name = {"type": "object", "properties": {'a\n>:="x': {"type": "string"}}, "required": ['a\n>:="x']}
    with pytest.raises(SchemaError) as refused:
        spelled([tool(name)], fmt.spelling)
    if not isinstance(fmt.spelling, Quoted):
        assert refused.value.path == '/properties/a\n>:="x'
    optional = spelled([tool(name | {"required": []})], fmt.spelling)[0].compiled
    assert [narrowing.keyword for narrowing in optional.narrowings] == ["properties"]
    forbidden = {Tags: lambda s: s.close, Quoted: lambda s: s.quote}.get(type(fmt.spelling))
    if forbidden is not None:
        const = {"type": "object", "properties": {"a": {"const": f"x{forbidden(fmt.spelling)}"}}, "required": ["a"]}
        with pytest.raises(SchemaError, match="call format") as refused:
            spelled([tool(const)], fmt.spelling)
        assert refused.value.path == "/properties/a"
