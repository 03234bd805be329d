"""What the client tests ask, and how they read raw streams."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import httpx2
from openai.types.chat import ChatCompletionMessage

from loadtest.stream_answer import StreamedAnswer
from loadtest.tools import BUILT_IN, LoadTool, call_faults

WEATHER, ADD, EVENT, LIGHT, PING = BUILT_IN


def wires(tools: Iterable[LoadTool]) -> list[Any]:
    return [tool.wire() for tool in tools]


def user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def named(tool: LoadTool) -> Any:
    return {"type": "function", "function": {"name": tool.name}}


def made(message: ChatCompletionMessage) -> list[tuple[str, str]]:
    """The calls of an SDK message, as (name, arguments)."""
    calls = []
    for call in message.tool_calls or []:
        assert call.type == "function"
        calls.append((call.function.name, call.function.arguments))
    return calls


def assert_valid(calls: Iterable[tuple[str, str]], tools: Iterable[LoadTool]) -> None:
    """Every call is of an offered tool, with arguments that are valid under its schema."""
    faults = [fault for name, arguments in calls for fault in call_faults(name, arguments, list(tools))]
    assert faults == []


async def read_stream(http: httpx2.AsyncClient, body: dict[str, Any]) -> StreamedAnswer:
    """Stream a request and return the answer as its bytes came; what breaks the wire's rules is in ``faults``."""
    answer = StreamedAnswer(include_usage=bool((body.get("stream_options") or {}).get("include_usage")))
    async with http.stream("POST", "/v1/chat/completions", json=body | {"stream": True}) as response:
        data = b"" if response.status_code == 200 else await response.aread()
        assert response.status_code == 200, data
        assert response.headers["content-type"].split(";")[0] == "text/event-stream"
        async for part in response.aiter_bytes():
            answer.feed(part, time.monotonic())
    answer.end(int(body.get("n") or 1))
    return answer
