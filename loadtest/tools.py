"""Tools to offer under load: a few built in, each with a prompt, and whatever corpus of schemas lies at hand."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadtest.validity import argument_faults


@dataclass(frozen=True, slots=True)
class LoadTool:
    """A function tool and a user's sentence that asks for it. ``parameters`` None: the tool takes nothing."""

    name: str
    description: str
    parameters: dict[str, Any] | None
    prompt: str

    def wire(self) -> dict[str, Any]:
        """The tool as a Chat Completions request carries it."""
        function: dict[str, Any] = {"name": self.name, "description": self.description}
        if self.parameters is not None:
            function["parameters"] = self.parameters
        return {"type": "function", "function": function}


def call_faults(name: str, arguments: str, tools: list[LoadTool]) -> list[str]:
    """What is wrong with a call, given the tools that were offered."""
    offered = {tool.name: tool for tool in tools}
    if name not in offered:
        return [f"a call of {name!r}, which was not offered: {sorted(offered)}"]
    return [f"{name}: {fault}" for fault in argument_faults(arguments, offered[name].parameters)]


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


# Small on purpose: a call that fits the budget is a call that can be judged.
BUILT_IN: tuple[LoadTool, ...] = (
    LoadTool(
        "get_weather",
        "Get the current weather in a city.",
        _object(
            ["city"],
            city={"type": "string", "maxLength": 30},
            unit={"type": "string", "enum": ["celsius", "fahrenheit"]},
        ),
        "What is the weather in Paris right now?",
    ),
    LoadTool(
        "add_numbers",
        "Add two integers.",
        _object(
            ["a", "b"],
            a={"type": "integer", "minimum": -9999, "maximum": 9999},
            b={"type": "integer", "minimum": 0, "maximum": 99},
        ),
        "Please add 17 and 25.",
    ),
    LoadTool(
        "create_event",
        "Put an event into the calendar.",
        _object(
            ["title", "day", "attendees"],
            title={"type": "string", "minLength": 1, "maxLength": 40},
            day={"type": "string", "format": "date"},
            attendees={"type": "array", "items": {"type": "string", "maxLength": 20}, "minItems": 1, "maxItems": 3},
            reminder={"anyOf": [{"type": "integer", "minimum": 0, "maximum": 120}, {"type": "null"}]},
        ),
        "Schedule lunch with Ana and Bob on 3 May 2026.",
    ),
    LoadTool(
        "set_light",
        "Switch a lamp or change its colour.",
        _object(
            ["room", "state"],
            room={"enum": ["kitchen", "hall", "bedroom"]},
            state={
                "oneOf": [
                    _object(["on"], on={"type": "boolean"}),
                    _object(["colour"], colour={"type": "string", "pattern": "^#[0-9a-f]{6}$"}),
                ]
            },
        ),
        "Turn the kitchen light red.",
    ),
    LoadTool("ping", "Check that the service is alive.", None, "Is the service up?"),
)


def corpus_tools(folder: Path) -> list[LoadTool]:
    """Every schema below ``folder``: files with a list of MCP tools (``name``, ``inputSchema``) or one ``schema``."""
    tools = []
    for path in sorted(folder.rglob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(document, dict) and "schema" in document:
            tools.append(_corpus_tool(f"{path.stem[:2]}_{document['name']}", document["schema"]))
        elif isinstance(document, list):
            tools += [
                _corpus_tool(f"{path.stem}_{t['name']}", t["inputSchema"]) for t in document if "inputSchema" in t
            ]
    return tools


def corpus_folder() -> Path | None:
    """``STRICTCALL_SHARED/schemas``, or ``shared/schemas`` beside the checkout; None where there is none."""
    shared = Path(os.environ.get("STRICTCALL_SHARED") or Path(__file__).parents[1].parent / "shared")
    return shared / "schemas" if (shared / "schemas").is_dir() else None


def _corpus_tool(name: str, schema: dict[str, Any]) -> LoadTool:
    cleaned = "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "_" for char in name)[:64]
    return LoadTool(cleaned, f"The {cleaned} tool.", schema, f"Please use the {cleaned} tool now.")
