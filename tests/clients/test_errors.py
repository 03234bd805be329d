"""The error table, row by row, as the OpenAI SDK sees it: exception class, status, type, param, code, message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx2
import openai
import pytest
from openai import OpenAI

from tests.clients.asking import WEATHER, user, wires

CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TOOL = WEATHER.wire()


def tool(**function: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f"} | function}


def with_schema(**properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": sorted(properties)}
    return {"tools": [tool(parameters=schema)], "tool_choice": "required"}


@dataclass(frozen=True, slots=True)
class Row:
    """A request's fault and what must be answered. ``param``/``code`` of ``...``: only that the field is named."""

    body: dict[str, Any]
    param: Any
    code: Any = None
    says: str = ""
    status: int = 400
    raises: type[openai.APIStatusError] = field(default=openai.BadRequestError)


ANY_CODE: Any = ...
MANY_TOOLS = [tool(name=f"f{i}") for i in range(129)]
SELF = {"$ref": "#/$defs/n", "$defs": {"n": {"$ref": "#/$defs/n"}}}

ROWS: dict[str, Row] = {
    "unknown model": Row({"model": "nothing"}, "model", "model_not_found", "nothing", 404, openai.NotFoundError),
    "no tools in the list": Row({"tools": []}, "tools", "empty_array"),
    "too many tools": Row({"tools": MANY_TOOLS}, "tools", "array_above_max_length", "128"),
    "bad function name": Row({"tools": [tool(name="a b")]}, "tools[0].function.name", "invalid_value", "pattern"),
    "long function name": Row({"tools": [tool(name="a" * 65)]}, "tools[0].function.name", ANY_CODE, "64"),
    "empty function name": Row({"tools": [tool(name="")]}, "tools[0].function.name", ANY_CODE),
    "two tools of one name": Row({"tools": [tool(), tool()]}, "tools[1].function.name", ANY_CODE, "'f'"),
    "bad function name in the history": Row(
        {
            "messages": [
                {"role": "assistant", "tool_calls": [CALL | {"function": {"name": "a b", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "call_1", "content": "x"},
            ]
        },
        "messages[0].tool_calls[0].function.name",
        "invalid_value",
    ),
    "tool_choice object without tools": Row(
        {"tool_choice": {"type": "function", "function": {"name": "f"}}}, "tool_choice", None, "only allowed when"
    ),
    "required without tools": Row({"tool_choice": "required"}, "tool_choice", None, "only allowed when"),
    "named tool that is not offered": Row(
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "other"}}},
        "tool_choice",
        None,
        "other",
    ),
    "allowed tool that is not offered": Row(
        {
            "tools": [TOOL],
            "tool_choice": {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "other"}}]},
            },
        },
        ...,
        ANY_CODE,
        "other",
    ),
    "unknown tool_choice": Row({"tools": [TOOL], "tool_choice": "always"}, "tool_choice", ANY_CODE),
    "a call left unanswered": Row(
        {"messages": [{"role": "assistant", "tool_calls": [CALL]}, {"role": "user", "content": "go on"}]},
        ...,
        None,
        "call_1",
    ),
    "an orphan tool message": Row(
        {"messages": [{"role": "tool", "tool_call_id": "call_9", "content": "x"}]}, ..., None, "tool_calls"
    ),
    "unsatisfiable schema": Row(
        with_schema(a={"allOf": [{"type": "string"}, {"type": "integer"}]}),
        "tools[0].function.parameters",
        "invalid_function_parameters",
        "unsatisfiable",
    ),
    "unresolvable $ref": Row(
        with_schema(a={"$ref": "#/$defs/nowhere"}),
        "tools[0].function.parameters",
        "invalid_function_parameters",
        "#/$defs/nowhere",
    ),
    "remote $ref": Row(
        with_schema(a={"$ref": "https://example.com/schema.json"}),
        "tools[0].function.parameters",
        "invalid_function_parameters",
        "https://example.com/schema.json",
    ),
    "a schema that refers to itself only": Row(
        with_schema(a=SELF), "tools[0].function.parameters", "invalid_function_parameters"
    ),
    "parameters that are no schema": Row(
        {"tools": [tool(parameters={"type": "objekt"})]}, "tools[0].function.parameters", "invalid_function_parameters"
    ),
    "parameters that can be no object": Row(
        {"tools": [tool(parameters={"type": "string"})]}, "tools[0].function.parameters", "invalid_function_parameters"
    ),
    "parameters that are a string": Row({"tools": [tool(parameters="{}")]}, "tools[0].function.parameters", ANY_CODE),
    "a strict schema outside the subset": Row(
        {"tools": [tool(strict=True, parameters={"type": "object", "properties": {"a": {"$ref": "#/nope"}}})]},
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    "an unusable response_format schema": Row(
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SELF}}},
        "response_format",
        ANY_CODE,
    ),
    "unknown response_format": Row({"response_format": {"type": "xml"}}, ..., ANY_CODE, "xml"),
    "too long for the context": Row(
        {"messages": user("word " * 60_000)}, "messages", "context_length_exceeded", "context"
    ),
    "stream_options without stream": Row({"stream_options": {"include_usage": True}}, "stream_options", ANY_CODE),
    "top_logprobs without logprobs": Row({"top_logprobs": 2}, "top_logprobs", ANY_CODE),
    "too many top_logprobs": Row({"logprobs": True, "top_logprobs": 21}, "top_logprobs", ANY_CODE),
    "temperature out of range": Row({"temperature": 2.5}, "temperature", ANY_CODE),
    "wrong type of a number": Row({"max_tokens": "many"}, "max_tokens", ANY_CODE),
    "wrong type of the messages": Row({"messages": "hello"}, "messages", ANY_CODE),
    "no messages": Row({"messages": []}, "messages", ANY_CODE),
    "unknown role": Row({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role", ANY_CODE),
    "a user without content": Row({"messages": [{"role": "user"}]}, "messages[0].content", ANY_CODE),
    "an image": Row(
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, ..., ANY_CODE
    ),
    "n of zero": Row({"n": 0}, "n", ANY_CODE),
    "five stops": Row({"stop": list("abcde")}, "stop", ANY_CODE),
    "max_tokens of zero": Row({"max_tokens": 0}, "max_tokens", ANY_CODE),
    "logit_bias beyond its range": Row({"logit_bias": {"1": 101}}, ..., ANY_CODE),
    "logit_bias of no token": Row({"logit_bias": {"9999999": 1}}, ..., ANY_CODE),
    "another server's constraint field": Row({"guided_json": {"type": "object"}}, "guided_json", ANY_CODE),
    "a grammar field": Row({"grammar": "root ::= x"}, "grammar", ANY_CODE),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", ROWS)
def test_row(sdk: OpenAI, model: str, name: str, stream: bool) -> None:
    row = ROWS[name]
    body: dict[str, Any] = {"model": model, "messages": user("Hello"), "max_tokens": 4} | row.body
    if stream and name != "stream_options without stream":
        body["stream"] = True
    with pytest.raises(row.raises) as caught:
        sdk.post("/chat/completions", body=body, cast_to=object)
    error = caught.value
    assert error.status_code == row.status
    assert isinstance(error.body, dict)
    assert set(error.body) == {"message", "type", "param", "code"}
    assert error.type == "invalid_request_error"
    assert error.request_id
    assert row.says in error.body["message"]
    assert len(error.body["message"]) > 10
    if row.param is not ...:
        assert error.param == row.param
    else:
        assert error.param
    if row.code is not ...:
        assert error.code == row.code


@pytest.mark.parametrize("key", ["wrong", ""])
def test_bad_key(server: str, running_server: Any, key: str) -> None:
    if running_server.key == "none":
        pytest.skip("the server under test asks for no key")
    with (
        OpenAI(base_url=f"{server}/v1", api_key=key or "x", max_retries=0) as sdk,
        pytest.raises(openai.AuthenticationError) as caught,
    ):
        sdk.models.list(extra_headers={} if key else {"authorization": ""})
    assert caught.value.code == "invalid_api_key"
    assert caught.value.type == "invalid_request_error"


RAW: dict[str, tuple[bytes, str]] = {
    "not JSON": (b'{"model": ', "application/json"),
    "two values": (b"{} {}", "application/json"),
    "an array": (b"[]", "application/json"),
    "a string": (b'"hello"', "application/json"),
    "nothing": (b"", "application/json"),
    "NaN": (b'{"model": "m", "messages": [], "temperature": NaN}', "application/json"),
    "not UTF-8": (b'{"model": "\xff"}', "application/json"),
    "deeply nested": (b'{"model": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "application/json"),
    "nothing in it": (b"{}", "application/json"),
}


def assert_openai_error(response: httpx2.Response, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"message", "type", "param", "code"}
    assert isinstance(body["error"]["message"], str)
    return dict(body["error"])


@pytest.mark.parametrize("name", RAW)
def test_bodies_that_are_no_request(http: httpx2.Client, name: str) -> None:
    content, kind = RAW[name]
    response = http.post("/v1/chat/completions", content=content, headers={"content-type": kind})
    assert_openai_error(response, 400)


def test_a_body_over_the_limit(http: httpx2.Client, model: str) -> None:
    content = b'{"model": "x", "messages": [{"role": "user", "content": "' + b"a" * (8 * 1024 * 1024) + b'"}]}'
    response = http.post("/v1/chat/completions", content=content, headers={"content-type": "application/json"})
    assert_openai_error(response, 413)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/nothing", 404), ("GET", "/v1/chat/completions", 405), ("GET", "/v1/models/nothing", 404)],
)
def test_paths_that_are_not_there(http: httpx2.Client, method: str, path: str, status: int) -> None:
    assert_openai_error(http.request(method, path), status)


def test_what_is_lenient_is_taken(sdk: OpenAI, model: str) -> None:
    """Clients send these without tools, or with null; refusing them would help nobody."""
    body: dict[str, Any] = {"model": model, "messages": user("Hi"), "max_tokens": 1}
    for extra in (
        {"tool_choice": "auto"},
        {"tool_choice": "none"},
        {"parallel_tool_calls": True},
        {"tools": None, "stop": None, "seed": None, "temperature": None, "response_format": None, "stream": None},
        {"user": "u", "metadata": {"a": "b"}, "store": False, "service_tier": "auto", "a_field_of_tomorrow": 1},
    ):
        assert sdk.post("/chat/completions", body=body | extra, cast_to=object)


def test_good_requests_go_on_after_bad_ones(sdk: OpenAI, model: str) -> None:
    answer = sdk.chat.completions.create(
        model=model, messages=user(WEATHER.prompt), tools=wires((WEATHER,)), tool_choice="required", max_tokens=60
    )
    assert answer.choices[0].finish_reason in ("tool_calls", "length")
