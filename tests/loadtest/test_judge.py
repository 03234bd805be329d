"""The soak's requests can be repeated, and its judge names every kind of wrong answer."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from loadtest.judge import choice_faults, full_answer, whole_calls
from loadtest.scenarios import ANSWER_SCHEMA, Scenario, random_scenario
from loadtest.stream_answer import StreamedCall, StreamedChoice
from loadtest.tools import BUILT_IN

WEATHER, ADD = BUILT_IN[0], BUILT_IN[1]


def choice(
    calls: list[tuple[str, str]],
    *,
    content: str = "",
    finish_reason: str = "tool_calls",
    logprobs: list[Any] | None = None,
) -> StreamedChoice:
    made = [StreamedCall(f"call_{i}", name, 0.0, [arguments]) for i, (name, arguments) in enumerate(calls)]
    return StreamedChoice(0, content=content, calls=made, finish_reason=finish_reason, logprobs=logprobs or [])


def scenario(**options: Any) -> Scenario:
    return Scenario({"tools": [WEATHER.wire(), ADD.wire()]} | options, (WEATHER, ADD))


GOOD = ("get_weather", '{"city": "Paris"}')
NAMED = {"type": "function", "function": {"name": "get_weather"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED]}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "schema": ANSWER_SCHEMA}}
TOP = {"token": "a", "logprob": -0.1, "bytes": [97], "top_logprobs": []}


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ({"tool_choice": "required"}, choice([GOOD, ("add_numbers", '{"a": 1, "b": 2}')])),
        ({"tool_choice": NAMED}, choice([GOOD])),
        ({"tool_choice": ALLOWED}, choice([GOOD])),
        ({}, choice([], content="Hello", finish_reason="stop")),
        ({"tool_choice": "required"}, choice([], finish_reason="length")),
        ({"stream": True}, choice([GOOD, ("get_weather", '{"ci')], finish_reason="length")),
        ({"response_format": FORMAT}, choice([], content='{"city": "Rome", "sunny": true}', finish_reason="stop")),
        ({"logprobs": True}, choice([GOOD], logprobs=[TOP])),
    ],
)
def test_right_answers_have_no_fault(options: dict[str, Any], answer: StreamedChoice) -> None:
    assert choice_faults(scenario(**options), answer) == []


@pytest.mark.parametrize(
    ("options", "answer", "fault"),
    [
        ({}, choice([("get_weather", '{"city": 1}')]), "$.city"),
        ({}, choice([("get_weather", '{"ci')], finish_reason="length"), "not strict JSON"),
        ({}, choice([("other", "{}")]), "not offered"),
        ({"tool_choice": "required"}, choice([], content="No.", finish_reason="stop"), "a call was required"),
        ({"tool_choice": NAMED}, choice([("add_numbers", '{"a": 1, "b": 2}')]), "tool_choice allows"),
        ({"tool_choice": ALLOWED}, choice([("add_numbers", '{"a": 1, "b": 2}')]), "tool_choice allows"),
        ({"tool_choice": "none"}, choice([GOOD]), "tool_choice allows"),
        ({"parallel_tool_calls": False}, choice([GOOD, GOOD]), "2 calls although"),
        ({"response_format": FORMAT}, choice([], content='{"city": 1}', finish_reason="stop"), "json_schema"),
        ({"response_format": {"type": "json_object"}}, choice([], content="[]", finish_reason="stop"), "json_object"),
        ({"logprobs": True}, choice([GOOD]), "missing"),
        ({"logprobs": True, "top_logprobs": 2}, choice([GOOD], logprobs=[TOP]), "instead of 2"),
    ],
)
def test_wrong_answers_are_named(options: dict[str, Any], answer: StreamedChoice, fault: str) -> None:
    assert any(fault in found for found in choice_faults(scenario(**options), answer))


def test_a_call_that_the_budget_cut_is_not_whole_and_one_that_ended_just_before_is() -> None:
    cut = choice([GOOD, ("get_weather", '{"city": "Par')], finish_reason="length")
    assert [call.arguments for call in whole_calls(cut, streamed=True)] == [GOOD[1]]
    assert len(whole_calls(choice([GOOD], finish_reason="length"), streamed=True)) == 1


def test_a_full_answer_is_read_and_its_form_is_checked() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": GOOD[0], "arguments": GOOD[1]}}
    message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {
        "object": "chat.completion",
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": None}],
    }
    (read,), faults = full_answer(body)
    assert faults == []
    assert read.calls[0].arguments == GOOD[1]
    message["tool_calls"] = []
    assert full_answer(body)[1] != []
    message["tool_calls"] = [call | {"extra": 1}]
    assert full_answer(body)[1] != []


@pytest.mark.parametrize("seed", range(20))
def test_requests_are_drawn_again_by_their_seed(seed: int) -> None:
    def draw() -> list[Scenario]:
        rng = random.Random(seed)
        return [random_scenario(rng, list(BUILT_IN), "m", 49_000, 400) for _ in range(30)]

    assert draw() == draw()
    assert all(json.loads(json.dumps(one.body)) == one.body for one in draw())


def test_the_mix_has_everything() -> None:
    rng = random.Random(5)
    drawn = [random_scenario(rng, list(BUILT_IN), "m", 49_000, 400) for _ in range(800)]
    labels = {label for one in drawn for label in one.labels}
    modes = {"auto", "required", "named", "allowed_tools", "none", "default"}
    assert modes | {"seed", "n", "logprobs", "logit_bias", "presence_penalty", "json_schema", "json_object"} <= labels
    assert any(one.drop_after for one in drawn)
    assert any(one.streamed for one in drawn)
    assert any(one.expect == "client error" for one in drawn)
