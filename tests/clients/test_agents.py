"""Agent libraries, unmodified: the model calls, their loop runs the function, the model answers; streamed and not."""

from __future__ import annotations

from typing import Any

import agents
import pytest
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI
from pydantic import BaseModel, SecretStr
from pydantic_ai import Agent
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from tests.clients.asking import WEATHER
from tests.conftest import RunningServer

RESULT = "18 degrees in Paris"


class City(BaseModel):
    """A city and its weather."""

    city: str
    sunny: bool


def weather(city: str) -> str:
    """Get the current weather in a city."""
    return RESULT


@pytest.fixture(scope="module")
def langchain(running_server: RunningServer, model: str) -> ChatOpenAI:
    return ChatOpenAI(
        base_url=f"{running_server.url}/v1",
        api_key=SecretStr(running_server.key),
        model=model,
        temperature=0,
        max_completion_tokens=120,
        max_retries=0,
    )


@pytest.mark.parametrize("choice", ["auto", "required", "weather"])
def test_langchain_calls(langchain: ChatOpenAI, choice: str) -> None:
    message = langchain.bind_tools([tool(weather)], tool_choice=choice).invoke(WEATHER.prompt)
    (call,) = message.tool_calls
    assert call["name"] == "weather"
    assert set(call["args"]) == {"city"}
    assert message.response_metadata["finish_reason"] == "tool_calls"
    assert not message.invalid_tool_calls


def test_langchain_streams(langchain: ChatOpenAI) -> None:
    total: Any = None
    for chunk in langchain.bind_tools([tool(weather)], tool_choice="required").stream(WEATHER.prompt):
        total = chunk if total is None else total + chunk
    (call,) = total.tool_calls
    assert call["name"] == "weather"
    assert set(call["args"]) == {"city"}


@pytest.mark.parametrize("method", ["function_calling", "json_schema"])
def test_langchain_structured_output(langchain: ChatOpenAI, method: Any) -> None:
    assert isinstance(langchain.with_structured_output(City, method=method).invoke("Is it sunny in Rome?"), City)


@pytest.fixture
def pydantic_ai(running_server: RunningServer, model: str) -> Agent[None, str]:
    provider = OpenAIProvider(base_url=f"{running_server.url}/v1", api_key=running_server.key)
    settings = ModelSettings(temperature=0, max_tokens=120)
    agent = Agent(OpenAIChatModel(model, provider=provider), model_settings=settings)
    agent.tool_plain(weather)
    return agent


@pytest.mark.anyio
async def test_pydantic_ai(pydantic_ai: Agent[None, str]) -> None:
    run = await pydantic_ai.run(WEATHER.prompt)
    calls = [part for message in run.all_messages() for part in message.parts if isinstance(part, ToolCallPart)]
    assert [call.tool_name for call in calls] == ["weather"]
    assert run.output


@pytest.mark.anyio
async def test_pydantic_ai_streams(pydantic_ai: Agent[None, str]) -> None:
    async with pydantic_ai.run_stream(WEATHER.prompt) as run:
        assert await run.get_output()
    assert any(isinstance(part, ToolCallPart) for message in run.all_messages() for part in message.parts)


@pytest.mark.anyio
async def test_pydantic_ai_output_type(running_server: RunningServer, model: str) -> None:
    provider = OpenAIProvider(base_url=f"{running_server.url}/v1", api_key=running_server.key)
    settings = ModelSettings(temperature=0, max_tokens=120)
    agent = Agent(OpenAIChatModel(model, provider=provider), output_type=City, model_settings=settings)
    assert isinstance((await agent.run("Is it sunny in Rome?")).output, City)


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
async def test_openai_agents(running_server: RunningServer, model: str, stream: bool) -> None:
    agents.set_tracing_disabled(True)
    async with AsyncOpenAI(base_url=f"{running_server.url}/v1", api_key=running_server.key, max_retries=0) as client:
        agent: agents.Agent[Any] = agents.Agent(
            name="weather",
            model=agents.OpenAIChatCompletionsModel(model, client),
            tools=[agents.function_tool(weather)],
            model_settings=agents.ModelSettings(temperature=0, max_tokens=120),
        )
        run: agents.RunResult | agents.RunResultStreaming
        if stream:
            run = agents.Runner.run_streamed(agent, WEATHER.prompt, max_turns=4)
            async for _ in run.stream_events():
                pass
        else:
            run = await agents.Runner.run(agent, WEATHER.prompt, max_turns=4)
    kinds = [type(item).__name__ for item in run.new_items]
    assert kinds[:2] == ["ToolCallItem", "ToolCallOutputItem"]
    assert run.final_output
