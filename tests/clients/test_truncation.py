"""max_tokens cuts a call: it is said to be cut, and never passed off as complete."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from openai import LengthFinishReasonError, OpenAI

from loadtest.validity import NotStrictJsonError, strict_json
from tests.clients.asking import EVENT, named, read_stream, user, wires


def request(model: str, max_tokens: int, **options: Any) -> dict[str, Any]:
    body = {"model": model, "messages": user(EVENT.prompt), "tools": wires((EVENT,)), "tool_choice": named(EVENT)}
    return body | {"max_tokens": max_tokens, "temperature": 0, "parallel_tool_calls": False} | options


@pytest.mark.parametrize("max_tokens", [1, 6, 14, 20])
def test_whole_answer(sdk: OpenAI, model: str, max_tokens: int) -> None:
    answer = sdk.chat.completions.create(**request(model, max_tokens))
    (choice,) = answer.choices
    assert choice.finish_reason == "length"
    assert choice.message.tool_calls is None
    assert not choice.message.content
    assert answer.usage is not None
    assert answer.usage.completion_tokens == max_tokens
    cut = (choice.message.model_extra or {}).get("incomplete_tool_call")
    if max_tokens >= 20:
        assert cut is not None
        assert "create_event" in str(cut)


@pytest.mark.parametrize("max_tokens", [1, 6, 14, 20])
def test_stream(http: httpx2.Client, model: str, max_tokens: int) -> None:
    body = request(model, max_tokens, stream_options={"include_usage": True})
    answer = read_stream(http, body)
    assert answer.faults == []
    choice = answer.choices[0]
    assert choice.finish_reason == "length"
    assert choice.content == ""
    assert answer.usage is not None
    assert answer.usage["completion_tokens"] == max_tokens
    if choice.calls:
        with pytest.raises(NotStrictJsonError):
            strict_json(choice.calls[0].arguments)


def test_the_helper_raises_on_a_cut_call(sdk: OpenAI, model: str) -> None:
    with (
        pytest.raises(LengthFinishReasonError),
        sdk.chat.completions.stream(**request(model, 20)) as stream,
    ):
        stream.get_final_completion()


def test_a_text_is_cut_likewise(sdk: OpenAI, model: str) -> None:
    body: dict[str, Any] = {"model": model, "messages": user("Tell me a long story."), "max_completion_tokens": 5}
    answer = sdk.chat.completions.create(**body)
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 5
