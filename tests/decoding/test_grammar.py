"""The answer's grammar: what each tool_choice mode lets through, byte by byte."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from decoding import CallFinished, CallStarted, Finished, Format, Text, ToolChoice, json_grammar, tool_from_wire
from decoding import tool_grammar as grammar_of
from decoding.formats import get
from decoding.grammar import any_object
from schemas import SchemaError, compile_schema
from schemas.sample import matcher, walk
from tests.decoding.support import FIND, FIND_ALL, FORMATS, PING, TOOLS, WIRE, accepts, ends_after, merged, read, wire

every_format = pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)

TRICKY = '{"q":"} ] <tool_call> \\" \\\\ 日本"}'


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def calls(fmt: Format) -> tuple[str, str, str]:
    return fmt.write_call("ping", "{}"), fmt.write_call("find", TRICKY), fmt.write_call("find-all_2", '{"n":12}')


@every_format
def test_auto(fmt: Format) -> None:
    grammar = grammar_of(WIRE, "auto", True, fmt.name)
    ping, find, many = calls(fmt)
    for text in (
        "",
        "Just text.",
        f"Half a marker: {fmt.marker[:-1]}",
        f"a\n{fmt.marker[:-1]}",
        ping,
        find,
        f"Text.\n{many}",
        f"{ping}\nText.",
        f"{ping}{fmt.separator}{find}",
        f"{ping}\n\n{find}\n{many}",
        f"a\n{ping}\nb\n{find}\nc",
    ):
        assert accepts(grammar, text), text
    for text in (
        f"a\n{fmt.marker}",
        f"a\n{fmt.marker}{fmt.marker}",
        f"{fmt.opening}pong",
        fmt.write_call("pong", "{}"),
        fmt.write_call("ping", '{"q":"x"}'),
        fmt.write_call("find", "{}"),
        fmt.write_call("find", '{"n":1}'),
        fmt.write_call("find", '{"q":1}'),
        fmt.write_call("find-all_2", TRICKY),
        f"{ping}\nb\n{fmt.marker} c",
        find[:-1],
    ):
        assert not accepts(grammar, text), text


@every_format
def test_auto_without_parallel_calls(fmt: Format) -> None:
    """d2: exactly one call is possible, and generation ends with it."""
    grammar = grammar_of(WIRE, "auto", False, fmt)
    ping, find, _ = calls(fmt)
    for text in ("", "Just text.", ping, f"Text.\n{find}"):
        assert accepts(grammar, text), text
    for text in (f"{ping}{fmt.separator}{find}", f"{ping}\nText.", f"a\n{ping}\n"):
        assert not accepts(grammar, text), text
    assert ends_after(grammar, ping)
    assert ends_after(grammar, f"Text.\n{find}")


@every_format
def test_required(fmt: Format) -> None:
    """No way out of a call; one call only where parallel is off."""
    many, one = (grammar_of(WIRE, "required", parallel, fmt) for parallel in (True, False))
    ping, find, last = calls(fmt)
    for grammar in (many, one):
        assert accepts(grammar, ping)
        assert accepts(grammar, find)
        for text in ("", "Text.", f"Text.\n{ping}", f" {ping}", f"\n{ping}", f"{ping}\nText.", f"{ping} ", fmt.marker):
            assert not accepts(grammar, text), text
    assert accepts(many, fmt.separator.join([ping, find, last, ping]))
    assert not accepts(many, f"{ping}{fmt.separator * 3 or ' '}{find}")
    assert not accepts(one, f"{ping}{fmt.separator}{find}")
    assert ends_after(one, ping)


@every_format
def test_named_and_allowed_tools(fmt: Format) -> None:
    """d1, d5: only what was chosen can be called."""
    ping, find, many = calls(fmt)
    one = grammar_of(WIRE, named("find"), True, fmt)
    assert accepts(one, find)
    assert not accepts(one, f"{find}{fmt.separator}{find}")
    assert ends_after(one, find)
    assert not any(accepts(one, text) for text in ("", "Text.", ping, many, f"{find}{fmt.separator}{ping}"))
    for mode in ("auto", "required"):
        allowed = {"mode": mode, "tools": [named("ping"), named("find-all_2")]}
        some = grammar_of(WIRE, {"type": "allowed_tools", "allowed_tools": allowed}, True, fmt)
        assert accepts(some, ping)
        assert accepts(some, f"{many}{fmt.separator}{many}")
        assert not accepts(some, find)
        assert accepts(some, "Text.") == (mode == "auto")


@every_format
def test_none(fmt: Format) -> None:
    """Text, and no call in it."""
    grammar = grammar_of(WIRE, "none", True, fmt)
    assert accepts(grammar, "")
    assert accepts(grammar, f"Text, {fmt.marker[:-1]}\n\n日本 🎈")
    assert not any(accepts(grammar, text) for text in (*calls(fmt), f"a\n{calls(fmt)[0]}"))


@every_format
def test_no_arguments_are_exactly_an_empty_object(fmt: Format) -> None:
    """d8: a tool that declares nothing gets ``{}`` and no white space."""
    grammar = grammar_of([PING], named("ping"), False, fmt)
    assert accepts(grammar, fmt.write_call("ping", "{}"))
    for arguments in ("{ }", "{\n}", '{"a":1}', " {}"):
        assert not accepts(grammar, fmt.write_call("ping", arguments))


@every_format
def test_first(fmt: Format) -> None:
    """Sampling a call again: it is this tool's, nothing stands before it, and the rest is as before."""
    ping, find, many = calls(fmt)
    auto = grammar_of(TOOLS, "auto", True, fmt, first="find")
    assert all(
        accepts(auto, text) for text in (find, f"{find}\nText.", f"{find}{fmt.separator}{ping}", f"{find}\na\n{many}")
    )
    assert not any(accepts(auto, text) for text in ("", "Text.", f"Text.\n{find}", ping, f"{ping}\n{find}"))
    one = grammar_of(TOOLS, "auto", False, fmt, first="find")
    assert accepts(one, find)
    assert ends_after(one, find)
    required = grammar_of(TOOLS, "required", True, fmt, first="find")
    assert accepts(required, f"{find}{fmt.separator}{ping}")
    assert not accepts(required, f"{find}\nText.")
    with pytest.raises(ValueError, match="pong"):
        grammar_of(TOOLS, "auto", True, fmt, first="pong")


