"""What holds in every format: grammar, reader and rendering agree on the same calls."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest

from decoding import CallFinished, CallStarted, Finished, Format, Reader, Text, tool_from_wire, tool_grammar
from schemas import compile_schema
from schemas.sample import matcher, walk
from tests.decoding.support import ALL_FORMATS, TOOLS, accepts, arguments_end, call, ends_after, merged, read, wire

every_format = pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda fmt: fmt.name)

PING = ("ping", "{}")
FIND = ("find", '{"q": "} ] <tool_call> [TOOL_CALLS] <｜tool▁calls▁end｜> \\" \\\\ 日本"}')
MANY = ("find-all_2", '{"n": 12}')


def text_before(fmt: Format, calls: list[tuple[str, str]]) -> str:
    return fmt.write_answer("Let me see.", calls)


@every_format
def test_calls_alone(fmt: Format) -> None:
    auto, required = (tool_grammar(TOOLS, mode, True, fmt) for mode in ("auto", "required"))
    for calls in ([PING], [FIND], [PING, FIND], [FIND, PING, MANY], [PING, PING]):
        text = fmt.write_calls(calls)
        assert accepts(auto, text)
        assert accepts(required, text)
        expected = [event for index, each in enumerate(calls) for event in call(index, *each)]
        assert merged(read(fmt, text)) == [*expected, Finished("tool_calls")]


@every_format
def test_text(fmt: Format) -> None:
    auto, required = (tool_grammar(TOOLS, mode, True, fmt) for mode in ("auto", "required"))
    for text in ("", "Hello.", "日本 🎈\n", f"a {fmt.marker[:-1]}", "{}", "[]", '{"a": 1}'):
        written = fmt.write_answer(text, [])
        # Where answers that begin with the marker are calls, no other answer can begin with it.
        begins = fmt.marker_at == "answer" and text.startswith(fmt.marker)
        assert accepts(auto, written) is not begins, text
        assert not accepts(required, written), text
        assert begins or (
            merged(read(fmt, written)) == merged(read(fmt, text)) == [*([Text(text)] if text else []), Finished("stop")]
        )


@every_format
def test_text_before_calls(fmt: Format) -> None:
    text = text_before(fmt, [PING, FIND])
    if fmt.marker_at == "answer":
        assert merged(read(fmt, text)) == [Text(text), Finished("stop")]
        return
    assert accepts(tool_grammar(TOOLS, "auto", True, fmt), text)
    expected = [Text("Let me see."), *call(0, *PING), *call(1, *FIND), Finished("tool_calls")]
    assert merged(read(fmt, text)) == expected


@every_format
def test_any_cut_gives_the_same_events(fmt: Format) -> None:
    answers = [fmt.write_calls([FIND, PING, MANY]), text_before(fmt, [PING, FIND]), f"{fmt.write_calls([PING])}\nDone."]
    for text, reason in itertools.product(answers, ("stop", "length")):
        whole = merged(read(fmt, text, reason=reason))
        for cut in range(len(text) + 1):
            assert merged(read(fmt, [text[:cut], text[cut:]], reason=reason)) == whole, cut
        assert merged(read(fmt, list(text), reason=reason)) == whole


@every_format
def test_one_call(fmt: Format) -> None:
    for mode in ("auto", "required"):
        grammar = tool_grammar(TOOLS, mode, False, fmt)
        assert accepts(grammar, fmt.write_calls([FIND]))
        assert not accepts(grammar, fmt.write_calls([FIND, PING]))
        assert ends_after(grammar, fmt.write_calls([FIND]) + (fmt.text.end if fmt.text else ""))


@every_format
def test_named_and_allowed_tools(fmt: Format) -> None:
    """d1, d5: what was chosen is called, and nothing else."""
    find, ping = fmt.write_calls([FIND]), fmt.write_calls([PING])
    end = fmt.text.end if fmt.text else ""
    named = tool_grammar(TOOLS, {"type": "function", "function": {"name": "find"}}, True, fmt)
    assert accepts(named, find)
    assert ends_after(named, find + end)
    others = ("", "Hello.", ping, fmt.write_calls([MANY]), fmt.write_calls([FIND, FIND]), fmt.write_answer("No.", []))
    assert not any(accepts(named, text) for text in others)
    for mode in ("auto", "required"):
        chosen = {
            "mode": mode,
            "tools": [{"type": "function", "function": {"name": name}} for name in ("ping", MANY[0])],
        }
        allowed = tool_grammar(TOOLS, {"type": "allowed_tools", "allowed_tools": chosen}, True, fmt)
        assert accepts(allowed, fmt.write_calls([PING, MANY]))
        assert not accepts(allowed, find)
        assert not accepts(allowed, fmt.write_calls([PING, FIND]))
        assert accepts(allowed, fmt.write_answer("Hello.", [])) == (mode == "auto")


@every_format
def test_no_arguments_and_the_end(fmt: Format) -> None:
    """d8: a tool that declares nothing gets nothing, no white space either, and the answer is over."""
    grammar = tool_grammar(TOOLS[:1], {"type": "function", "function": {"name": "ping"}}, True, fmt)
    text = fmt.write_calls([PING])
    assert accepts(grammar, text)
    assert ends_after(grammar, text + (fmt.text.end if fmt.text else ""))
    assert not accepts(grammar, fmt.write_calls([("ping", '{"a": 1}')]))
    assert not accepts(grammar, text + " " * 20)


@every_format
def test_strict_changes_nothing(fmt: Format) -> None:
    """a17: arguments are held to the schema whether or not the client wrote ``strict``."""
    tools = [wire("find", {"q": {"type": "string"}}) for _ in range(3)]
    for tool, strict in zip(tools[1:], (True, False), strict=True):
        tool["function"]["strict"] = strict
    for mode in ("auto", "required"):
        assert len({tool_grammar([tool], mode, True, fmt).cfg.definition for tool in tools}) == 1


@every_format
def test_response_format(fmt: Format) -> None:
    """d10: under auto the answer is calls or that JSON, under required calls, under none that JSON."""
    closed = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    response = compile_schema(closed | {"additionalProperties": False})
    auto, required, none = (
        tool_grammar(TOOLS, mode, True, fmt, response=response) for mode in ("auto", "required", "none")
    )

    def said(text: str) -> str:
        # Marks around text that are no tokens stand around free text only.
        return text if fmt.text else fmt.write_answer(text, [])

    calls = fmt.write_calls([PING, FIND])
    assert [accepts(grammar, said('{"a":1}')) for grammar in (auto, required, none)] == [True, False, True]
    assert [accepts(grammar, calls) for grammar in (auto, required, none)] == [True, True, False]
    for text in ("", "Hello.", "{}", '{"a":"x"}', '{"a":1} and more'):
        assert not any(accepts(grammar, said(text)) for grammar in (auto, required, none)), text
    assert not accepts(auto, fmt.write_calls([("ping", '{"q": 1}')]))


@every_format
@pytest.mark.parametrize(
    ("schema", "texts"),
    [
        ({"type": "array"}, ["[]", "[1]", '[{"name": "ping"}]', '[["ping", true], null]']),
        ({"type": ["string", "boolean"]}, ['""', '"[TOOL"', "true", "false"]),
        ({"type": ["null", "number"]}, ["null", "-1", "1.5"]),
    ],
    ids=["array", "string", "number"],
)
def test_responses_of_other_kinds(fmt: Format, schema: dict[str, Any], texts: list[str]) -> None:
    """What begins like a call of some format is a response all the same, and calls remain."""
    grammar = tool_grammar(TOOLS, "auto", True, fmt, response=compile_schema(schema))
    for text in texts:
        assert accepts(grammar, text if fmt.text else fmt.write_answer(text, [])), text
    assert accepts(grammar, fmt.write_calls([FIND, PING]))


@every_format
def test_first(fmt: Format) -> None:
    grammar = tool_grammar(TOOLS, "auto", True, fmt, first="find")
    assert accepts(grammar, fmt.write_calls([FIND]))
    assert accepts(grammar, fmt.write_calls([FIND, PING]))
    assert not any(accepts(grammar, text) for text in ("", "Hello.", fmt.write_calls([PING, FIND])))


@every_format
def test_wrong_calls(fmt: Format) -> None:
    grammar = tool_grammar(TOOLS, "auto", True, fmt)
    for wrong in (
        ("pong", "{}"),
        ("ping", '{"q":"x"}'),
        ("find", "{}"),
        ("find-all_2", FIND[1]),
        ("find-all_2", '{"n":"x"}'),
    ):
        assert not accepts(grammar, fmt.write_calls([wrong]))
        assert not accepts(grammar, fmt.write_calls([PING, wrong]))


@every_format
def test_none(fmt: Format) -> None:
    grammar = tool_grammar(TOOLS, "none", True, fmt)
    assert accepts(grammar, fmt.write_answer("Hello.", []))
    assert not accepts(grammar, fmt.write_calls([PING]))


@every_format
def test_cut_by_the_budget(fmt: Format) -> None:
    """Complete calls are delivered, a cut one is not finished, no markup is content."""
    text = fmt.write_calls([PING, FIND])
    first, second = arguments_end(fmt, [PING, FIND])
    for cut in range(len(text) + 1):
        reader = Reader(fmt, TOOLS)
        events = merged([*reader.feed(text[:cut]), *reader.finish("length")])
        assert events[-1] == Finished("length")
        assert sum(isinstance(event, CallFinished) for event in events) == (cut >= first) + (cut >= second)
        assert not any(isinstance(event, Text) for event in events)


@every_format
def test_what_is_no_call_is_text(fmt: Format) -> None:
    for calls in ([("pong", "{}")], [("", "{}")], [("ping", "[]")]):
        text = fmt.write_calls(calls)
        whole = merged(read(fmt, text))
        assert whole == [Text(text), Finished("stop")]
        assert merged(read(fmt, list(text))) == whole


@every_format
def test_what_the_grammar_writes_the_reader_reads(fmt: Format) -> None:
    """Random walks: every call is whole, of an offered tool and valid; no opening is content."""
    tags = {"type": "array", "items": {"type": "string"}}
    tools = [*TOOLS, tool_from_wire(wire("set", {"on": {"type": "boolean"}, "tags": tags}))]
    compiled = {tool.name: tool.compiled for tool in tools}
    rng = random.Random(fmt.name)
    made = 0
    for mode, parallel in itertools.product(("auto", "required"), (True, False)):
        grammar = tool_grammar(tools, mode, parallel, fmt)
        for _ in range(8):
            start = matcher(grammar.cfg.definition)
            assert start.consume_tokens(list(fmt.opening.encode()))
            text = fmt.opening + walk(start, rng, budget=60).text.decode(errors="ignore")
            if not accepts(grammar, text):
                continue  # the walk was given up in the middle
            events = merged(read(fmt, text, tools=tools))
            started = [event for event in events if isinstance(event, CallStarted)]
            finished = [event for event in events if isinstance(event, CallFinished)]
            assert len(started) == len(finished) >= 1
            for begun, done in zip(started, finished, strict=True):
                assert compiled[begun.name].validate(json.loads(done.arguments)) == []
            assert not any(fmt.opening in event.text for event in events if isinstance(event, Text))
            assert events[-1] == Finished("tool_calls")
            made += len(started)
    assert made > 5
