"""Tools whose arguments are compiled for a format's spelling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from decoding.tools import Tool, tool_from_wire
from schemas import compile_schema
from schemas.spelling import JSON, Members, Spelling


def spelled(tools: Sequence[Tool | Mapping[str, Any]], spelling: Spelling) -> list[Tool]:
    """The tools with their arguments in this spelling; what was compiled for another is compiled again (cached).

    Tools may be given as Chat Completions writes them. Raises what ``tool_from_wire`` and ``compile_schema`` raise.
    """
    return [_spelled(tool if isinstance(tool, Tool) else tool_from_wire(tool), spelling) for tool in tools]


def _spelled(tool: Tool, spelling: Spelling) -> Tool:
    compiled = tool.compiled
    if compiled.spelling == spelling:
        return tool
    again = compile_schema(compiled.schema, undeclared=compiled.undeclared, spelling=spelling)
    return replace(tool, compiled=again)


def members_of(tools: Sequence[Tool | Mapping[str, Any]], spelling: Spelling) -> dict[str, Members]:
    """What the arguments of each tool can be, by the tool's name; nothing for JSON, which says that itself."""
    if spelling == JSON:
        return {}
    return {tool.name: tool.compiled.members for tool in spelled(tools, spelling)}
