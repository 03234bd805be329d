"""How much of a prompt the engine has cached over a tool loop: ``python -m loadtest.formats --prefix``."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import httpx2

from loadtest.random_model import engine_of
from server.app import create_app
from server.embedded import default_cache_dir, prepare
from server.settings import Settings

TURNS = 10
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_page",
            "description": "Read one page of the manual.",
            "parameters": {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]},
        },
    }
]
Post = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


def bodies(model: str) -> Iterator[dict[str, Any]]:
    """The requests of a client that lets the model read page after page; each has the conversation before it."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You answer questions about a manual."},
        {"role": "user", "content": "What does the manual say of the valves?"},
    ]
    for page in range(TURNS + 1):
        yield {"model": model, "messages": list(messages), "tools": TOOLS, "max_tokens": 1, "temperature": 0}
        call = {"name": "read_page", "arguments": f'{{"page": {page}}}'}
        text = " ".join(f"On page {page}, line {line}, valve {page * line} is described." for line in range(12))
        messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call_{page}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"call_{page}", "content": text},
        ]


async def measure(model: str, post: Post) -> list[tuple[int, int]]:
    """(tokens of the prompt, of these cached) for every turn."""
    figures = []
    for body in bodies(model):
        usage = (await post(body))["usage"]
        figures.append((usage["prompt_tokens"], usage["prompt_tokens_details"]["cached_tokens"]))
    return figures


async def run() -> int:
    """Measures with the embedded model, prints a table; 1 when a turn has not more cached than the one before."""
    async with engine_of(str(prepare(default_cache_dir(), print)), max_model_len=8192) as engine:
        app = create_app(Settings(), engine)
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://server", timeout=None) as client:

            async def post(body: dict[str, Any]) -> dict[str, Any]:
                answer: dict[str, Any] = (await client.post("/v1/chat/completions", json=body)).json()
                return answer

            figures = await measure(engine.model_names[0], post)
        await app.state.serving.close()
    print("| turn | prompt tokens | cached | share |\n|---|---|---|---|")
    for turn, (tokens, cached) in enumerate(figures):
        print(f"| {turn} | {tokens} | {cached} | {cached / tokens:.0%} |")
    return 0 if grows(figures) else 1


def grows(figures: list[tuple[int, int]]) -> bool:
    """Whether every turn after the first has more cached than the one before."""
    cached = [each for _, each in figures]
    return all(less < more for less, more in itertools.pairwise(cached))
