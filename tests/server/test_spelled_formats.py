"""Formats whose arguments are no JSON text, through the whole server: clients see JSON, checked and streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from decoding.formats import Format, get
from tests.decoding.support import accepts
from tests.server.stub import TOOLS, Stub, StubEngine, say, serve
from tests.server.test_stream_bytes import calls, split

FORMATS = ["qwen_xml", "glm_47", "deepseek_v32", "llama_pythonic", "gemma"]
CALLS = [("weather", '{"city": "Rome \\"5\\"\\n"}'), ("now", "{}"), ("weather", '{"days": 2, "city": "7"}')]


@pytest.fixture(scope="module", params=FORMATS)
def served(request: pytest.FixtureRequest) -> Iterator[tuple[Format, Stub]]:
    with serve(StubEngine(), tool_format=request.param) as stub:
        yield get(request.param), stub


def test_calls_reach_the_client_as_json(served: tuple[Format, Stub]) -> None:
    fmt, stub = served
    text = fmt.write_calls(CALLS)
    for size in (1, 7, 10_000):
        stub.engine.script = say(*split(text, size))
        choice = stub.chat(tools=TOOLS).json()["choices"][0]
        assert choice["finish_reason"] == "tool_calls"
        made = [(each["function"]["name"], each["function"]["arguments"]) for each in choice["message"]["tool_calls"]]
        assert made == CALLS
        assert not choice["message"]["content"]
        streamed = calls(stub.frames(tools=TOOLS))
        assert [(each["name"], each["arguments"]) for each in streamed.values()] == CALLS
    grammar = stub.engine.asked[-1].grammar
    assert grammar is not None
    assert accepts(grammar, text)


def test_a_cut_call_is_shown_as_far_as_it_came(served: tuple[Format, Stub]) -> None:
    fmt, stub = served
    text = fmt.write_calls(CALLS[:1])
    stub.engine.script = say(*split(text, 3))
    choice = stub.chat(tools=TOOLS, max_tokens=text.index("Rome") + 3).json()["choices"][0]
    assert choice["finish_reason"] == "length"
    assert not choice["message"].get("tool_calls")
    assert choice["message"]["incomplete_tool_call"]["arguments"] == '{"city": "Rom'


def test_what_cannot_be_written_is_refused_with_its_place(served: tuple[Format, Stub]) -> None:
    _, stub = served
    parameters = {"type": "object", "properties": {"a\nb=:": {"type": "string"}}, "required": ["a\nb=:"]}
    response = stub.chat(tools=[{"type": "function", "function": {"name": "odd", "parameters": parameters}}])
    assert response.status_code == 400
    error = response.json()["error"]
    assert "call format" in error["message"]
    assert error["param"].startswith("tools")


def test_wrong_arguments_do_not_pass(served: tuple[Format, Stub]) -> None:
    """The check at the end is made on the JSON: an engine that ignores the grammar is found out."""
    fmt, stub = served
    stub.engine.script = say(fmt.write_calls([("weather", json.dumps({"days": 1}))]))
    response = stub.chat(tools=TOOLS)
    assert response.status_code >= 500
    assert "tool_calls" not in response.text
