"""Every tool_choice mode through the OpenAI SDK: sync and async, whole, streamed, and with the SDK's stream helper."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from openai import AsyncOpenAI, LengthFinishReasonError, OpenAI
from openai.types.chat import ChatCompletionChunk

from loadtest.tools import LoadTool
from tests.clients.asking import ADD, EVENT, LIGHT, PING, WEATHER, assert_valid, at_once, made, named, user, wires

ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [named(ADD)]}}
ALLOWED_AUTO = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named(WEATHER)]}}


@dataclass(frozen=True, slots=True)
class Mode:
    """Options of a request, and what must come of it. ``names`` None: no call at all."""

    options: dict[str, Any]
    names: set[str] | None
    tools: tuple[LoadTool, ...] = (WEATHER, ADD, EVENT)
    prompt: str = WEATHER.prompt


# The small model does not know when to stop calling; one test lets it go on.
ONE = {"parallel_tool_calls": False}
ALL_NAMES = {"get_weather", "add_numbers", "create_event"}
MODES: dict[str, Mode] = {
    "none": Mode({"tool_choice": "none", "max_tokens": 24}, None),
    "auto": Mode({"tool_choice": "auto"}, {"get_weather"}, (WEATHER,)),
    "default": Mode({}, {"get_weather"}, (WEATHER,)),
    "required": Mode({"tool_choice": "required"} | ONE, ALL_NAMES),
    "named": Mode({"tool_choice": named(EVENT)} | ONE, {"create_event"}, prompt=EVENT.prompt),
    "allowed_tools required": Mode({"tool_choice": ALLOWED} | ONE, {"add_numbers"}, prompt=ADD.prompt),
    "allowed_tools auto": Mode({"tool_choice": ALLOWED_AUTO}, {"get_weather"}),
    "parallel": Mode({"tool_choice": "required", "parallel_tool_calls": True}, ALL_NAMES),
    "no arguments": Mode({"tool_choice": named(PING)} | ONE, {"ping"}, (PING, ADD), PING.prompt),
    "union of objects": Mode({"tool_choice": "required"} | ONE, {"set_light", "ping"}, (LIGHT, PING)),
    "strict": Mode({"tool_choice": "required"} | ONE, {"add_numbers"}, (ADD,), ADD.prompt),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """One choice, whichever way it came."""

    content: str | None
    calls: list[tuple[str, str]]
    finish_reason: str


def request(mode: str, model: str) -> dict[str, Any]:
    asked = MODES[mode]
    tools = wires(asked.tools)
    if mode == "strict":
        tools[0]["function"]["strict"] = True
    body = {"model": model, "messages": user(asked.prompt), "tools": tools, "temperature": 0, "max_tokens": 200}
    return body | asked.options


def check(mode: str, answer: Answer) -> None:
    asked = MODES[mode]
    assert_valid(answer.calls, asked.tools)
    if asked.names is None:
        assert answer.calls == []
        assert answer.finish_reason in ("stop", "length")
        return
    assert {name for name, _ in answer.calls} <= asked.names
    if mode == "parallel" and answer.finish_reason == "length":
        return  # it called and called; what it completed is valid
    assert answer.calls, answer
    assert answer.finish_reason == "tool_calls"
    if asked.options.get("parallel_tool_calls") is False:
        assert len(answer.calls) == 1
    if mode == "no arguments":
        assert {arguments for _, arguments in answer.calls} == {"{}"}


class Gathered:
    """A client's own accumulation of chunks: by index, as the API's documentation tells."""

    def __init__(self) -> None:
        self.content = ""
        self.calls: dict[int, list[str]] = {}
        self.finish_reason = ""

    def add(self, chunk: ChatCompletionChunk) -> None:
        (choice,) = chunk.choices
        self.content += choice.delta.content or ""
        self.finish_reason = choice.finish_reason or self.finish_reason
        for part in choice.delta.tool_calls or []:
            assert part.function is not None
            call = self.calls.setdefault(part.index, ["", ""])
            call[0] += part.function.name or ""
            call[1] += part.function.arguments or ""

    def answer(self) -> Answer:
        calls = [(name, arguments) for _, (name, arguments) in sorted(self.calls.items())]
        if self.finish_reason == "length" and calls and not calls[-1][1].endswith("}"):
            calls.pop()  # cut, as finish_reason says
        return Answer(self.content or None, calls, self.finish_reason)


def whole(sdk: OpenAI, body: dict[str, Any]) -> Answer:
    (choice,) = sdk.chat.completions.create(**body).choices
    return Answer(choice.message.content, made(choice.message), choice.finish_reason)


def streamed(sdk: OpenAI, body: dict[str, Any]) -> Answer:
    gathered = Gathered()
    chunks: Iterator[ChatCompletionChunk] = sdk.chat.completions.create(**body, stream=True)
    for chunk in chunks:
        gathered.add(chunk)
    return gathered.answer()


def helper(sdk: OpenAI, body: dict[str, Any]) -> Answer:
    try:
        with sdk.chat.completions.stream(**body) as stream:
            kinds = [event.type for event in stream]
            (choice,) = stream.get_final_completion().choices
    except LengthFinishReasonError:  # the helper hands out nothing that max_tokens cut: here only the talk under "none"
        return Answer(None, [], "length")
    calls = made(choice.message)
    assert kinds.count("tool_calls.function.arguments.done") == len(calls)
    return Answer(choice.message.content, calls, choice.finish_reason)


WAYS = {"whole": whole, "streamed": streamed, "helper": helper}


@pytest.fixture(scope="module")
def answers(sdk: OpenAI, model: str) -> dict[tuple[str, str], Future[Answer]]:
    return at_once({(mode, way): partial(WAYS[way], sdk, request(mode, model)) for mode in MODES for way in WAYS})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", MODES)
def test_sync(answers: dict[tuple[str, str], Future[Answer]], mode: str, way: str) -> None:
    check(mode, answers[mode, way].result())


async def _async_whole(sdk: AsyncOpenAI, body: dict[str, Any]) -> Answer:
    (choice,) = (await sdk.chat.completions.create(**body)).choices
    return Answer(choice.message.content, made(choice.message), choice.finish_reason)


async def _async_streamed(sdk: AsyncOpenAI, body: dict[str, Any]) -> Answer:
    gathered = Gathered()
    chunks: AsyncIterator[ChatCompletionChunk] = await sdk.chat.completions.create(**body, stream=True)
    async for chunk in chunks:
        gathered.add(chunk)
    return gathered.answer()


@pytest.mark.anyio
async def test_async_all_at_once(async_sdk: AsyncOpenAI, model: str) -> None:
    """Twenty answers in one batch: none may see another's grammar or state."""
    bodies = [(mode, request(mode, model)) for mode in MODES]
    tasks = [ask(async_sdk, body) for _, body in bodies for ask in (_async_whole, _async_streamed)]
    answers = await asyncio.gather(*tasks)
    for position, answer in enumerate(answers):
        check(bodies[position // 2][0], answer)
