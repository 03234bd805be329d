"""The last check: what a finished call holds against what its tool asks for."""

from __future__ import annotations

import json
from typing import Any

from decoding.tools import Tool
from schemas import CompiledSchema
from server import strict_json
from server.undeclared import declared_names, undeclared_key


def arguments_fault(tool: Tool, arguments: str, *, declared_only: bool) -> str | None:
    """Why ``arguments`` is not one strict JSON object that is valid for ``tool``; ``None`` when it is.

    ``declared_only``: keys that the schema says nothing of are a fault too.
    """
    fault = _json_fault(tool.compiled, arguments)
    if fault is None and declared_only and tool.compiled.closed:
        undeclared = undeclared_key(tool.compiled.schema, json.loads(arguments))
        fault = None if undeclared is None else f"{undeclared} is not declared"
    return None if fault is None else f"arguments of {tool.name!r}: {fault}"


def text_fault(schema: CompiledSchema, text: str) -> str | None:
    """Why ``text`` is not one strict JSON value of ``schema``; ``None`` when it is."""
    fault = _json_fault(schema, text)
    return None if fault is None else f"the answer: {fault}"


def _json_fault(schema: CompiledSchema, text: str) -> str | None:
    try:
        readings: tuple[Any, ...] = (strict_json.loads(text),)
    except strict_json.RepeatedKeyError as error:
        # No grammar can remember free names. A repeated one is no fault where every parser reads a valid value; a
        # repeated name that the schema declares always is.
        last, first, repeated = strict_json.readings(text)
        if repeated & declared_names(schema.schema):
            return str(error)
        readings = (last, first)
    except strict_json.StrictJsonError as error:
        return f"not strict JSON: {error}"
    faults = [fault for value in readings for fault in schema.validate(value)]
    return "; ".join(faults[:3]) or None
