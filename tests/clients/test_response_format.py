"""response_format: text, json_object, json_schema; alone and beside tools."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai import OpenAI
from pydantic import BaseModel

from loadtest.scenarios import ANSWER_SCHEMA
from loadtest.validity import schema_faults, strict_json
from tests.clients.asking import ADD, WEATHER, assert_valid, made, user, wires

SCHEMA_FORMAT: Any = {"type": "json_schema", "json_schema": {"name": "answer", "schema": ANSWER_SCHEMA}}


class City(BaseModel):
    city: str
    sunny: bool


def ask(sdk: OpenAI, model: str, **options: Any) -> tuple[str, str, list[tuple[str, str]]]:
    """Content, finish reason and calls; ``stream`` chooses the way."""
    body: dict[str, Any] = {"model": model, "messages": user("Is it sunny in Rome? Answer in JSON."), "max_tokens": 160}
    body |= {"temperature": 0} | options
    if not body.get("stream"):
        (choice,) = sdk.chat.completions.create(**body).choices
        return choice.message.content or "", choice.finish_reason, made(choice.message)
    content, reason = "", ""
    for chunk in sdk.chat.completions.create(**body):
        (choice,) = chunk.choices
        assert not choice.delta.tool_calls
        content += choice.delta.content or ""
        reason = choice.finish_reason or reason
    return content, reason, []


@pytest.mark.parametrize("stream", [False, True])
def test_json_schema(sdk: OpenAI, model: str, stream: bool) -> None:
    content, reason, _ = ask(sdk, model, response_format=SCHEMA_FORMAT, stream=stream)
    assert reason == "stop"
    assert schema_faults(strict_json(content), ANSWER_SCHEMA) == []


@pytest.mark.parametrize("strict", [None, False, True])
def test_json_schema_holds_whether_or_not_strict_is_said(sdk: OpenAI, model: str, strict: bool | None) -> None:
    form = {"type": "json_schema", "json_schema": SCHEMA_FORMAT["json_schema"] | {"strict": strict}}
    content, reason, _ = ask(sdk, model, response_format=form, temperature=1.5, seed=3)
    assert reason == "stop"
    assert schema_faults(strict_json(content), ANSWER_SCHEMA) == []


@pytest.mark.parametrize("stream", [False, True])
def test_json_object(sdk: OpenAI, model: str, stream: bool) -> None:
    content, reason, _ = ask(sdk, model, response_format={"type": "json_object"}, stream=stream, max_tokens=80)
    if reason == "stop":
        assert isinstance(strict_json(content), dict)
    else:
        assert reason == "length"
        assert content.startswith("{")


def test_text_is_free(sdk: OpenAI, model: str) -> None:
    content, _, calls = ask(sdk, model, response_format={"type": "text"}, messages=user("Say hello."), max_tokens=12)
    assert content
    assert calls == []


def test_parse_helper(sdk: OpenAI, model: str) -> None:
    answer = sdk.chat.completions.parse(
        model=model, messages=user("Is it sunny in Rome?"), response_format=City, max_tokens=200, temperature=0
    )
    assert isinstance(answer.choices[0].message.parsed, City)


def test_beside_tools_under_required_the_answer_is_calls(sdk: OpenAI, model: str) -> None:
    tools = (WEATHER, ADD)
    _, reason, calls = ask(
        sdk, model, tools=wires(tools), tool_choice="required", response_format=SCHEMA_FORMAT, parallel_tool_calls=False
    )
    assert reason == "tool_calls"
    assert calls
    assert_valid(calls, tools)


@pytest.mark.parametrize("seed", range(4))
def test_beside_tools_under_auto_the_answer_is_calls_or_that_json(sdk: OpenAI, model: str, seed: int) -> None:
    content, reason, calls = ask(
        sdk, model, tools=wires((WEATHER,)), response_format=SCHEMA_FORMAT, seed=seed, temperature=1
    )
    if calls:
        assert_valid(calls, (WEATHER,))
    elif reason == "stop":
        assert schema_faults(strict_json(content), ANSWER_SCHEMA) == []
    else:
        assert reason == "length"


def test_beside_tools_under_none_the_answer_is_that_json(sdk: OpenAI, model: str) -> None:
    content, reason, calls = ask(sdk, model, tools=wires((WEATHER,)), tool_choice="none", response_format=SCHEMA_FORMAT)
    assert calls == []
    assert reason == "stop"
    assert set(json.loads(content)) == {"city", "sunny"}
