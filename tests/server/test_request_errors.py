"""Every fault of a request, row by row: status, all four keys, and a ``param`` that names the field."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.stub import TOOLS, Stub, tokenizer

BAD_NAME = "string does not match pattern"
HI = {"role": "user", "content": "Hi"}


def function(name: str = "f", **fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name} | fields}


def asked(*calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)} | fields


def made(call_id: str = "a", name: str = "f", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id: str = "a", content: Any = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"$ref": "http://example.com/"}}}
    for _ in range(levels // 2 - 3):
        schema = {"properties": {"a": schema}}
    return schema


# (fields of the request, param, code, a piece of the message)
ROWS: dict[str, tuple[dict[str, Any], str | None, str | None, str]] = {
    # tools
    "tools empty": ({"tools": []}, "tools", "empty_array", "empty array"),
    "tools too many": (
        {"tools": [function(f"f{n}") for n in range(129)]}, "tools", "array_above_max_length", "129"),
    "tools not a list": ({"tools": {}}, "tools", "invalid_type", "array"),
    "tool not an object": ({"tools": [1]}, "tools[0]", "invalid_type", "object"),
    "tool without type": (
        {"tools": [{"function": {"name": "f"}}]}, "tools[0].type", "missing_required_parameter", "tools[0].type"),
    "tool of unknown type": ({"tools": [{"type": "web"}]}, "tools[0].type", "invalid_value", "web"),
    "tool without function": (
        {"tools": [{"type": "function"}]}, "tools[0].function", "missing_required_parameter", "function"),
    "custom tool": (
        {"tools": [{"type": "custom", "custom": {"name": "c"}}]}, "tools[0].type", "unsupported_tool_type", "Custom"),
    "name missing": (
        {"tools": [{"type": "function", "function": {}}]},
        "tools[0].function.name", "missing_required_parameter", "name"),
    "name bad": ({"tools": [function("a b")]}, "tools[0].function.name", "invalid_value", BAD_NAME),
    "name empty": ({"tools": [function("")]}, "tools[0].function.name", "invalid_value", BAD_NAME),
    "name with newline": ({"tools": [function("f\n")]}, "tools[0].function.name", "invalid_value", BAD_NAME),
    "name too long": (
        {"tools": [function("n" * 65)]}, "tools[0].function.name", "string_above_max_length", "64"),
    "name twice": ({"tools": [function(), function()]}, "tools[1].function.name", "duplicate_tool_name", "'f'"),
    "parameters wrong type": (
        {"tools": [function(parameters=[1])]}, "tools[0].function.parameters", "invalid_type", "object"),
    "strict wrong type": ({"tools": [function(strict="yes")]}, "tools[0].function.strict", "invalid_type", "bool"),
    "description wrong type": (
        {"tools": [function(description=5)]}, "tools[0].function.description", "invalid_type", "string"),
    "schema unsatisfiable root": (
        {"tools": [function(), function("g", parameters={"type": "string"})]},
        "tools[1].function.parameters", "invalid_function_parameters", "Invalid schema for function 'g'"),
    "schema with remote ref": (
        {"tools": [function(parameters={"type": "object", "properties": {"a": {"$ref": "http://example.com/x"}}})]},
        "tools[0].function.parameters", "invalid_function_parameters", "Invalid schema for function 'f'"),
    "schema no schema": (
        {"tools": [function(parameters={"type": "object", "properties": {"a": {"type": "strnig"}}})]},
        "tools[0].function.parameters", "invalid_function_parameters", "/properties/a"),
    "schema nested deeply": (
        {"tools": [function(parameters=nested(800))]},
        "tools[0].function.parameters", "invalid_function_parameters", "Invalid schema for function 'f'"),
    "schema nested less deeply": (
        {"tools": [function(parameters=nested(300))]},
        "tools[0].function.parameters", "invalid_function_parameters", "Invalid schema for function 'f'"),
    "response_format nested deeply": (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": nested(800)}}},
        "response_format", None, "Invalid schema for response_format"),
    # tool_choice
    "required without tools": (
        {"tool_choice": "required"}, "tool_choice", None, "only allowed when 'tools' are specified"),
    "named without tools": ({"tool_choice": function()}, "tool_choice", None, "only allowed when 'tools'"),
    "named not offered": (
        {"tools": TOOLS, "tool_choice": function("x")}, "tool_choice", None, "Tool choice 'x' not found in 'tools'"),
    "choice unknown word": ({"tools": TOOLS, "tool_choice": "any"}, "tool_choice", "invalid_value", "required"),
    "choice wrong type": ({"tools": TOOLS, "tool_choice": 5}, "tool_choice", "invalid_value", "tool_choice"),
    "choice without name": (
        {"tools": TOOLS, "tool_choice": {"type": "function", "function": {}}},
        "tool_choice.function.name", "missing_required_parameter", "name"),
    "choice of unknown type": (
        {"tools": TOOLS, "tool_choice": {"type": "tool"}}, "tool_choice.type", "invalid_value", "tool"),
    "choice custom": (
        {"tools": TOOLS, "tool_choice": {"type": "custom", "custom": {"name": "x"}}},
        "tool_choice", "unsupported_tool_type", "Custom"),
    "allowed not offered": (
        {"tools": TOOLS,
         "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [function("x")]}}},
        "tool_choice", None, "not found"),
    "allowed none": (
        {"tools": TOOLS, "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}},
        "tool_choice.allowed_tools.tools", "empty_array", "none"),
    "allowed bad mode": (
        {"tools": TOOLS, "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "none", "tools": []}}},
        "tool_choice.allowed_tools.mode", "invalid_value", "mode"),
    "allowed without tools": (
        {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [function()]}}},
        "tool_choice", None, "only allowed"),
    "parallel wrong type": ({"parallel_tool_calls": "no"}, "parallel_tool_calls", "invalid_type", "bool"),
    # messages
    "no messages": ({"messages": []}, "messages", "empty_array", "empty"),
    "messages null": ({"messages": None}, "messages", "invalid_type", "array"),
    "messages wrong type": ({"messages": "Hi"}, "messages", "invalid_type", "array"),
    "message wrong type": ({"messages": ["Hi"]}, "messages[0]", "invalid_type", "object"),
    "role missing": ({"messages": [{"content": "x"}]}, "messages[0].role", "missing_required_parameter", "role"),
    "role unknown": (
        {"messages": [HI, {"role": "bot", "content": "x"}]}, "messages[1].role", "invalid_value", "bot"),
    "content missing": (
        {"messages": [{"role": "user"}]}, "messages[0].content", "missing_required_parameter", "content"),
    "content null for user": (
        {"messages": [{"role": "user", "content": None}]}, "messages[0].content", "invalid_type", "string"),
    "content number": (
        {"messages": [{"role": "user", "content": 5}]}, "messages[0].content", "invalid_type", "string"),
    "part number": (
        {"messages": [{"role": "user", "content": ["x"]}]}, "messages[0].content[0]", "invalid_type", "object"),
    "part of unknown type": (
        {"messages": [{"role": "user", "content": [{"type": "x"}]}]},
        "messages[0].content[0].type", "invalid_value", "x"),
    "part without text": (
        {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
        "messages[0].content[0].text", "missing_required_parameter", "text"),
    "image": (
        {"messages": [{"role": "user", "content": [
            {"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "data:"}}]}]},
        "messages[0].content[1].type", "unsupported_content", "text only"),
    "image in tool result": (
        {"messages": [HI, asked(made()), result(content=[{"type": "image_url"}])]},
        "messages[2].content[0].type", "invalid_value", "text"),
    "assistant audio": (
        {"messages": [HI, {"role": "assistant", "audio": {"id": "x"}}]}, "messages[1].audio", None, "audio"),
    "name in history bad": (
        {"messages": [HI, HI, asked(made(name="a.b")), result()]},
        "messages[2].tool_calls[0].function.name", "invalid_value", BAD_NAME),
    "arguments in history a list": (
        {"messages": [HI, asked(made(arguments=[1])), result()]},
        "messages[1].tool_calls[0].function.arguments", "invalid_type", "string"),
    "call without id": (
        {"messages": [HI, asked({"type": "function", "function": {"name": "f", "arguments": "{}"}})]},
        "messages[1].tool_calls[0].id", "missing_required_parameter", "id"),
    "call id twice": (
        {"messages": [HI, asked(made(), made()), result()]}, "messages[1].tool_calls[1].id", None, "two calls"),
    "custom call in history": (
        {"messages": [HI, asked({"id": "a", "type": "custom", "custom": {"name": "x", "input": ""}})]},
        "messages[1].tool_calls[0].type", None, "Custom"),
    "unanswered call at the end": (
        {"messages": [HI, asked(made("a"), made("b")), result("a")]},
        "messages", None, "did not have response messages: b"),
    "unanswered call in between": (
        {"messages": [HI, asked(made("a")), HI]}, "messages", None, "must be followed by tool messages"),
    "orphan tool message": (
        {"messages": [HI, result()]}, "messages.[1].role", None, "must be a response to a preceeding message"),
    "tool message with another id": (
        {"messages": [HI, asked(made("a")), result("b")]}, "messages.[2].role", None, "must be a response"),
    "tool message without id": (
        {"messages": [HI, asked(made()), {"role": "tool", "content": "x"}]},
        "messages[2].tool_call_id", "missing_required_parameter", "tool_call_id"),
    # sampling
    "temperature high": ({"temperature": 2.1}, "temperature", "decimal_above_max_value", "2"),
    "temperature low": ({"temperature": -0.1}, "temperature", "decimal_below_min_value", "0"),
    "temperature string": ({"temperature": "1"}, "temperature", "invalid_type", "string"),
    "temperature bool": ({"temperature": True}, "temperature", "invalid_type", "boolean"),
    "top_p high": ({"top_p": 1.5}, "top_p", "decimal_above_max_value", "1"),
    "presence_penalty": ({"presence_penalty": 3}, "presence_penalty", "integer_above_max_value", "2"),
    "frequency_penalty": ({"frequency_penalty": -3}, "frequency_penalty", "integer_below_min_value", "-2"),
    "n zero": ({"n": 0}, "n", "integer_below_min_value", "1"),
    "n too many": ({"n": 129}, "n", "integer_above_max_value", "128"),
    "n float": ({"n": 1.5}, "n", "invalid_type", "integer"),
    "seed string": ({"seed": "7"}, "seed", "invalid_type", "integer"),
    "seed beyond 64 bits": ({"seed": 2**63}, "seed", "integer_above_max_value", "9223372036854775807"),
    "stop too many": ({"stop": list("abcde")}, "stop", "array_above_max_length", "4"),
    "stop number": ({"stop": 5}, "stop", "invalid_type", "string"),
    "stop empty": ({"stop": ""}, "stop", "string_below_min_length", "1"),
    "stop with a number": ({"stop": ["a", 5]}, "stop[1]", "invalid_type", "string"),
    "max_tokens zero": ({"max_tokens": 0}, "max_tokens", "integer_below_min_value", "1"),
    "max_tokens float": ({"max_tokens": 2.5}, "max_tokens", "invalid_type", "integer"),
    "max_tokens twice": ({"max_tokens": 2, "max_completion_tokens": 3}, "max_tokens", None, "differ"),
    "max_tokens over the context": (
        {"max_tokens": 5000}, "max_tokens", "context_length_exceeded", "maximum context length is 4096"),
    "max_completion_tokens over the context": (
        {"max_completion_tokens": 4096}, "max_completion_tokens", "context_length_exceeded", "4096"),
    "prompt over the context": (
        {"messages": [{"role": "user", "content": "x" * 4090}]}, "messages", "context_length_exceeded", "4112 tokens"),
    "prompt far over the context": (
        {"messages": [{"role": "user", "content": "x" * 10**6}]},
        "messages", "context_length_exceeded", "at the very least"),
    "tools far over": (
        {"tools": [function(description="x" * 10**6)]},
        "messages", "context_length_exceeded", "messages and tools have"),
    "top_logprobs alone": ({"top_logprobs": 2}, "top_logprobs", None, "logprobs"),
    "top_logprobs too many": (
        {"logprobs": True, "top_logprobs": 21}, "top_logprobs", "integer_above_max_value", "20"),
    "logprobs number": ({"logprobs": 5}, "logprobs", "invalid_type", "bool"),
    "logit_bias key": ({"logit_bias": {"x": 1}}, "logit_bias", "invalid_value", "'x'"),
    "logit_bias token": ({"logit_bias": {str(len(tokenizer())): 1}}, "logit_bias", "invalid_value", "0 to 255"),
    "logit_bias value": ({"logit_bias": {"5": 101}}, "logit_bias.5", "integer_above_max_value", "100"),
    "logit_bias key of many digits": ({"logit_bias": {"9" * 5000: 1}}, "logit_bias", "invalid_value", "token ids"),
    "top_k": ({"top_k": 2**31}, "top_k", "integer_above_max_value", "2147483647"),
    "repetition_penalty": ({"repetition_penalty": 1e-30}, "repetition_penalty", "decimal_below_min_value", "0.01"),
    "logit_bias list": ({"logit_bias": [1]}, "logit_bias", "invalid_type", "object"),
    # the rest
    "model missing": ({"model": None}, "model", "invalid_type", "string"),
    "stream string": ({"stream": "true"}, "stream", "invalid_type", "bool"),
    "stream_options alone": ({"stream_options": {"include_usage": True}}, "stream_options", None, "'stream'"),
    "stream_options type": (
        {"stream": True, "stream_options": {"include_usage": 1}},
        "stream_options.include_usage", "invalid_type", "bool"),
    "metadata too many": (
        {"metadata": {str(n): "" for n in range(17)}}, "metadata", "object_above_max_properties", "16"),
    "metadata value": ({"metadata": {"a": 1}}, "metadata.a", "invalid_type", "string"),
    "metadata value too long": ({"metadata": {"a": "x" * 513}}, "metadata.a", "string_above_max_length", "512"),
    "metadata key too long": ({"metadata": {"k" * 65: ""}}, "metadata." + "k" * 65, "string_above_max_length", "64"),
    "response_format type": ({"response_format": {"type": "xml"}}, "response_format.type", "invalid_value", "xml"),
    "response_format string": ({"response_format": "json"}, "response_format", "invalid_type", "object"),
    "json_schema missing": (
        {"response_format": {"type": "json_schema"}},
        "response_format.json_schema", "missing_required_parameter", "json_schema"),
    "json_schema without name": (
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}},
        "response_format.json_schema.name", "missing_required_parameter", "name"),
    "json_schema illegal": (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "strnig"}}}},
        "response_format", None, "Invalid schema for response_format"),
    "json_schema that refers to itself": (
        {"response_format": {"type": "json_schema", "json_schema": {
            "name": "x", "schema": {"$ref": "#/$defs/n", "$defs": {"n": {"$ref": "#/$defs/n"}}}}}},
        "response_format", None, "$ref"),
    "tool that refers to itself": (
        {"tools": [function(parameters={"$ref": "#/$defs/n", "$defs": {"n": {"$ref": "#/$defs/n"}}})]},
        "tools[0].function.parameters", "invalid_function_parameters", "$ref"),
    "guided_json": ({"guided_json": {"type": "object"}}, "guided_json", "unsupported_parameter", "response_format"),
    "structured_outputs": ({"structured_outputs": {}}, "structured_outputs", "unsupported_parameter", "tools"),
    "grammar": ({"grammar": "root ::= x"}, "grammar", "unsupported_parameter", "grammar"),
    "regex": ({"regex": "a+"}, "regex", "unsupported_parameter", "regex"),
    "choice": ({"choice": ["a"]}, "choice", "unsupported_parameter", "choice"),
    "functions": ({"functions": []}, "functions", "unsupported_parameter", "tools"),
    "function_call": ({"function_call": "auto"}, "function_call", "unsupported_parameter", "tool_choice"),
    "audio": ({"audio": {"voice": "x"}}, "audio", "unsupported_parameter", "audio"),
    "modalities": ({"modalities": ["text", "audio"]}, "modalities", "unsupported_parameter", "text"),
    "web_search_options": ({"web_search_options": {}}, "web_search_options", "unsupported_parameter", "search"),
    "service_tier": ({"service_tier": "gold"}, "service_tier", "invalid_value", "auto"),
    "reasoning_effort": ({"reasoning_effort": "huge"}, "reasoning_effort", "invalid_value", "low"),
    "safety_identifier": ({"safety_identifier": "x" * 129}, "safety_identifier", "string_above_max_length", "128"),
    "prediction": ({"prediction": {"type": "x"}}, "prediction.type", "invalid_value", "content"),
    "template argument reserved": (
        {"chat_template_kwargs": {"tools": []}}, "chat_template_kwargs.tools", None, "'tools'"),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_fault_of_the_client(stub: Stub, row: str) -> None:
    fields, param, code, piece = ROWS[row]
    response = stub.chat(**fields)
    assert response.status_code == 400, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"].startswith("req_")
    body = response.json()
    assert body.keys() == {"error"}
    error = body["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert (error["param"], error["code"]) == (param, code), error
    assert piece in error["message"]
    assert not stub.engine.asked, "nothing may be generated for a refused request"


@pytest.mark.parametrize("row", ["tools empty", "role unknown", "max_tokens over the context", "schema no schema"])
def test_the_same_fault_when_streamed(stub: Stub, row: str) -> None:
    """A fault before the first byte is a plain error, not a stream."""
    fields, param, code, _ = ROWS[row]
    response = stub.chat(stream=True, **fields)
    assert response.status_code == 400
    assert (response.json()["error"]["param"], response.json()["error"]["code"]) == (param, code)


def test_all_faults_are_counted_and_the_first_is_told(stub: Stub) -> None:
    error = stub.chat(temperature=5, top_p=7, n="x").json()["error"]
    assert error["param"] == "n"
    assert "temperature" in error["message"]
    assert "top_p" in error["message"]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": [1] * 300_000}, "messages[0]"),
        ({"messages": [{"role": "user", "content": [1] * 300_000}]}, "messages[0].content[0]"),
        ({"tools": [1] * 300_000}, "tools[0]"),
        ({"modalities": [1] * 300_000}, "modalities[0]"),
        ({"stop": [1] * 300_000}, "stop[0]"),
        ({"logit_bias": {str(n): "x" for n in range(50_000)}}, "logit_bias.0"),
        ({"metadata": {str(n): 1 for n in range(100_000)}}, "metadata.0"),
        ({"messages": [HI] * 200_000}, "messages"),
        ({"messages": [HI, asked(*[made(str(n)) for n in range(30_000)])]}, "messages"),
        ({"messages": [{"role": "x" * 1_000_000}]}, "messages[0].role"),
        ({"metadata": {"k" * 1_000_000: 1}}, None),
    ],
)
def test_a_body_full_of_faults_gets_a_short_answer(stub: Stub, fields: dict[str, Any], param: str | None) -> None:
    response = stub.chat(**fields)
    assert response.status_code == 400
    assert len(response.content) < 4000
    assert param in (None, response.json()["error"]["param"])


def test_many_biases(stub: Stub) -> None:
    assert stub.chat(logit_bias={str(n): -1 for n in range(256)}).status_code == 200
    biases = {f"{n:010d}": float(n % 100) for n in range(256)} | {f"{n:011d}": 1 for n in range(2000)}
    assert stub.chat(logit_bias=biases).status_code == 400, "there are no tokens beyond 255"


def test_unknown_model(stub: Stub) -> None:
    response = stub.chat(model="gpt-9")
    assert response.status_code == 404
    error = response.json()["error"]
    assert (error["param"], error["code"]) == ("model", "model_not_found")
    assert "'stub'" in error["message"]


@pytest.mark.parametrize(
    ("body", "piece"),
    [
        (b"", "empty"),
        (b"{", "line 1 column"),
        (b'{"a": }', "line 1 column 7"),
        (b"[]", "object"),
        (b'"x"', "object"),
        (b"null", "object"),
        (b'{"a": NaN}', "line 1 column 7"),
        (b'{"a": Infinity}', "line 1 column 7"),
        (b'{"a": 1e999}', "line 1 column"),
        (b'{"a": "\xff"}', "UTF-8"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b"[" * 10_000 + b"]" * 10_000, "depth limit"),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "depth limit"),
        (b'{"a": 1} x', "line 1 column"),
    ],
)
def test_malformed_json(stub: Stub, body: bytes, piece: str) -> None:
    response = stub.client.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] == "invalid_json"
    assert piece in error["message"]


def test_a_fine_request_with_every_harmless_field(stub: Stub) -> None:
    """What does not change the answer is accepted; null is absent; unknown fields are ignored."""
    response = stub.chat(
        metadata={"a": "b"}, modalities=["text"], prediction={"type": "content", "content": "x"}, store=True,
        prompt_cache_key="k", prompt_cache_options={"mode": "x"}, prompt_cache_retention="24h", user="u",
        safety_identifier="s", service_tier="auto", verbosity="low", reasoning_effort="low", logit_bias={"65": -5},
        tool_choice="auto", parallel_tool_calls=True, functions=None, function_call=None, guided_json=None,
        audio=None, tools=None, stop=None, seed=None, n=None, temperature=None, stream=None, stream_options=None,
        response_format=None, max_tokens=None, logprobs=None, top_logprobs=None, top_k=-1, min_p=0.1,
        repetition_penalty=1.1, chat_template_kwargs={"x": 1}, something_new={"a": 1},
        messages=[{"role": "user", "cache_control": {}, "content": [
            {"type": "text", "text": "Hi", "prompt_cache_breakpoint": {"mode": "explicit"}, "cache_control": {}}]}],
    )  # fmt: skip
    assert response.status_code == 200, response.text
    assert response.json()["choices"][0]["message"]["content"] == "Hello"
