"""An engine that breaks the contract: nothing invalid is ever shown as complete."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from schemas import CompiledSchema, Residue, compile_schema
from schemas.spelling import JSON, Spelling
from server.compiler import as_written
from server.undeclared import undeclared_key
from tests.server.stub import TOOLS, Stub, StubEngine, call, chunks, in_turn, say, serve
from tests.server.test_stream_bytes import calls, deltas, split

GOOD = call("weather", '{"city": "Rome"}')
WRONG_TYPE = call("weather", '{"city": 5}')
TWICE = call("weather", '{"city": "Rome", "city": "Oslo"}')
NAN = call("weather", '{"city": "Rome", "days": NaN}')
HUGE = call("weather", '{"city": "Rome", "days": 1e999}')
SURROGATE = call("weather", '{"city": "\\ud800"}')
BROKEN = [WRONG_TYPE, TWICE, SURROGATE, HUGE, call("weather", "{}")]
UNIQUE = {
    "type": "function",
    "function": {
        "name": "pick",
        "parameters": {
            "type": "object",
            "properties": {"ids": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}},
            "required": ["ids"],
            "additionalProperties": False,
        },
    },
}
SAME = call("pick", '{"ids": [1, 1]}')
DIFFERENT = call("pick", '{"ids": [1, 2]}')


class ResidueCompiler:
    """Compiles like the real one; a schema that speaks of uniqueItems is wider than it says."""

    async def compile(
        self, source: Any, undeclared: Any, prepare: Any = as_written, spelling: Spelling = JSON
    ) -> CompiledSchema:
        schema = prepare(source)
        text = json.dumps(schema)
        if "uniqueItems" not in text:
            return compile_schema(schema, undeclared=undeclared, spelling=spelling)
        wider = compile_schema(
            json.loads(text.replace("uniqueItems", "title").replace(": true", ': "x"')),
            undeclared=undeclared,
            spelling=spelling,
        )
        residue = [Residue("/properties/ids", "uniqueItems", "checked after generation")]
        return replace(wider, schema=schema, residue=residue)

    def at_hand(self, sources: Any, undeclared: Any, prepare: Any = as_written, spelling: Spelling = JSON) -> None:
        return None

    async def try_grammar(self, grammar: str) -> None:
        pass

    async def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def module_stub() -> Iterator[Stub]:
    with serve(StubEngine(), max_retries=2) as stub:
        stub.app.state.serving.compiler = ResidueCompiler()
        yield stub


@pytest.fixture
def checked(module_stub: Stub) -> Stub:
    module_stub.engine.asked.clear()
    return module_stub


def counters(stub: Stub) -> tuple[float, float]:
    return stub.metric("strictcall_guarantee_violations_total"), stub.metric("strictcall_resampled_calls_total")


@pytest.mark.parametrize("broken", BROKEN)
def test_whole_answers_are_sampled_again(checked: Stub, broken: str) -> None:
    before = counters(checked)
    checked.engine.script = in_turn(["Sure.\n", broken], [GOOD, "\nDone."])
    answer = checked.chat(tools=TOOLS, temperature=0).json()
    choice = answer["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert [c["function"]["arguments"] for c in choice["message"]["tool_calls"]] == ['{"city": "Rome"}']
    assert choice["message"]["content"].startswith("Sure.")
    assert counters(checked) == (before[0] + 1, before[1] + 1)
    first, second = checked.engine.asked
    assert second.prompt_text == first.prompt_text + "Sure.\n", "the text before the call is kept"
    assert second.sampling.temperature > 0, "greedy sampling would give the same call again"
    assert second.grammar != first.grammar
    spent = len("Sure.\n") + len(broken)
    assert second.sampling.max_tokens <= first.sampling.max_tokens - spent
    assert answer["usage"]["prompt_tokens"] == len(first.prompt)
    assert answer["usage"]["completion_tokens"] >= spent + len(GOOD)


def test_whole_answers_end_with_500_when_nothing_helps(checked: Stub) -> None:
    before = counters(checked)
    checked.engine.script = say(WRONG_TYPE)
    response = checked.chat(tools=TOOLS)
    assert response.status_code == 500
    error = response.json()["error"]
    assert (error["type"], error["code"]) == ("server_error", "guarantee_violation")
    assert "weather" in error["message"]
    assert counters(checked) == (before[0] + 3, before[1] + 2)


def test_seeded_retries_are_reproducible_and_differ(checked: Stub) -> None:
    checked.engine.script = say(WRONG_TYPE)
    checked.chat(tools=TOOLS, seed=7, temperature=1)
    seeds = [asked.sampling.seed for asked in checked.engine.asked]
    assert len(set(seeds)) == 3
    checked.engine.asked.clear()
    checked.chat(tools=TOOLS, seed=7, temperature=1)
    assert [asked.sampling.seed for asked in checked.engine.asked] == seeds


@pytest.mark.parametrize("broken", BROKEN)
def test_streamed_arguments_that_turn_out_invalid_end_in_an_error(checked: Stub, broken: str) -> None:
    before = counters(checked)
    checked.engine.script = say(*split(broken, 1))
    response = checked.chat(tools=TOOLS, stream=True)
    frames = chunks(response.content, done=False)
    assert frames[-1]["error"]["code"] == "guarantee_violation"
    assert all(c["finish_reason"] is None for f in frames[:-1] for c in f["choices"])
    assert counters(checked) == (before[0] + 1, before[1])


def test_streamed_call_of_which_nothing_was_sent_is_sampled_again(checked: Stub) -> None:
    checked.engine.script = in_turn([WRONG_TYPE], [GOOD])
    frames = checked.frames(tools=TOOLS, logprobs=True)
    assert calls(frames)[0]["name"] == "weather"
    assert calls(frames)[0]["arguments"] == '{"city": "Rome"}'
    assert frames[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_a_call_of_a_tool_that_is_not_offered(checked: Stub) -> None:
    """With an offered subset, the rest is text for the reader; a call is required and none was made."""
    checked.engine.script = say(call("now", "{}"))
    choice = {"type": "function", "function": {"name": "weather"}}
    response = checked.chat(tools=TOOLS, tool_choice=choice)
    assert response.status_code == 500
    frames = chunks(checked.chat(tools=TOOLS, tool_choice=choice, stream=True).content, done=False)
    assert frames[-1]["error"]["code"] == "guarantee_violation"


def test_required_without_a_call(checked: Stub) -> None:
    """c5: never ``tool_calls`` without a call."""
    checked.engine.script = in_turn(["Just talk."], [GOOD])
    message = checked.chat(tools=TOOLS, tool_choice="required").json()["choices"][0]["message"]
    assert message["content"] is None, "the first attempt's text is gone"
    assert message["tool_calls"][0]["function"]["arguments"] == '{"city": "Rome"}'
    checked.engine.script = say("Just ", "talk.")
    raw = checked.chat(tools=TOOLS, tool_choice="required", stream=True).content
    assert chunks(raw, done=False)[-1]["error"]["code"] == "guarantee_violation"


def test_a_second_call_where_one_is_allowed(checked: Stub) -> None:
    checked.engine.script = say(GOOD, "\n", GOOD)
    response = checked.chat(tools=TOOLS, parallel_tool_calls=False)
    assert response.status_code == 500
    checked.engine.script = say(GOOD)
    assert checked.chat(tools=TOOLS, parallel_tool_calls=False).status_code == 200


def test_a_model_that_stops_inside_a_call(checked: Stub) -> None:
    half = GOOD[: GOOD.index("Rome") + 2]
    checked.engine.script = in_turn([half], [GOOD])
    message = checked.chat(tools=TOOLS).json()["choices"][0]["message"]
    assert "incomplete_tool_call" not in message
    assert message["tool_calls"][0]["function"]["arguments"] == '{"city": "Rome"}'
    checked.engine.script = say(*split(half, 5))
    frames = chunks(checked.chat(tools=TOOLS, stream=True).content, done=False)
    assert frames[-1]["error"]["code"] == "guarantee_violation"


def test_checked_tools_are_held_back_and_sampled_again(checked: Stub) -> None:
    """A residue is no violation: the call is sampled again and the client sees one valid call."""
    before = counters(checked)
    checked.engine.script = in_turn(split(GOOD + "\n" + SAME, 3), split(SAME, 3), split(DIFFERENT, 3))
    frames = checked.frames(tools=[*TOOLS, UNIQUE], temperature=0)
    found = calls(frames)
    assert [found[n]["name"] for n in (0, 1)] == ["weather", "pick"]
    assert found[1]["arguments"] == '{"ids": [1, 2]}'
    assert len([d for d in deltas(frames) for p in d.get("tool_calls", ()) if "id" in p]) == 2
    assert frames[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert counters(checked) == (before[0], before[1] + 2)
    assert len(checked.engine.asked) == 3
    assert checked.engine.asked[1].prompt_text.endswith(GOOD + "\n")
    assert checked.engine.asked[2].prompt_text == checked.engine.asked[1].prompt_text
    assert len({asked.request_id for asked in checked.engine.asked}) == 3
    temperatures = [asked.sampling.temperature for asked in checked.engine.asked]
    assert temperatures == sorted(set(temperatures))


def test_a_retry_that_calls_another_tool(checked: Stub) -> None:
    """The name that the client has seen stays; the grammar sees to that, and the gate to the grammar."""
    checked.engine.script = in_turn(split(SAME, 4), split(GOOD, 4))
    frames = chunks(checked.chat(tools=[*TOOLS, UNIQUE], stream=True).content, done=False)
    assert frames[-1]["error"]["code"] == "guarantee_violation"


def test_checked_tools_that_never_come_right(checked: Stub) -> None:
    checked.engine.script = say(*split(SAME, 4))
    frames = chunks(checked.chat(tools=[UNIQUE], stream=True).content, done=False)
    assert frames[-1]["error"]["code"] == "guarantee_violation"
    assert "pick" in frames[-1]["error"]["message"]
    parts = [p for d in deltas(frames[:-1]) for p in d.get("tool_calls", ())]
    assert all(p["function"]["arguments"] == "" for p in parts), "not one byte of invalid arguments"
    assert checked.chat(tools=[UNIQUE]).status_code == 500
    assert len(checked.engine.asked) == 6


def test_retries_share_the_token_budget(checked: Stub) -> None:
    checked.engine.script = say(*split(SAME, 4))
    answer = checked.chat(tools=[UNIQUE], max_tokens=len(SAME) + 10).json()
    assert answer["choices"][0]["finish_reason"] == "length"
    assert "tool_calls" not in answer["choices"][0]["message"]
    assert answer["choices"][0]["message"]["incomplete_tool_call"]["name"] == "pick"
    assert answer["usage"]["completion_tokens"] == len(SAME) + 10
    frames = checked.frames(tools=[UNIQUE], max_tokens=len(SAME) + 10)
    assert frames[-1]["choices"][0]["finish_reason"] == "length"


def test_a_cut_checked_call_shows_what_there_was(checked: Stub) -> None:
    checked.engine.script = say(*split(DIFFERENT, 4))
    cut = DIFFERENT.index("2")
    frames = checked.frames(tools=[UNIQUE], max_tokens=cut)
    assert frames[-1]["choices"][0]["finish_reason"] == "length"
    assert calls(frames)[0]["arguments"] == '{"ids": [1, '
    message = checked.chat(tools=[UNIQUE], max_tokens=cut).json()["choices"][0]["message"]
    assert message["incomplete_tool_call"] == {"name": "pick", "arguments": '{"ids": [1, '}


FORMAT = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "required": ["a"]}}}


def test_json_answers_are_checked_too(checked: Stub) -> None:
    checked.engine.script = in_turn(['{"b": 1}'], ['{"a": 1, "a": 2}'], ['{"a": 1}'])
    choice = checked.chat(response_format=FORMAT).json()["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ('{"a": 1}', "stop")
    checked.engine.script = say('{"b"', ": 1}")
    assert checked.chat(response_format=FORMAT).status_code == 500
    frames = chunks(checked.chat(response_format=FORMAT, stream=True).content, done=False)
    assert frames[-1]["error"]["code"] == "guarantee_violation"
    checked.engine.script = say('{"b"', ": 1}")
    cut = checked.chat(response_format=FORMAT, max_tokens=4).json()["choices"][0]
    assert (cut["message"]["content"], cut["finish_reason"]) == ('{"b"', "length")


def test_json_answers_with_residue_are_held_back(checked: Stub) -> None:
    schema = {"type": "object", "properties": {"ids": {"type": "array", "uniqueItems": True}}, "required": ["ids"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    checked.engine.script = in_turn(split('{"ids": [1, 1]}', 3), split('{"ids": [1, 2]}', 3))
    frames = checked.frames(response_format=wanted)
    assert "".join(d.get("content", "") for d in deltas(frames)) == '{"ids": [1, 2]}'


def test_repeated_free_names_are_no_fault_where_every_reading_is_valid(checked: Stub) -> None:
    parameters = {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "integer"}}
    free = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    twice = '{"x": 1, "x": 2, "y": 3}'
    checked.engine.script = say(*split(call("f", twice), 4))
    assert calls(checked.frames(tools=[free]))[0]["arguments"] == twice
    for broken in ('{"x": 1, "x": "2"}', '{"x": "1", "x": 2}', '{"a": 1, "a": 2}'):
        checked.engine.script = say(call("f", broken))
        assert checked.chat(tools=[free]).status_code == 500, broken


OBJECT = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}}}}


def test_undeclared_keys_are_a_violation(checked: Stub) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": OBJECT}}
    checked.engine.script = in_turn([call("f", '{"a": {"c": 1}}')], [call("f", '{"a": {"b": 1}}')])
    made = checked.chat(tools=[tool]).json()["choices"][0]["message"]["tool_calls"]
    assert made[0]["function"]["arguments"] == '{"a": {"b": 1}}'


@pytest.mark.parametrize(
    ("schema", "value", "fault"),
    [
        (OBJECT, {"a": {"b": 1}}, None),
        (OBJECT, {"a": {"c": 1}}, "/a/c"),
        (OBJECT, {"x/y~": 1}, "/x~1y~0"),
        ({"type": "object"}, {"x": 1}, None),
        (OBJECT | {"additionalProperties": True}, {"x": 1}, None),
        (OBJECT | {"patternProperties": {"^x": {}}}, {"x": 1, "y": 2}, "/y"),
        (OBJECT | {"allOf": [{"properties": {"x": {}}}]}, {"x": 1, "y": 2}, "/y"),
        (OBJECT | {"anyOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": {"properties": {"x": {}}}}}, {"x": 1}, None),
        (OBJECT | {"$ref": "other.json"}, {"x": 1}, None),
        ({"properties": {"l": {"items": OBJECT}}}, {"l": [{"a": {}}, {"x": 1}]}, "/l/1/x"),
        ({"properties": {"t": {"$ref": "#"}}}, {"t": {"t": {"u": 1}}}, "/t/t/u"),
        (OBJECT | {"required": ["x"]}, {"x": 1, "y": 2}, "/y"),
        (OBJECT | {"dependencies": {"a": ["x"]}}, {"x": 1, "y": 2}, "/y"),
        (OBJECT | {"dependentRequired": {"a": ["x"]}}, {"x": 1, "y": 2}, "/y"),
        (OBJECT | {"enum": [{"x": 1}]}, {"x": 1, "y": 2}, "/y"),
        (OBJECT | {"then": {"additionalProperties": False}}, {"x": 1}, None),
        ({"not": OBJECT}, {"x": 1}, None),
        ({"properties": {"l": {"contains": OBJECT}}}, {"l": [{"x": 1}]}, None),
        ({"if": OBJECT, "then": {}}, {"x": 1}, None),
        ({"anyOf": [OBJECT, {"type": "object"}]}, {"x": 1}, None),
        ({"anyOf": [OBJECT, {"type": ["string", "null"]}]}, {"x": 1}, "/x"),
        ({"oneOf": [OBJECT, {"$ref": "#/$defs/x"}], "$defs": {"x": {"properties": {"y": {}}}}}, {"x": 1}, "/x"),
        ({"anyOf": [{"$ref": "#"}, OBJECT]}, {"x": 1}, None),
        ({"properties": {"a": OBJECT}, "additionalProperties": {}}, {"a": {"x": 1}, "b": {"x": 1}}, "/a/x"),
        ({"anyOf": [{"properties": {"a": OBJECT}}, {"properties": {"a": {}}}]}, {"a": {"x": 1}}, None),
    ],
)
def test_the_search_for_undeclared_keys(schema: dict[str, Any], value: Any, fault: str | None) -> None:
    assert undeclared_key(schema, value) == fault