@every_format
def test_response_format(fmt: Format) -> None:
    """d10: under auto the answer is calls or JSON text, under required calls, under none JSON text."""
    response = compile_schema({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
    ping, find, _ = calls(fmt)
    auto = grammar_of(TOOLS, "auto", True, fmt, response=response)
    assert all(accepts(auto, text) for text in ('{"a":1}', ping, f"{ping}{fmt.separator}{find}"))
    assert not any(accepts(auto, text) for text in ("", "Text.", "{}", f'{{"a":1}}\n{ping}', f"{ping}\nText."))
    assert not accepts(grammar_of(TOOLS, "auto", False, fmt, response=response), f"{ping}{fmt.separator}{find}")
    assert not accepts(grammar_of(TOOLS, "required", True, fmt, response=response), '{"a":1}')
    none = grammar_of(TOOLS, "none", True, fmt, response=response)
    assert accepts(none, '{"a":1}')
    assert not accepts(none, ping)


@pytest.mark.parametrize("calls_alone", [False, True])
def test_a_json_answer_beside_calls_that_are_json(calls_alone: bool) -> None:
    """d10: both can be had where one can be told from the other; nothing but its tool's schema holds a call."""
    fmt = get("llama_json")
    text = {"type": "string"}
    schema: dict[str, Any] = {"type": "object", "properties": {"name": text, "a": {}}}
    response = compile_schema(schema if calls_alone else schema | {"additionalProperties": False})
    grammar = grammar_of(TOOLS, "auto", True, fmt, response=response)
    for answer in ('{"name": "ping"}', '{"name":"other","a":{"parameters":1}}', '{"a": [], "name": "find"}'):
        assert accepts(grammar, answer) is not calls_alone
        assert merged(read(fmt, list(answer))) == [Text(answer), Finished("stop")]
    for name, arguments in (("ping", "{}"), ("find", TRICKY)):
        for key in ("parameters", "arguments"):
            assert accepts(grammar, f'{{"name": "{name}", "{key}": {arguments}}}')
    assert accepts(grammar, fmt.write_calls([("find", TRICKY), ("ping", "{}")]))
    for broken in ('{"name": "ping", "parameters": {"q":1}}', '{"name": "find", "parameters": {}}', "{", "Text."):
        assert not accepts(grammar, broken)


def test_json_grammar() -> None:
    assert accepts(json_grammar(), '{"a":[1,"x",null]}')
    assert not any(accepts(json_grammar(), text) for text in ("", "[]", "1", "Text.", "{} {}"))
    assert accepts(json_grammar(compile_schema({"type": "array", "items": {"type": "integer"}})), "[1,2]")
    assert any_object() is any_object()


@pytest.mark.parametrize("fmt", [fmt for fmt in FORMATS if fmt.reasoning], ids=lambda fmt: fmt.name)
def test_reasoning(fmt: Format) -> None:
    """d4: free until it closes, and only then the call, which it cannot open."""
    assert fmt.reasoning is not None
    ping, find, _ = calls(fmt)
    required = grammar_of(TOOLS, "required", False, fmt, True)
    for text in (f"{fmt.reasoning.open}\nHm {find}\n{fmt.reasoning.close}\n\n{ping}", f"Hm{fmt.reasoning.close}{ping}"):
        assert accepts(required, text), text
    assert not accepts(required, ping)
    assert not accepts(required, f"Hm{fmt.reasoning.close}\n\nText.")
    auto = grammar_of(TOOLS, "auto", True, fmt, True)
    assert accepts(auto, f"Hm{fmt.reasoning.close}\n\nText.\n{ping}")


@every_format
@pytest.mark.parametrize("mode", ["auto", "required"])
@pytest.mark.parametrize("parallel", [True, False])
def test_what_the_grammar_writes_the_reader_reads(fmt: Format, mode: str, parallel: bool) -> None:
    """Random walks through the grammar: every call is whole, of an offered tool and valid; no markup is content."""
    tools = [
        *TOOLS,
        tool_from_wire(
            wire("set", {"on": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}}})
        ),
    ]
    grammar = grammar_of(tools, mode, parallel, fmt)
    compiled = {tool.name: tool.compiled for tool in tools}
    rng = random.Random(f"{fmt.name} {mode} {parallel}")
    made = 0
    for _ in range(25):
        start = matcher(grammar.cfg.definition)
        lead = fmt.opening if mode == "auto" and rng.random() < 0.7 else ""
        assert start.consume_tokens(list(lead.encode()))
        text = lead + walk(start, rng, budget=60).text.decode(errors="ignore")
        if not accepts(grammar, text):
            continue  # the walk was given up in the middle
        events = merged(read(fmt, text, tools=tools))
        started = [event for event in events if isinstance(event, CallStarted)]
        finished = [event for event in events if isinstance(event, CallFinished)]
        assert [event.index for event in finished] == [event.index for event in started] == list(range(len(started)))
        for begun, done in zip(started, finished, strict=True):
            assert compiled[begun.name].validate(json.loads(done.arguments)) == []
        content = "".join(event.text for event in events if isinstance(event, Text))
        assert fmt.opening not in content
        assert events[-1] == Finished("tool_calls" if started else "stop")
        assert mode == "auto" or (started and not content)
        assert parallel or len(started) <= 1
        made += len(started)
    assert made > 10


