"""Arguments stream while they are generated, and stop sequences never touch them."""

from __future__ import annotations

import time
from typing import Any

import httpx2
import pytest
from openai import OpenAI

from loadtest.tools import LoadTool
from tests.clients.asking import ADD, EVENT, WEATHER, assert_valid, made, named, read_stream, user, wires

ESSAY = LoadTool(
    "write_essay",
    "Write an essay.",
    {
        "type": "object",
        "properties": {"text": {"type": "string", "minLength": 600, "maxLength": 640}},
        "required": ["text"],
        "additionalProperties": False,
    },
    "Write an essay about the sea.",
)
MARKUP = ("<tool_call>", "</tool_call>", "<|im_end|>", "<|im_start|>", '"arguments":')


@pytest.mark.anyio
async def test_a_long_string_arrives_in_many_fragments_from_the_start(http: httpx2.AsyncClient, model: str) -> None:
    body = {"model": model, "messages": user(ESSAY.prompt), "tools": wires((ESSAY,)), "tool_choice": named(ESSAY)}
    sent = time.monotonic()
    answer = await read_stream(http, body | {"max_tokens": 700, "temperature": 0.8, "seed": 4})
    took = time.monotonic() - sent
    assert answer.faults == []
    call = answer.choices[0].calls[0]
    assert answer.choices[0].finish_reason == "tool_calls"
    assert_valid([(call.name, call.arguments)], (ESSAY,))
    assert len(call.fragments) >= 50
    times = [moment - sent for moment in call.times]
    assert times[0] <= took / 5, "the first fragment comes in the first fifth"
    for fifth in range(5):  # spread over the whole time, not in bursts
        inside = sum(took * fifth / 5 <= moment < took * (fifth + 1) / 5 for moment in times)
        assert inside >= 5, f"fifth {fifth + 1} of {took:.1f} s holds {inside} of {len(times)} fragments"


STOPS = ["}", '"', ":", "a", "e"]


@pytest.mark.parametrize("tool", [WEATHER, ADD, EVENT], ids=lambda tool: tool.name)
@pytest.mark.parametrize("stop", [["}"], ['"', ":"], ["a", "e", "i", "o"], ["</tool_call>", "\n"]], ids=str)
def test_a_stop_sequence_never_applies_inside_a_call(sdk: OpenAI, model: str, stop: list[str], tool: LoadTool) -> None:
    body: dict[str, Any] = {"model": model, "messages": user(tool.prompt), "tools": wires((tool,))}
    body |= {"tool_choice": "required", "parallel_tool_calls": False, "temperature": 0, "max_tokens": 200}
    with_stop = sdk.chat.completions.create(**body, stop=stop).choices[0]
    without = sdk.chat.completions.create(**body).choices[0]
    assert with_stop.finish_reason == "tool_calls"
    assert made(with_stop.message) == made(without.message)


@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_sequence_ends_text_and_is_not_shown(sdk: OpenAI, model: str, stream: bool) -> None:
    body: dict[str, Any] = {"model": model, "messages": user("Count from one to nine."), "temperature": 0}
    plain = sdk.chat.completions.create(**body, max_tokens=24).choices[0].message.content or ""
    stop = plain[len(plain) // 2 :][:3]
    assert len(stop) == 3
    if stream:
        content, reason = "", ""
        for chunk in sdk.chat.completions.create(**body, max_tokens=24, stop=stop, stream=True):
            content += chunk.choices[0].delta.content or ""
            reason = chunk.choices[0].finish_reason or reason
    else:
        (choice,) = sdk.chat.completions.create(**body, max_tokens=24, stop=stop).choices
        content, reason = choice.message.content or "", choice.finish_reason
    assert content == plain[: plain.index(stop)]
    assert reason == "stop"


@pytest.mark.anyio
@pytest.mark.parametrize("seed", range(6))
async def test_no_markup_in_content(http: httpx2.AsyncClient, model: str, seed: int) -> None:
    """Under auto the model may talk before and between calls; what it writes to call is never part of the talk."""
    body = {"model": model, "messages": user(WEATHER.prompt), "tools": wires((WEATHER, ADD))}
    answer = await read_stream(http, body | {"temperature": 1, "seed": seed, "max_tokens": 120})
    assert answer.faults == []
    assert not any(mark in answer.choices[0].content for mark in MARKUP)
