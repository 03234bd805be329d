"""What the client tests ask, and how they read raw streams."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import httpx2
from openai.types.chat import ChatCompletionMessage

from loadtest.stream_answer import StreamedAnswer
from loadtest.tools import BUILT_IN, LoadTool, call_faults

WEATHER, ADD, EVENT, LIGHT, PING = BUILT_IN

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


def at_once(asks: Mapping[Key, Callable[[], Result]], threads: int = 24) -> dict[Key, Future[Result]]:
    """Do all of it at the same time, and return when it is done. The engine batches: a hundred answers take little more
    time than one, and none may see another's grammar or state. A failure is raised where its result is asked for."""
    with ThreadPoolExecutor(threads) as pool:
        return {key: pool.submit(ask) for key, ask in asks.items()}


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


def read_stream(http: httpx2.Client, body: dict[str, Any]) -> StreamedAnswer:
    """Stream a request and return the answer as its bytes came; what breaks the wire's rules is in ``faults``."""
    answer = StreamedAnswer(include_usage=bool((body.get("stream_options") or {}).get("include_usage")))
    with http.stream("POST", "/v1/chat/completions", json=body | {"stream": True}) as response:
        data = b"" if response.status_code == 200 else response.read()
        assert response.status_code == 200, data
        assert response.headers["content-type"].split(";")[0] == "text/event-stream"
        for part in response.iter_bytes():
            answer.feed(part, time.monotonic())
    answer.end(int(body.get("n") or 1))
    return answer
