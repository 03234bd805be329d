"""Llama 3's calls are JSON, as answers with ``response_format`` are: under ``auto`` both can be had, and told apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.decoding.support import accepts
from tests.server.stub import TOOLS, Stub, StubEngine, say, serve

CALL = '{"name": "weather", "parameters": {"city":"Rome"}}'
LIKE_A_CALL = ['{"name": "weather", "parameters": {"city":1}}', '{"name": "now", "arguments": {"x":1}}']
#: (the schema, answers of it, texts that are none)
SCHEMAS: dict[str, tuple[Any, list[str], list[str]]] = {
    "any object": (None, ["{}", '{"a":1}', '{"name": "Ann"}', '{"name": "now", "n": 1}'], ["[]", "1"]),
    "an open object": (
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        ['{"a":1}', '{"name": "now", "a": 1}'],
        ["{}", '{"a":"x"}'],
    ),
    "a name": (
        {"properties": {"name": {"type": "string"}}, "required": ["name"], "type": "object"},
        ['{"name": "weather"}', '{"name": "x", "more": {"parameters": {}}}'],
        ['{"name": 1}'],
    ),
    "definitions of draft 7": (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"n": {"$ref": "#/definitions/n"}, "next": {"$ref": "#"}},
            "definitions": {"n": {"type": "integer"}},
        },
        ['{"n":1,"next":{"n":2}}', '{"next": {"name": "now", "parameters": {}}}'],
        ['{"n":"x"}', '{"next":{"n":"x"}}'],
    ),
}


@pytest.fixture(scope="module")
def llama() -> Iterator[Stub]:
    with serve(StubEngine(), tool_format="llama_json") as stub:
        yield stub


def wanted(schema: Any) -> dict[str, Any]:
    if schema is None:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}


@pytest.mark.parametrize("name", SCHEMAS)
def test_answers_and_calls(llama: Stub, name: str) -> None:
    schema, answers, others = SCHEMAS[name]
    for _ in range(2):  # compiled, then at hand
        for answer in answers:
            llama.engine.script = say(answer)
            choice = llama.chat(tools=TOOLS, response_format=wanted(schema)).json()["choices"][0]
            assert (choice["message"]["content"], choice["finish_reason"]) == (answer, "stop")
        llama.engine.script = say(CALL)
        choice = llama.chat(tools=TOOLS, response_format=wanted(schema)).json()["choices"][0]
        assert choice["finish_reason"] == "tool_calls"
        assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"city": "Rome"}
    grammar = llama.engine.asked[-1].grammar
    assert grammar is not None
    assert [text for text in (*answers, CALL) if not accepts(grammar, text)] == []
    assert [text for text in (*others, *LIKE_A_CALL) if accepts(grammar, text)] == []


@pytest.mark.parametrize("choice", ["none", "required"])
def test_other_choices_leave_the_schema_as_it_is(llama: Stub, choice: str) -> None:
    llama.engine.script = say('{"name": "now", "arguments": 1}' if choice == "none" else CALL)
    response = llama.chat(tools=TOOLS, tool_choice=choice, response_format={"type": "json_object"})
    assert response.status_code == 200
    grammar = llama.engine.asked[-1].grammar
    assert grammar is not None
    assert accepts(grammar, LIKE_A_CALL[0]) == (choice == "none")
    assert accepts(grammar, CALL)


def test_where_every_answer_looks_like_a_call_there_are_calls(llama: Stub) -> None:
    schema = {"type": "object", "required": ["name", "arguments"]}
    llama.engine.script = say(CALL)
    choice = llama.chat(tools=TOOLS, response_format=wanted(schema)).json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    grammar = llama.engine.asked[-1].grammar
    assert grammar is not None
    assert not any(accepts(grammar, text) for text in (*LIKE_A_CALL, '{"name": "x", "arguments": 1}'))


def test_a_schema_that_is_refused_is_refused_where_it_stands(llama: Stub) -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}
    response = llama.chat(tools=TOOLS, response_format=wanted(schema))
    assert response.status_code == 400
    assert "at /properties/a, keyword '$ref'" in response.json()["error"]["message"]