def test_names_that_begin_alike() -> None:
    tools = [wire("get"), wire("get_all", {"q": {"type": "string"}}), wire("get_all_now"), wire("ge")]
    for fmt in FORMATS:
        grammar = grammar_of(tools, "auto", True, fmt)
        assert accepts(grammar, fmt.write_call("get", "{}"))
        assert accepts(grammar, fmt.write_call("get_all", '{"q":""}'))
        assert accepts(grammar, fmt.write_call("get_all_now", "{}"))
        assert not accepts(grammar, fmt.write_call("get_all", "{}"))


@every_format
def test_every_legal_name(fmt: Format) -> None:
    names = ["a", "A-b_C-9", "0", "_", "-", "x" * 64, "ns.tool", "a/b:c"]
    grammar = grammar_of([wire(name) for name in names], "required", False, fmt)
    for name in names:
        text = fmt.write_call(name, "{}")
        assert accepts(grammar, text)
        assert merged(read(fmt, text, tools=[tool_from_wire(wire(name))]))[0] == CallStarted(0, "id", name)


@every_format
def test_128_tools(fmt: Format) -> None:
    tools = [tool_from_wire(wire(f"tool_{n}", {f"p{n}": {"type": "integer"}})) for n in range(128)]
    grammar = grammar_of(tools, "auto", True, fmt)
    assert accepts(grammar, fmt.write_call("tool_127", '{"p127":1}'))
    assert not accepts(grammar, fmt.write_call("tool_127", '{"p126":1}'))


