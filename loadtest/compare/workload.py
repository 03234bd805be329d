"""What is asked: calls of the benchmark tools (40 tools of seven MCP servers, where the corpus lies at hand), calls of
a few small tools, and plain chat.

A small model left alone calls anything, with strings that never end. So the user's message spells the call out, and the
model copies it: both servers then write the same call, which is what a larger model would do by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadtest.tools import BUILT_IN, corpus_folder

SERVERS = ("filesystem", "everything", "fetch", "time", "sequential-thinking", "google-maps", "context7")
#: Values for strings, by what their key is called.
_WORDS = {
    "path": "notes/today.txt",
    "timezone": "Europe/Rome",
    "time": "14:30",
    "source": "notes/today.txt",
    "destination": "notes/old.txt",
    "url": "https://example.org",
    "city": "Paris",
    "query": "coffee in Rome",
    "address": "Via Roma 1, Rome",
}
Tools = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Workload:
    """``calls`` of ``tools``: name and arguments of a call for each of them."""

    tools: Tools
    calls: Sequence[tuple[str, Any]]
    text: str

    def forced(self, number: int, temperature: float, *, named: bool) -> dict[str, Any]:
        """A call is demanded: of any tool, or of the one that the message asks for."""
        name, arguments = self.calls[number % len(self.calls)]
        written = json.dumps(arguments)
        body = _body(f"Call number {number}: {name} with the arguments {written}", temperature, 160)
        choice = {"type": "function", "function": {"name": name}} if named else "required"
        return body | {"tools": self.tools, "tool_choice": choice, "parallel_tool_calls": False}

    def unseen(self, number: int) -> dict[str, Any]:
        """The same with one tool more, of a name that no request had before: a grammar never seen."""
        body = self.forced(number, 0.0, named=False)
        extra = {"name": f"extra_{number}", "strict": True, "parameters": BUILT_IN[0].parameters}
        return body | {"tools": [*self.tools, {"type": "function", "function": extra}]}

    def text_beside(self, number: int, tokens: int) -> dict[str, Any]:
        """The tools are offered; the question wants prose."""
        body = plain(number, tokens, " Do not call a function.")
        return body | {"tools": self.tools, "tool_choice": "auto"}


def plain(number: int, tokens: int, more: str = "") -> dict[str, Any]:
    """Chat without tools."""
    return _body(f"Tell me a long story about the number {number}.{more}", 0.0, tokens)


def benchmark() -> Workload:
    """The benchmark tools; the built-in ones where the corpus does not lie at hand, which ``text`` says."""
    folder = corpus_folder()
    if folder is None:
        tools = built_in()
        return Workload(tools.tools, tools.calls, f"{tools.text} (the MCP corpus is not at hand)")
    found = [
        _tool(tool["name"], tool.get("description", "")[:300], tool["inputSchema"])
        for server in SERVERS
        for tool in json.loads((folder / "mcp" / f"{server}.json").read_text(encoding="utf-8"))
    ]
    return _workload(found, f"{len(found)} tools of {', '.join(SERVERS)}")


def built_in() -> Workload:
    """The load test's small tools."""
    found = [_tool(tool.name, tool.description, tool.parameters) for tool in BUILT_IN if tool.parameters]
    return _workload(found, f"{len(found)} small tools ({', '.join(tool['function']['name'] for tool in found)})")


def choices_only() -> Workload:
    """One tool without free text, and one that is all free text: a model of random weights ends the first's calls, and
    never the second's."""
    modes = {"enum": ["the_first_of_the_long_choices", "another", "the_last_of_the_long_choices"]}
    closed = {f"a_rather_long_parameter_name_{n}": modes for n in range(4)}
    tools = [
        _tool("choose", "Choose.", _object(closed)),
        _tool("write", "Write a text.", _object({"text": {"type": "string"}})),
    ]
    return _workload(tools, "a tool of four choices and a tool of one free text")


def _tool(name: str, description: str, parameters: Any) -> dict[str, Any]:
    function = {"name": name, "description": description, "strict": True, "parameters": parameters}
    return {"type": "function", "function": function}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _workload(tools: Tools, text: str) -> Workload:
    calls = [(t["function"]["name"], _example(t["function"]["parameters"], "")) for t in tools]
    return Workload(tools, calls, text)


def _example(schema: Any, key: str) -> Any:
    """A plain value of a plain schema: required members only, no references (the benchmark has none)."""
    if not isinstance(schema, dict):
        return "something"
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return _example(schema[union][0], key)
    match schema.get("type"):
        case "object":
            required = schema.get("required", ())
            return {k: _example(v, k) for k, v in schema.get("properties", {}).items() if k in required}
        case "array":
            return [_example(schema.get("items"), key) for _ in range(max(1, schema.get("minItems", 1)))]
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return _string(schema, key)


def _string(schema: Mapping[str, Any], key: str) -> str:
    if schema.get("format") == "date":
        return "2026-05-03"
    if "pattern" in schema:
        return "#a0b1c2"
    return next((word for part, word in _WORDS.items() if part in key.lower()), "some words")


def _body(question: str, temperature: float, tokens: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": question}]
    return {"messages": messages, "temperature": temperature, "max_tokens": tokens}
