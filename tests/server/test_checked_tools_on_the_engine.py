"""A tool whose grammar is wider than its schema, on the real engine: what comes out is valid or is no call at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

import httpx2
import jsonschema
import pytest

from tests.clients.asking import at_once
from tests.conftest import RunningServer

PARAMETERS = {
    "type": "object",
    "properties": {
        "numbers": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0},
            "uniqueItems": True,
            "minItems": 3,
            "maxItems": 4,
        }
    },
    "required": ["numbers"],
}
TOOL = {"type": "function", "function": {"name": "draw", "description": "Draw numbers.", "parameters": PARAMETERS}}


@pytest.fixture(scope="module")
def client(running_server: RunningServer) -> httpx2.Client:
    headers = {"authorization": f"Bearer {running_server.key}"}
    return httpx2.Client(base_url=running_server.url, headers=headers, timeout=300)


WAYS = [(stream, temperature, seed) for stream in (False, True) for temperature in (0, 1) for seed in (1, 2, 3)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """All answers, by whether they were streamed, temperature and seed, and how many calls were sampled again."""

    answers: dict[tuple[bool, int, int], Future[httpx2.Response]]
    resampled: float


@pytest.fixture(scope="module")
def outcome(client: httpx2.Client) -> Outcome:
    def resampled() -> float:
        lines = client.get("/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("strictcall_resampled_calls_total"))

    before = resampled()
    answers = at_once({way: partial(ask, client, *way) for way in WAYS})
    return Outcome(answers, resampled() - before)


def ask(client: httpx2.Client, stream: bool, temperature: float, seed: int) -> httpx2.Response:
    model = client.get("/v1/models").json()["data"][0]["id"]
    messages = [{"role": "user", "content": "Draw the numbers 7, 7, 7."}]
    body = {"model": model, "messages": messages, "tools": [TOOL], "tool_choice": "required", "max_tokens": 200}
    body |= {"stream": stream, "temperature": temperature, "seed": seed}
    return client.post("/v1/chat/completions", json=body)


def valid(arguments: str) -> bool:
    jsonschema.validate(json.loads(arguments), PARAMETERS)
    return True


def whole(response: httpx2.Response) -> int:
    """How many calls there were, all of them valid; none with a fault that is told."""
    if response.status_code == 500:
        assert response.json()["error"]["code"] == "guarantee_violation"
        return 0
    assert response.status_code == 200, response.text
    calls = response.json()["choices"][0]["message"].get("tool_calls", [])
    return sum(valid(call["function"]["arguments"]) for call in calls)


def streamed(response: httpx2.Response) -> int:
    frames = [json.loads(line[6:]) for line in response.text.split("\n") if line.startswith("data: {")]
    parts = [p for f in frames if "choices" in f for p in f["choices"][0]["delta"].get("tool_calls", ())]
    calls: dict[int, str] = {}
    for part in parts:
        calls[part["index"]] = calls.get(part["index"], "") + part["function"]["arguments"]
    if "error" in frames[-1]:
        assert frames[-1]["error"]["code"] == "guarantee_violation"
        assert calls.popitem()[1] == "", "nothing of the invalid call was sent"
    elif frames[-1]["choices"][0]["finish_reason"] == "length":
        calls.popitem()
    return sum(map(valid, calls.values()))


@pytest.mark.engine
@pytest.mark.parametrize("read", [whole, streamed])
def test_what_comes_is_valid(outcome: Outcome, read: Callable[[httpx2.Response], int]) -> None:
    found = [read(answer.result()) for (stream, *_), answer in outcome.answers.items() if stream is (read is streamed)]
    assert sum(found) > 0, "not one call came right"


@pytest.mark.engine
def test_some_had_to_be_sampled_again(outcome: Outcome) -> None:
    """Asked for the same number three times, the model writes it: else nothing of this would be tested."""
    assert outcome.resampled > 0
