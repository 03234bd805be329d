"""Arguments stream while they are generated, and stop sequences never touch them."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import httpx2
import pytest
from openai import OpenAI
from openai.types.chat.chat_completion import Choice

from loadtest.stream_answer import StreamedAnswer
from loadtest.tools import BUILT_IN, LoadTool
from tests.clients.asking import ADD, WEATHER, assert_valid, at_once, made, named, read_stream, user, wires

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
MARKUP = ("```tool", "<tool_call>", "</tool_call>", "<|im_end|>", "<|im_start|>")


def test_a_long_string_arrives_in_many_fragments_from_the_start(http: httpx2.Client, model: str) -> None:
    body = {"model": model, "messages": user(ESSAY.prompt), "tools": wires((ESSAY,)), "tool_choice": named(ESSAY)}
    body |= {"max_tokens": 700, "temperature": 0.8, "parallel_tool_calls": False}
    for seed in range(3):  # where the machine itself stood still, another try is fair; what is held back stays so
        sent = time.monotonic()
        answer = read_stream(http, body | {"seed": seed})
        took = time.monotonic() - sent
        assert answer.faults == []
        call = answer.choices[0].calls[0]
        assert answer.choices[0].finish_reason == "tool_calls"
        assert_valid([(call.name, call.arguments)], (ESSAY,))
        assert len(call.fragments) >= 50
        shares = [(moment - sent) / took for moment in call.times]
        crowd = max(sum(at <= share < at + 0.1 for share in shares) for at in shares) / len(shares)
        if shares[0] <= 0.2 and crowd <= 0.5:
            return
    pytest.fail(f"first fragment after {shares[0]:.0%} of {took:.1f} s; {crowd:.0%} of them within a tenth of the time")


def test_characters_of_several_tokens_arrive_whole(http: httpx2.Client, model: str) -> None:
    """b23: for these the embedded model has tokens of parts of characters only, forced ones and sampled ones."""
    words = ["日本語 🎈", "Żółć é", "漢字 e\u0301", '"\\\u2028']
    properties = {f"w{n}": {"enum": [word, word + "!"]} for n, word in enumerate(words)}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    tool = LoadTool("say_words", "Say words.", schema, "Say the words.")
    body = {"model": model, "messages": user(tool.prompt), "tools": wires((tool,)), "tool_choice": named(tool)}
    body |= {"max_tokens": 200, "parallel_tool_calls": False}

    def ask(seed: int) -> StreamedAnswer:
        return read_stream(http, body | {"seed": seed, "temperature": 1})

    for answer in at_once({seed: partial(ask, seed) for seed in range(4)}).values():
        assert answer.result().faults == []
        (call,) = answer.result().choices[0].calls
        assert answer.result().choices[0].finish_reason == "tool_calls"
        assert_valid([(call.name, call.arguments)], (tool,))


STOPS = [["}"], ['"', ":"], ["a", "e", "t", "b"], ["</tool_call>", "\n"]]


def test_a_stop_sequence_never_applies_inside_a_call(sdk: OpenAI, model: str) -> None:
    def ask(tool: LoadTool, stop: list[str]) -> Choice:
        body: dict[str, Any] = {"model": model, "messages": user(tool.prompt), "tools": wires((tool,)), "stop": stop}
        body |= {"tool_choice": "required", "parallel_tool_calls": False, "temperature": 0, "max_tokens": 200}
        return sdk.chat.completions.create(**body).choices[0]

    keys = [(tool, position) for tool in (0, 1, 2) for position in range(len(STOPS))]
    answers = at_once({(tool, stop): partial(ask, BUILT_IN[tool], STOPS[stop]) for tool, stop in keys})
    for (tool, stop), answer in answers.items():
        choice = answer.result()
        assert choice.finish_reason == "tool_calls", (BUILT_IN[tool].name, STOPS[stop])
        assert_valid(made(choice.message), BUILT_IN)
        ((_, arguments),) = made(choice.message)
        assert any(mark in arguments for mark in STOPS[stop]) or STOPS[stop][0].startswith("<")


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


def test_no_markup_in_content(http: httpx2.Client, model: str) -> None:
    """Under auto the model may talk before and between calls; what it writes to call is never part of the talk."""

    def ask(seed: int) -> StreamedAnswer:
        body = {"model": model, "messages": user(WEATHER.prompt), "tools": wires((WEATHER, ADD))}
        return read_stream(http, body | {"temperature": 1, "seed": seed, "max_tokens": 120})

    for answer in at_once({seed: partial(ask, seed) for seed in range(16)}).values():
        assert answer.result().faults == []
        assert not any(mark in answer.result().choices[0].content for mark in MARKUP)