def test_several_self_contained_grammars_with_parametric_rules() -> None:
    """Rule names of the tools' grammars never meet, and parametric rules work inside."""
    grammar = """start: "{" m::0x0 "}"
m::_ : "" %if is_ones([0:2]) | "x" m::set_bit(0) %if bit_clear(0) | "y" m::set_bit(1) %if bit_clear(1)"""
    for fmt in FORMATS:
        tools = [
            type(tool)(tool.name, "", {}, None, type(tool.compiled)(schema={}, grammar=grammar)) for tool in TOOLS[:2]
        ]
        both = grammar_of(tools, "auto", True, fmt)
        assert accepts(both, f"{fmt.write_call('ping', '{xy}')}\n{fmt.write_call('find', '{yx}')}")
        assert not accepts(both, fmt.write_call("ping", "{xx}"))


def test_key_and_cache() -> None:
    same = [grammar_of(WIRE, "auto", True, "hermes") for _ in range(2)]
    assert same[0] is same[1]
    others = [
        grammar_of(WIRE, "required"),
        grammar_of(WIRE, "auto", False),
        grammar_of(WIRE[:2], "auto"),
        grammar_of(WIRE, "auto", True, "prompted"),
        grammar_of(WIRE, "auto", first="find"),
    ]
    assert len({grammar.key for grammar in (same[0], *others)}) == 1 + len(others)
    assert grammar_of(list(map(tool_from_wire, WIRE)), ToolChoice("auto"), True, "hermes").key == same[0].key


def test_residue_is_told_per_tool() -> None:
    unique = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    grammar = grammar_of([PING, wire("tag", {"tags": unique})], "auto")
    assert "ping" not in grammar.residue
    assert [residue.keyword for residue in grammar.residue["tag"]] == ["uniqueItems"]


def test_choices_that_cannot_be_met() -> None:
    with pytest.raises(ValueError, match="pong"):
        grammar_of(WIRE, named("pong"))
    with pytest.raises(ValueError, match="no tool"):
        grammar_of([], "required")
    with pytest.raises(ValueError, match="tool_choice"):
        grammar_of(WIRE, "any")
    with pytest.raises(ValueError, match="prompted"):
        grammar_of([FIND, FIND_ALL], "auto", True, "unknown")
    with pytest.raises(SchemaError):
        grammar_of([{"type": "function", "function": {"name": "x", "parameters": {"type": "string"}}}])
