"""The last check: what a finished call holds against what its tool asks for."""

from __future__ import annotations

from decoding.tools import Tool
from schemas import CompiledSchema
from server import strict_json
from server.undeclared import undeclared_key


def arguments_fault(tool: Tool, arguments: str, *, declared_only: bool) -> str | None:
    """Why ``arguments`` is not one strict JSON object that is valid for ``tool``; ``None`` when it is.

    ``declared_only``: keys that the schema says nothing of are a fault too.
    """
    try:
        value = strict_json.loads(arguments)
    except strict_json.StrictJsonError as error:
        return f"arguments of {tool.name!r} are not strict JSON: {error}"
    if not isinstance(value, dict):
        return f"arguments of {tool.name!r} are not a JSON object"
    faults = tool.compiled.validate(value)
    if not faults and declared_only and tool.compiled.closed:
        undeclared = undeclared_key(tool.compiled.schema, value)
        faults = [] if undeclared is None else [f"{undeclared} is not declared"]
    return f"arguments of {tool.name!r}: {'; '.join(faults[:3])}" if faults else None


def text_fault(schema: CompiledSchema, text: str) -> str | None:
    """Why ``text`` is not one strict JSON value of ``schema``; ``None`` when it is."""
    try:
        value = strict_json.loads(text)
    except strict_json.StrictJsonError as error:
        return f"the answer is not strict JSON: {error}"
    faults = schema.validate(value)
    return f"the answer: {'; '.join(faults[:3])}" if faults else None
