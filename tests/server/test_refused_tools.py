"""One tool whose schema is refused: it fails the request, or is left out when the operator says so."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.stub import StubEngine, call, say, serve

GOOD = {"type": "function", "function": {"name": "good", "parameters": {"type": "object", "properties": {}}}}
BAD = {
    "type": "function",
    "function": {"name": "bad", "parameters": {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}},
}
HEADER = "x-strictcall-omitted-tools"


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def allowed(mode: str, *names: str) -> dict[str, Any]:
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [named(name) for name in names]}}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("choice", ["auto", "required", named("good"), allowed("required", "good", "bad")])
def test_it_is_left_out_and_said(stream: bool, choice: Any) -> None:
    with serve(StubEngine(), refused_tools="omit") as stub:
        stub.engine.script = say(call("good", "{}"))
        response = stub.chat(tools=[BAD, GOOD], tool_choice=choice, stream=stream)
        assert response.status_code == 200
        assert response.headers[HEADER] == "bad"
        assert "good" in response.text
        grammar = stub.engine.asked[0].grammar
        assert grammar is not None
        assert "bad" not in grammar
        assert "bad" not in stub.engine.asked[0].prompt_text


@pytest.mark.parametrize("choice", [named("bad"), allowed("required", "bad")])
def test_a_request_that_insists_on_it_is_refused(choice: Any) -> None:
    with serve(StubEngine(), refused_tools="omit") as stub:
        response = stub.chat(tools=[BAD, GOOD], tool_choice=choice)
        assert response.status_code == 400
        assert response.json()["error"]["param"] == "tools[0].function.parameters"
        assert stub.chat(tools=[BAD], tool_choice="required").status_code == 400
        assert not stub.engine.asked


def test_when_none_is_left_the_model_talks() -> None:
    with serve(StubEngine(), refused_tools="omit") as stub:
        stub.engine.script = say("Hello")
        response = stub.chat(tools=[BAD], tool_choice=allowed("auto", "bad"))
        assert response.json()["choices"][0]["message"]["content"] == "Hello"
        assert response.headers[HEADER] == "bad"


def test_it_fails_the_request_otherwise() -> None:
    with serve(StubEngine()) as stub:
        response = stub.chat(tools=[GOOD, BAD], tool_choice="auto")
        assert response.status_code == 400
        error = response.json()["error"]
        assert error["param"] == "tools[1].function.parameters"
        assert error["code"] == "invalid_function_parameters"
        assert "/properties/a" in error["message"]
