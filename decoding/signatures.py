"""A tool in one line for the prompt: ``- get_weather(city: string, unit?: "c" | "f"): Current weather``.

This is for the model to read, and short because prompts are paid for by the token; what holds the arguments to their
schema is the grammar.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from decoding.tools import Tool

_DEPTH = 3
_CHOICES = 12
_UNION = 4


def signature(tool: Tool) -> str:
    """The tool's line, and a line for each parameter that has a description."""
    root = tool.parameters if isinstance(tool.parameters, Mapping) else {}
    members = _members(_followed(root, root))
    described = [
        f"\n    {name}: {' '.join(text.split())}"
        for name, member in members.items()
        if isinstance(member, Mapping) and isinstance(text := member.get("description"), str) and text.strip()
    ]
    description = f": {' '.join(tool.description.split())}" if tool.description.strip() else ""
    return f"- {tool.name}({_parameters(root, root, _DEPTH)}){description}{''.join(described)}"


def _parameters(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    schema = _followed(schema, root)
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) else set()
    return ", ".join(
        f"{name}{'' if name in needed else '?'}: {_type(member, root, depth)}"
        for name, member in _members(schema).items()
    )


def _members(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    members = schema.get("properties")
    return members if isinstance(members, Mapping) else {}


def _type(schema: Any, root: Mapping[str, Any], depth: int) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    schema = _followed(schema, root)
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    choices = schema.get("enum")
    if isinstance(choices, list) and 0 < len(choices) <= _CHOICES:
        return " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, list) and 0 < len(branches) <= _UNION:
            return " | ".join(dict.fromkeys(_type(branch, root, depth - 1) for branch in branches))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(map(str, kind)) or "any"
    if kind == "array":
        return f"{_type(schema['items'], root, depth - 1)}[]" if depth > 0 and "items" in schema else "array"
    if kind == "object" or (kind is None and "properties" in schema):
        return f"{{{_parameters(schema, root, depth - 1)}}}" if depth > 0 and _members(schema) else "object"
    return str(kind) if kind else "any"


def _followed(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema, or what its ``$ref`` into the same document means, as far as that is one step or a few."""
    for _ in range(_DEPTH):
        ref = schema.get("$ref")
        if not isinstance(ref, str) or not ref.startswith("#/"):
            break
        target: Any = root
        for step in ref[2:].split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
        if not isinstance(target, Mapping):
            break
        schema = target
    return schema
