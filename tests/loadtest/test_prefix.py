"""Over a tool loop of ten turns the server reports more cached tokens at every turn."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from loadtest.prefix import TURNS, grows, measure
from tests.conftest import RunningServer


@pytest.mark.engine
def test_cached_tokens_grow(running_server: RunningServer) -> None:
    headers = {"authorization": f"Bearer {running_server.key}"}
    with httpx2.Client(base_url=running_server.url, headers=headers, timeout=300) as client:

        async def post(body: dict[str, Any]) -> dict[str, Any]:
            response = client.post("/v1/chat/completions", json=body)
            assert response.status_code == 200, response.text
            answer: dict[str, Any] = response.json()
            return answer

        model = client.get("/v1/models").json()["data"][0]["id"]
        figures = asyncio.run(measure(model, post))
    assert len(figures) == TURNS + 1
    assert grows(figures), figures
    tokens, cached = figures[-1]
    assert cached > tokens / 2


def test_what_does_not_grow_is_seen() -> None:
    assert grows([(100, 0), (200, 64), (300, 192)])
    assert not grows([(100, 0), (200, 64), (300, 64)])
