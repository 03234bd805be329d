"""What is asked: the benchmark tools (40 tools of seven MCP servers where the corpus lies at hand) and plain chat."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from loadtest.tools import BUILT_IN

SERVERS = ("filesystem", "everything", "fetch", "time", "sequential-thinking", "google-maps", "context7")
QUESTIONS = (
    "What time is it in Tokyo?",
    "Read the file notes.txt.",
    "How far is it from Rome to Milan?",
    "Fetch https://example.org for me.",
    "List what is in the folder data.",
    "Add seven and eleven.",
    "Find the library react.",
    "Where is the Eiffel Tower?",
)


def corpus() -> Path | None:
    """Where the MCP servers' tools lie: ``STRICTCALL_SHARED``, or ``shared`` beside the repository."""
    root = Path(os.environ.get("STRICTCALL_SHARED", Path(__file__).parents[2].parent / "shared"))
    folder = root / "schemas" / "mcp"
    return folder if folder.is_dir() else None


def benchmark_tools() -> tuple[list[dict[str, Any]], str]:
    """The tools as a request carries them, and what they are, for the report."""
    folder = corpus()
    if folder is None:
        return [tool.wire() for tool in BUILT_IN], f"the {len(BUILT_IN)} built-in tools (no corpus at hand)"
    tools = []
    for server in SERVERS:
        for tool in json.loads((folder / f"{server}.json").read_text(encoding="utf-8")):
            function = {"name": tool["name"], "description": tool.get("description", "")[:300], "strict": True}
            tools.append({"type": "function", "function": function | {"parameters": tool["inputSchema"]}})
    return tools, f"{len(tools)} tools of {', '.join(SERVERS)}"


def forced_call(tools: list[dict[str, Any]], number: int, temperature: float) -> dict[str, Any]:
    """A call is demanded."""
    return _chat(number, temperature, 160) | {"tools": tools, "tool_choice": "required"}


def text_beside_tools(tools: list[dict[str, Any]], number: int, tokens: int) -> dict[str, Any]:
    """The tools are offered; the question wants prose."""
    body = _chat(number, 0.0, tokens) | {"tools": tools, "tool_choice": "auto"}
    body["messages"] = [{"role": "user", "content": f"Tell me a story about number {number}. Do not call a function."}]
    return body


def plain(number: int, tokens: int) -> dict[str, Any]:
    body = _chat(number, 0.0, tokens)
    body["messages"] = [{"role": "user", "content": f"Tell me a story about number {number}."}]
    return body


def unseen(tools: list[dict[str, Any]], number: int) -> dict[str, Any]:
    """The same tools with a name that no request had before: a grammar never seen."""
    extra = {"name": f"extra_{number}", "strict": True}
    extra_tool = {"type": "function", "function": extra | {"parameters": BUILT_IN[0].parameters}}
    return forced_call([*tools, extra_tool], number, 0.0)


def _chat(number: int, temperature: float, tokens: int) -> dict[str, Any]:
    question = QUESTIONS[number % len(QUESTIONS)]
    return {
        "messages": [{"role": "user", "content": question}],
        "temperature": temperature,
        "max_tokens": tokens,
        "parallel_tool_calls": False,
    }
