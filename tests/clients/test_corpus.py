"""Every schema that real tools have (MCP servers, Pydantic, zod) as a tool: the call is valid, or the tool is refused
with a reason. All are asked at once, as one batch; then each is looked at."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from openai import AsyncOpenAI, BadRequestError

from loadtest.tools import LoadTool, corpus_folder, corpus_tools
from tests.clients.asking import assert_valid, made, named, user, wires
from tests.conftest import RunningServer

FOLDER = corpus_folder()
CORPUS = corpus_tools(FOLDER) if FOLDER else []
AT_ONCE = 48
BUDGET = 400


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one tool: calls and finish reason, or the refusal."""

    calls: list[tuple[str, str]]
    finish_reason: str
    refusal: BadRequestError | None = None


async def _ask(sdk: AsyncOpenAI, model: str, tool: LoadTool, turn: asyncio.Semaphore) -> Outcome:
    body: dict[str, Any] = {"model": model, "messages": user(tool.prompt), "tools": wires((tool,))}
    body |= {"tool_choice": named(tool), "parallel_tool_calls": False, "temperature": 0.7, "seed": 1}
    async with turn:
        try:
            answer = await sdk.chat.completions.create(**body, max_tokens=BUDGET)
        except BadRequestError as error:
            return Outcome([], "", error)
    (choice,) = answer.choices
    return Outcome(made(choice.message), choice.finish_reason)


@pytest.fixture(scope="module")
def outcomes(running_server: RunningServer) -> dict[str, Outcome]:
    async def all_of_them() -> list[Outcome]:
        turn = asyncio.Semaphore(AT_ONCE)
        url = f"{running_server.url}/v1"
        async with AsyncOpenAI(base_url=url, api_key=running_server.key, max_retries=0, timeout=500) as sdk:
            model = (await sdk.models.list()).data[0].id
            return await asyncio.gather(*(_ask(sdk, model, tool, turn) for tool in CORPUS))

    return dict(zip((tool.name for tool in CORPUS), asyncio.run(all_of_them()), strict=True))


@pytest.mark.skipif(not CORPUS, reason="no shared/schemas beside the checkout (STRICTCALL_SHARED names another place)")
def test_the_corpus_is_all_there() -> None:
    assert len(CORPUS) >= 120
    assert len({tool.name for tool in CORPUS}) == len(CORPUS)


@pytest.mark.parametrize("tool", CORPUS, ids=lambda tool: tool.name)
def test_valid_or_refused_with_a_reason(outcomes: dict[str, Outcome], tool: LoadTool) -> None:
    outcome = outcomes[tool.name]
    if outcome.refusal is not None:
        body: Any = outcome.refusal.body
        assert body["code"] == "invalid_function_parameters"
        assert body["param"] == "tools[0].function.parameters"
        assert tool.name in body["message"]
        pytest.skip(f"refused: {body['message']}")
    assert_valid(outcome.calls, (tool,))
    if outcome.finish_reason == "length":
        assert outcome.calls == []  # cut, and not passed off as complete
    else:
        assert outcome.finish_reason == "tool_calls"
        assert [name for name, _ in outcome.calls] == [tool.name]


@pytest.mark.skipif(not CORPUS, reason="no shared/schemas beside the checkout")
def test_nearly_all_are_served_and_complete(outcomes: dict[str, Outcome]) -> None:
    refused = [name for name, outcome in outcomes.items() if outcome.refusal]
    cut = [name for name, outcome in outcomes.items() if outcome.finish_reason == "length"]
    assert len(refused) <= len(CORPUS) * 0.1, refused
    assert len(cut) <= len(CORPUS) * 0.3, cut
