"""The raw bytes of streams against the wire's rules, over modes and options, and against the whole answer."""

from __future__ import annotations

import json
from concurrent.futures import Future
from functools import partial
from typing import Any

import httpx2
import pytest

from loadtest.judge import whole_calls
from loadtest.stream_answer import StreamedAnswer
from tests.clients.asking import (
    ADD,
    EVENT,
    LIGHT,
    PING,
    WEATHER,
    assert_valid,
    at_once,
    named,
    read_stream,
    user,
    wires,
)

CHAT = "/v1/chat/completions"

USAGE = {"stream_options": {"include_usage": True}}
ONE = {"parallel_tool_calls": False}
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
    "named": OFFER | {"tool_choice": named(EVENT)} | ONE | USAGE,
    "named, no arguments": OFFER | {"tool_choice": named(PING)} | ONE | USAGE,
    "named, logprobs": OFFER | {"tool_choice": named(ADD), "logprobs": True, "top_logprobs": 1} | ONE | USAGE,
    "cut": OFFER | {"tool_choice": named(EVENT), "max_tokens": 24} | USAGE,
    "cut at once": OFFER | {"tool_choice": named(EVENT), "max_tokens": 1} | USAGE,
    "obfuscation wanted": OFFER | {"tool_choice": named(ADD), "stream_options": {"include_obfuscation": True}} | ONE,
    "json_object": {
        "messages": user("Give me JSON."),
        "response_format": {"type": "json_object"},
        "max_tokens": 60,
    }
    | USAGE,
}


SAME = ["text", "required, one", "named, no arguments", "auto", "cut"]
CALLS = ["auto", "required, one", "named", "named, no arguments", "named, logprobs", "obfuscation wanted"]


def request(name: str, model: str) -> dict[str, Any]:
    return {"model": model, "temperature": 0, "max_tokens": 160} | REQUESTS[name]


@pytest.fixture(scope="module")
def streams(http: httpx2.Client, model: str) -> dict[str, Future[StreamedAnswer]]:
    return at_once({name: partial(read_stream, http, request(name, model)) for name in REQUESTS})


@pytest.mark.parametrize("name", REQUESTS)
def test_every_byte(streams: dict[str, Future[StreamedAnswer]], name: str) -> None:
    answer = streams[name].result()
    assert answer.error is None
    assert answer.faults == []
    for choice in answer.choices.values():
        calls = whole_calls(choice, streamed=True)
        assert_valid([(call.name, call.arguments) for call in calls], TOOLS)
        if name.startswith(("required", "named")):
            assert choice.finish_reason in ("tool_calls", "length")
        if name in CALLS:
            assert choice.finish_reason == "tool_calls"


@pytest.mark.parametrize("name", SAME)
def test_streamed_and_whole_are_the_same_at_temperature_0(http: httpx2.Client, model: str, name: str) -> None:
    """One after the other: in another batch, greedy tokens may fall otherwise by a rounding."""
    body = request(name, model)
    choice = read_stream(http, body).choices[0]
    body.pop("stream_options", None)
    whole = http.post(CHAT, json=body).raise_for_status().json()["choices"][0]
    assert (whole["message"]["content"] or "") == choice.content
    assert whole["finish_reason"] == choice.finish_reason
    if choice.finish_reason == "tool_calls":
        functions = [call["function"] for call in whole["message"]["tool_calls"]]
        calls = [(function["name"], json.loads(function["arguments"])) for function in functions]
        assert calls == [(call.name, json.loads(call.arguments)) for call in choice.calls]
    else:
        assert "tool_calls" not in whole["message"]


def test_headers(http: httpx2.Client, model: str) -> None:
    response = http.post(CHAT, json={"model": model, "messages": user("Hi"), "max_tokens": 1, "stream": True})
    assert response.headers["content-type"].startswith("text/event-stream")
    assert "no-cache" in response.headers["cache-control"]
    assert response.headers["x-request-id"]
    assert "content-length" not in response.headers
