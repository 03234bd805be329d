"""Clients of the real server: the OpenAI SDK, sync and async, and a plain HTTP client for the bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
from openai import AsyncOpenAI, OpenAI

from loadtest.tools import LoadTool, corpus_folder, corpus_tools
from tests.conftest import RunningServer

TIMEOUT = 240.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("engine")


@pytest.fixture(scope="session")
def sdk(running_server: RunningServer) -> Iterator[OpenAI]:
    """Retries off: a 5xx that a retry would hide is what these tests look for."""
    url = f"{running_server.url}/v1"
    with OpenAI(base_url=url, api_key=running_server.key, max_retries=0, timeout=TIMEOUT) as client:
        yield client


@pytest.fixture
async def async_sdk(running_server: RunningServer) -> AsyncIterator[AsyncOpenAI]:
    url = f"{running_server.url}/v1"
    async with AsyncOpenAI(base_url=url, api_key=running_server.key, max_retries=0, timeout=TIMEOUT) as client:
        yield client


@pytest.fixture(scope="session")
def http(running_server: RunningServer) -> Iterator[httpx2.Client]:
    """Bytes as they are; paths are relative to the server's root."""
    headers = {"authorization": f"Bearer {running_server.key}"}
    limits = httpx2.Limits(max_connections=None)
    with httpx2.Client(base_url=running_server.url, headers=headers, timeout=TIMEOUT, limits=limits) as client:
        yield client


@pytest.fixture(scope="session")
def model(sdk: OpenAI) -> str:
    return sdk.models.list().data[0].id


@pytest.fixture(scope="session")
def corpus() -> list[LoadTool]:
    """Schemas that real tools have, where they lie beside the checkout."""
    folder = corpus_folder()
    if folder is None:
        pytest.skip("no shared/schemas beside the checkout (STRICTCALL_SHARED names another place)")
    return corpus_tools(folder)
