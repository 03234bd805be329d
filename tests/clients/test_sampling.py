"""Sampling options beside tools: each is honoured, and none of them ever breaks a call."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI

from tests.clients.asking import ADD, EVENT, LIGHT, WEATHER, assert_valid, made, named, user, wires

TOOLS = (WEATHER, ADD, EVENT, LIGHT)


def request(model: str, **options: Any) -> dict[str, Any]:
    body = {"model": model, "messages": user(WEATHER.prompt), "tools": wires(TOOLS), "tool_choice": "required"}
    return body | {"max_tokens": 160} | options


@pytest.mark.parametrize("stream", [False, True])
def test_n_gives_that_many_choices(sdk: OpenAI, model: str, stream: bool) -> None:
    body = request(model, n=3, seed=5, tool_choice=named(ADD), parallel_tool_calls=False)
    if not stream:
        choices = sdk.chat.completions.create(**body).choices
        assert [choice.index for choice in choices] == [0, 1, 2]
        calls = [made(choice.message) for choice in choices]
        reasons = {choice.finish_reason for choice in choices}
    else:
        arguments = ["", "", ""]
        reasons = set()
        for chunk in sdk.chat.completions.create(**body, stream=True):
            for choice in chunk.choices:
                reasons |= {choice.finish_reason} - {None}
                for part in choice.delta.tool_calls or []:
                    assert part.index == 0
                    assert part.function is not None
                    arguments[choice.index] += part.function.arguments or ""
        calls = [[("add_numbers", text)] for text in arguments]
    assert [len(one) for one in calls] == [1, 1, 1]
    assert_valid([call for one in calls for call in one], TOOLS)
    assert reasons == {"tool_calls"}


def test_choices_differ_under_one_seed(sdk: OpenAI, model: str) -> None:
    answer = sdk.chat.completions.create(**request(model, n=4, seed=11, temperature=1.5, tool_choice=named(EVENT)))
    assert len({str(made(choice.message)) for choice in answer.choices}) > 1


def test_a_seed_repeats_a_choice(sdk: OpenAI, model: str) -> None:
    """Alone in the batch and with the prompt cached both times: otherwise a rounding may tip a token."""
    body = request(model, seed=11, temperature=1, tool_choice=named(ADD))
    _, first, second = (made(sdk.chat.completions.create(**body).choices[0].message) for _ in range(3))
    assert first == second


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("top", [None, 0, 3])
def test_logprobs_come_with_calls(sdk: OpenAI, model: str, stream: bool, top: int | None) -> None:
    body = request(model, logprobs=True, temperature=0, tool_choice=named(ADD), parallel_tool_calls=False)
    if top is not None:
        body["top_logprobs"] = top
    entries: list[Any] = []
    if stream:
        for chunk in sdk.chat.completions.create(**body, stream=True):
            for choice in chunk.choices:
                entries += (choice.logprobs.content or []) if choice.logprobs else []
    else:
        answer = sdk.chat.completions.create(**body)
        assert answer.choices[0].logprobs is not None
        entries = answer.choices[0].logprobs.content or []
        assert answer.usage is not None
        assert len(entries) <= answer.usage.completion_tokens
    assert len(entries) >= 5
    for entry in entries:
        assert entry.logprob <= 0
        assert entry.bytes is None or bytes(entry.bytes).decode("utf-8", "replace") == entry.token
        assert len(entry.top_logprobs) == (top or 0)
        ranked = [other.logprob for other in entry.top_logprobs]
        assert ranked == sorted(ranked, reverse=True)


def test_logprobs_of_text(sdk: OpenAI, model: str) -> None:
    body = {"model": model, "messages": user("Say hello."), "logprobs": True, "top_logprobs": 2, "max_tokens": 12}
    (choice,) = sdk.chat.completions.create(**body, temperature=0).choices
    assert choice.logprobs is not None
    assert choice.logprobs.content is not None
    text = b"".join(bytes(entry.bytes or []) for entry in choice.logprobs.content).decode()
    assert choice.message.content is not None
    assert text.startswith(choice.message.content)


def test_no_logprobs_unless_asked(sdk: OpenAI, model: str) -> None:
    (choice,) = sdk.chat.completions.create(model=model, messages=user("Hello"), max_tokens=4).choices
    assert choice.logprobs is None


def test_logit_bias_moves_the_text(sdk: OpenAI, model: str) -> None:
    """One token is pushed so hard that the answer is that token, again and again."""
    body: dict[str, Any] = {"model": model, "messages": user("Say hello."), "temperature": 0, "max_tokens": 4}
    pushed = sdk.chat.completions.create(**body, logit_bias={"5000": 100}, logprobs=True).choices[0]
    assert pushed.logprobs is not None
    assert len({entry.token for entry in pushed.logprobs.content or []}) == 1
    assert pushed.message.content != sdk.chat.completions.create(**body).choices[0].message.content


def test_penalties_move_the_text(sdk: OpenAI, model: str) -> None:
    body: dict[str, Any] = {
        "model": model,
        "messages": user("Say no no no no no no."),
        "temperature": 0,
        "max_tokens": 40,
    }
    plain = sdk.chat.completions.create(**body).choices[0].message.content
    moved = sdk.chat.completions.create(**body, presence_penalty=2, frequency_penalty=2).choices[0].message.content
    assert moved != plain


@pytest.mark.anyio
async def test_no_sampling_option_breaks_a_call(async_sdk: AsyncOpenAI, model: str) -> None:
    """Temperature 2, long random seeds, strong penalties and biases, in one batch."""
    rng = random.Random(20_261_129)
    options: list[dict[str, Any]] = []
    for _ in range(16):
        tool = rng.choice(TOOLS)
        options.append(
            {
                "messages": user(tool.prompt),
                "tool_choice": rng.choice(["required", named(tool)]),
                "temperature": rng.choice([1, 1.5, 2]),
                "seed": rng.getrandbits(62),
                "presence_penalty": rng.uniform(-2, 2),
                "frequency_penalty": rng.uniform(-2, 2),
                "logit_bias": {str(rng.randrange(49_000)): rng.randint(-100, 100) for _ in range(20)},
                "logprobs": rng.random() < 0.3,
                "max_tokens": 160,
            }
        )
    answers = await asyncio.gather(*(async_sdk.chat.completions.create(**request(model, **one)) for one in options))
    finished = 0
    for answer in answers:
        (choice,) = answer.choices
        assert_valid(made(choice.message), TOOLS)
        assert choice.finish_reason in ("tool_calls", "length")
        assert made(choice.message) or choice.finish_reason == "length"
        finished += choice.finish_reason == "tool_calls"
    assert finished >= len(options) * 0.5, "most of the calls should fit their budget"
