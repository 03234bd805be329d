"""A tool whose grammar is wider than its schema, on the real engine: what comes out is valid or is no call at all."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import jsonschema
import pytest

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


def ask(client: httpx2.Client, **fields: Any) -> httpx2.Response:
    model = client.get("/v1/models").json()["data"][0]["id"]
    messages = [{"role": "user", "content": "Draw the numbers 7, 7, 7."}]
    body = {"model": model, "messages": messages, "tools": [TOOL], "tool_choice": "required", "max_tokens": 200}
    return client.post("/v1/chat/completions", json=body | fields)


@pytest.mark.engine
@pytest.mark.parametrize("temperature", [0, 1])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whole(client: httpx2.Client, temperature: float, seed: int) -> None:
    response = ask(client, temperature=temperature, seed=seed)
    if response.status_code == 500:
        assert response.json()["error"]["code"] == "guarantee_violation"
        return
    assert response.status_code == 200, response.text
    message = response.json()["choices"][0]["message"]
    for call in message.get("tool_calls", ()):
        jsonschema.validate(json.loads(call["function"]["arguments"]), PARAMETERS)


@pytest.mark.engine
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_streamed(client: httpx2.Client, seed: int) -> None:
    raw = ask(client, stream=True, temperature=0, seed=seed).text
    frames = [json.loads(line[6:]) for line in raw.splitlines() if line.startswith("data: {")]
    parts = [p for f in frames if "choices" in f for p in f["choices"][0]["delta"].get("tool_calls", ())]
    calls: dict[int, str] = {}
    for part in parts:
        calls[part["index"]] = calls.get(part["index"], "") + part["function"]["arguments"]
    if "error" in frames[-1]:
        assert frames[-1]["error"]["code"] == "guarantee_violation"
        assert calls.popitem()[1] == "", "nothing of the invalid call was sent"
    elif frames[-1]["choices"][0]["finish_reason"] == "length":
        calls.popitem()
    for arguments in calls.values():
        jsonschema.validate(json.loads(arguments), PARAMETERS)
