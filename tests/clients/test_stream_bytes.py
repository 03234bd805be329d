"""The raw bytes of streams against the wire's rules, over modes and options, and against the whole answer."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.clients.asking import ADD, EVENT, LIGHT, PING, WEATHER, assert_valid, named, read_stream, user, wires

USAGE = {"stream_options": {"include_usage": True}}
TOOLS = (WEATHER, ADD, EVENT, LIGHT, PING)
OFFER: dict[str, Any] = {"tools": wires(TOOLS), "messages": user(WEATHER.prompt)}

REQUESTS: dict[str, dict[str, Any]] = {
    "text": {"messages": user("Say hello."), "max_tokens": 16},
    "text with usage": {"messages": user("Say hello."), "max_tokens": 16} | USAGE,
    "text, n": {"messages": user("Say hello."), "max_tokens": 16, "n": 3} | USAGE,
    "text with logprobs": {"messages": user("Say hello."), "max_tokens": 16, "logprobs": True, "top_logprobs": 2},
    "text with a stop": {"messages": user("Count to ten."), "max_tokens": 40, "stop": ["5", "five"]},
    "empty stream options": {"messages": user("Say hello."), "max_tokens": 8, "stream_options": {}},
    "no usage wanted": {"messages": user("Hello."), "max_tokens": 8, "stream_options": {"include_usage": False}},
    "none": OFFER | {"tool_choice": "none", "max_tokens": 16},
    "auto": OFFER | {"tools": wires((WEATHER,)), "max_tokens": 120} | USAGE,
    "required": OFFER | {"tool_choice": "required"} | USAGE,
    "required, no usage": OFFER | {"tool_choice": "required"},
    "required, hot": OFFER | {"tool_choice": "required", "temperature": 2, "seed": 8} | USAGE,
    "required, n": OFFER | {"tool_choice": "required", "n": 2, "temperature": 1.2, "seed": 2} | USAGE,
    "required, one": OFFER | {"tool_choice": "required", "parallel_tool_calls": False} | USAGE,
    "named": OFFER | {"tool_choice": named(EVENT)} | USAGE,
    "named, no arguments": OFFER | {"tool_choice": named(PING)} | USAGE,
    "named, logprobs": OFFER | {"tool_choice": named(ADD), "logprobs": True, "top_logprobs": 1} | USAGE,
    "cut": OFFER | {"tool_choice": named(EVENT), "max_tokens": 24} | USAGE,
    "cut at once": OFFER | {"tool_choice": named(EVENT), "max_tokens": 1} | USAGE,
    "obfuscation wanted": OFFER | {"tool_choice": named(ADD), "stream_options": {"include_obfuscation": True}},
    "json_object": {
        "messages": user("Give me JSON."),
        "response_format": {"type": "json_object"},
        "max_tokens": 60,
    }
    | USAGE,
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", REQUESTS)
async def test_every_byte(http: httpx2.AsyncClient, model: str, name: str) -> None:
    body = {"model": model, "temperature": 0, "max_tokens": 200} | REQUESTS[name]
    answer = await read_stream(http, body)
    assert answer.error is None
    assert answer.faults == []
    for choice in answer.choices.values():
        whole = choice.calls if choice.finish_reason == "tool_calls" else choice.calls[:-1]
        assert_valid([(call.name, call.arguments) for call in whole], TOOLS)
        if name.startswith(("required", "named")):
            assert choice.finish_reason == "tool_calls" or choice.finish_reason == "length"
        if name in ("auto", "required", "required, one", "named", "named, no arguments", "named, logprobs"):
            assert choice.finish_reason == "tool_calls"


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["text", "required", "named", "named, no arguments", "auto", "cut"])
async def test_streamed_and_whole_are_the_same_at_temperature_0(
    http: httpx2.AsyncClient, model: str, name: str
) -> None:
    body = {"model": model, "temperature": 0, "max_tokens": 200} | REQUESTS[name]
    body.pop("stream_options", None)
    answer = await read_stream(http, body)
    whole = (await http.post("/v1/chat/completions", json=body)).raise_for_status().json()["choices"][0]
    choice = answer.choices[0]
    assert (whole["message"]["content"] or "") == choice.content
    assert whole["finish_reason"] == choice.finish_reason
    if choice.finish_reason == "tool_calls":
        calls = [
            (call["function"]["name"], json.loads(call["function"]["arguments"]))
            for call in whole["message"]["tool_calls"]
        ]
        assert calls == [(call.name, json.loads(call.arguments)) for call in choice.calls]
    else:
        assert "tool_calls" not in whole["message"]


@pytest.mark.anyio
async def test_headers(http: httpx2.AsyncClient, model: str) -> None:
    body = {"model": model, "messages": user("Hi"), "max_tokens": 1, "stream": True}
    response = await http.post("/v1/chat/completions", json=body)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert "no-cache" in response.headers["cache-control"]
    assert response.headers["x-request-id"]
    assert "content-length" not in response.headers
