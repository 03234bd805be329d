"""The last check: what a finished call holds against what its tool asks for."""

from __future__ import annotations

from collections.abc import Mapping

from decoding.tools import Tool
from schemas import CompiledSchema
from server import strict_json


def arguments_fault(tool: Tool, arguments: str) -> str | None:
    """Why ``arguments`` is not one strict JSON object that is valid for ``tool``; ``None`` when it is.

    Two schemas have a say: the one the call was held to (an object, nothing undeclared) and the one the client wrote.
    """
    try:
        value = strict_json.loads(arguments)
    except strict_json.StrictJsonError as error:
        return f"arguments of {tool.name!r} are not strict JSON: {error}"
    if not isinstance(value, dict):
        return f"arguments of {tool.name!r} are not a JSON object"
    faults = tool.compiled.validate(value)
    return f"arguments of {tool.name!r}: {'; '.join(faults[:3])}" if faults else None


def text_fault(schema: CompiledSchema, text: str) -> str | None:
    """Why ``text`` is not one strict JSON value of ``schema``; ``None`` when it is."""
    try:
        value = strict_json.loads(text)
    except strict_json.StrictJsonError as error:
        return f"the answer is not strict JSON: {error}"
    faults = schema.validate(value)
    return f"the answer: {'; '.join(faults[:3])}" if faults else None


def offered_names(tools: Mapping[str, Tool], chosen: tuple[str, ...] | None) -> frozenset[str]:
    """The names that a call may have under this choice."""
    return frozenset(tools) if chosen is None else frozenset(chosen)
