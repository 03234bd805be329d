"""Conversations as clients replay them: every form is taken, and rendered as what it means."""

from __future__ import annotations

from typing import Any

import pytest

from server.openai.messages import conversation
from server.openai.request import parse_chat
from tests.server.stub import TOOLS, Stub, call, say
from tests.server.test_request_errors import HI, asked, made, result

HISTORIES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "parts are paragraphs": (
        [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}],
        [{"role": "user", "content": "a\nb"}],
    ),
    "no parts": ([{"role": "user", "content": []}], [{"role": "user", "content": ""}]),
    "system anywhere, developer, names": (
        [{"role": "developer", "content": "d"}, HI | {"name": "Ann"}, {"role": "system", "content": "s"}],
        [
            {"role": "developer", "content": "d"},
            {"role": "user", "content": "Hi", "name": "Ann"},
            {"role": "system", "content": "s"},
        ],
    ),
    "a call and its result": (
        [HI, asked(made(arguments='{"a": "x')), result(content=[{"type": "text", "text": "ok"}])],
        [
            HI,
            {"role": "assistant", "content": "", "tool_calls": [made(arguments='{"a": "x')]},
            result(),
        ],
    ),
    "arguments and results as values": (
        [HI, asked(made("a", arguments={"x": "é"}), made("b")), result("a", {"t": [1, None]}), result("b", 7), HI],
        [
            HI,
            {"role": "assistant", "content": "", "tool_calls": [made("a", arguments='{"x": "é"}'), made("b")]},
            result("a", '{"t": [1, null]}'),
            result("b", "7"),
            HI,
        ],
    ),
    "results in another order, twice, without content": (
        [HI, asked(made("a"), made("b")), result("b", None), result("a"), result("a", "again"), HI],
        [
            HI,
            {"role": "assistant", "content": "", "tool_calls": [made("a"), made("b")]},
            result("b", ""),
            result("a"),
            result("a", "again"),
            HI,
        ],
    ),
    "empty lists and nulls in an assistant's turn": (
        [HI, asked(content="x"), HI, asked(content=[]), HI, {"role": "assistant", "content": None}, HI],
        [
            HI,
            {"role": "assistant", "content": "x"},
            HI,
            {"role": "assistant", "content": ""},
            HI,
            {"role": "assistant", "content": ""},
            HI,
        ],
    ),
    "refusals and reasoning": (
        [
            HI,
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}], "reasoning_content": "hm"},
            {"role": "assistant", "refusal": "never"},
        ],
        [
            HI,
            {"role": "assistant", "content": "no", "reasoning_content": "hm"},
            {"role": "assistant", "content": "never"},
        ],
    ),
    "the deprecated function call": (
        [
            HI,
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "ok"},
        ],
        [
            HI,
            {"role": "assistant", "content": "", "tool_calls": [made("function_call:f")]},
            result("function_call:f"),
        ],
    ),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_history(stub: Stub, name: str) -> None:
    messages, rendered = HISTORIES[name]
    assert conversation(parse_chat({"model": "stub", "messages": messages}).messages) == rendered
    assert stub.chat(messages=messages).status_code == 200
    assert stub.chat(messages=messages, tools=TOOLS).status_code == 200


def test_an_answer_of_ours_can_be_sent_back(stub: Stub) -> None:

    stub.engine.script = say("Sure.\n" + call("now", "{}") + "\n" + call("weather", '{"city": "Rome"}'))
    for budget in (None, 3, 60, 80, 110):
        message = stub.chat(tools=TOOLS, max_tokens=budget).json()["choices"][0]["message"]
        results = [result(made_call["id"]) for made_call in message.get("tool_calls", ())]
        response = stub.chat(messages=[HI, message, *results, HI], tools=TOOLS)
        assert response.status_code == 200, response.text


@pytest.mark.parametrize("arguments", ["", "[" * 100_000, '{"a":' * 5000, "null", '"x"', "\x00", "{" + "\ud83d" + "}"])
def test_arguments_that_are_no_json_object(stub: Stub, arguments: str) -> None:
    """e1: a conversation must not be lost for one broken call in it."""
    stub.engine.max_model_len, kept = 10**6, stub.engine.max_model_len
    try:
        messages = [HI, asked(made(arguments=arguments.encode("utf-8", "replace").decode())), result()]
        response = stub.chat(messages=messages, tools=TOOLS)
    finally:
        stub.engine.max_model_len = kept
    assert response.status_code == 200, response.text[:1000]
