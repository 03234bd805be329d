"""Tools and tool choice as the decoder sees them, and what a tool's argument schema becomes before it is compiled."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import jsonschema_rs

from schemas import CompiledSchema, SchemaError, compile_schema

Undeclared: TypeAlias = Literal["forbid", "allow"]
Mode: TypeAlias = Literal["none", "auto", "required"]

NAME_PATTERN = re.compile(r"[A-Za-z0-9_.:/-]{1,256}")
"""Names that every format can write as they are. The wire protocols allow fewer."""

NO_ARGUMENTS: dict[str, Any] = {"type": "object", "maxProperties": 0}


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool that may be called. ``parameters`` is the schema as the client wrote it, for the prompt; ``compiled``
    is what ``argument_schema(parameters)`` compiled to. Raises ValueError for a name outside ``NAME_PATTERN``."""

    name: str
    description: str
    parameters: dict[str, Any] | bool
    strict: bool | None
    compiled: CompiledSchema

    def __post_init__(self) -> None:
        if not NAME_PATTERN.fullmatch(self.name):
            raise ValueError(f"tool name {self.name!r}: use letters, digits and _ - . : / only")


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether calls are forbidden, possible or demanded, and of which tools (``None``: of all).

    A named choice is ``required`` with one name and ``once``; ``allowed_tools`` is a mode with names."""

    mode: Mode
    names: tuple[str, ...] | None = None
    once: bool = False
    """The answer is exactly one call, whatever ``parallel`` says."""


def argument_schema(parameters: Mapping[str, Any] | bool | None) -> dict[str, Any]:
    """The schema that a call's arguments are held to: ``parameters`` intersected with "object".

    For a tool that declares nothing (see ``declares_nothing``) ``{}`` alone is left. Values valid against the result
    are valid against ``parameters``. Raises SchemaError when no object can be valid by the root's ``type``.
    """
    if parameters is None or parameters is True:
        return dict(NO_ARGUMENTS) if parameters is None else {"type": "object"}
    if parameters is False:
        raise SchemaError("", "", "the schema allows no arguments at all; a tool without arguments leaves it out")
    narrowed = _as_object(dict(parameters))
    return narrowed | {"maxProperties": 0} if declares_nothing(parameters) else narrowed


def _as_object(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with "object" as the root's type and nothing else changed."""
    kind = schema.get("type")
    if kind is not None and "object" not in (kind if isinstance(kind, list) else [kind]):
        raise SchemaError("", "type", "tool arguments are a JSON object, and this type leaves none")
    if _refers_to_root(schema) and kind not in ("object", ["object"]):
        # References to the root mean the root as it was written: it stays whole, as a resource of its own.
        resource = {"$id": "urn:strictcall:arguments"} | {k: v for k, v in schema.items() if k != "$schema"}
        dialect = {"$schema": schema["$schema"]} if "$schema" in schema else {}
        return dialect | {"type": "object", "allOf": [resource]}
    if "$ref" in schema:
        # Up to draft 7 the siblings of a $ref do not count.
        branches = [*_list(schema.get("allOf")), {"$ref": schema.pop("$ref")}]
        return schema | {"type": "object", "allOf": branches}
    return schema | {"type": "object"}


def declares_nothing(schema: Mapping[str, Any]) -> bool:
    """Whether a tool with this schema takes no arguments: ``{}`` is valid, and neither the root nor anything that
    applies to the root (``$ref``, ``allOf`` and the other applicators) declares, patterns or requires a member, lists
    values, or opens ``additionalProperties`` (absent or false)."""
    for part in _root_parts(schema):
        if part is None:
            return False
        if any(part.get(key) for key in ("properties", "patternProperties", "required", "dependentRequired")):
            return False
        if any(key in part for key in ("enum", "const", "propertyNames", "$dynamicRef", "$recursiveRef")):
            return False
        if any(part.get(key, False) is not False for key in ("additionalProperties", "unevaluatedProperties")):
            return False
    try:
        # Offline: a reference must never make the server fetch anything.
        return bool(jsonschema_rs.validator_for(dict(schema), offline=True).is_valid({}))
    except (ValueError, TypeError, RecursionError, jsonschema_rs.ReferencingError):
        return False


_BRANCHES = ("allOf", "anyOf", "oneOf")
_SINGLE = ("not", "if", "then", "else")
_NAMED = ("dependentSchemas", "dependencies")


def _root_parts(root: Mapping[str, Any]) -> Iterator[Mapping[str, Any] | None]:
    """The object schemas that apply to the root value; ``None`` for what cannot be followed."""
    seen: set[int] = set()
    waiting: list[Any] = [root]
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, bool) or id(schema) in seen:
            continue
        seen.add(id(schema))
        if not isinstance(schema, Mapping) or any(schema.get(key) for key in _NAMED):
            yield None
            continue
        yield schema
        if "$ref" in schema:
            waiting.append(_resolve(schema["$ref"], root))
        for key in _BRANCHES:
            waiting.extend(_list(schema.get(key)))
        waiting.extend(schema[key] for key in _SINGLE if key in schema)


def _resolve(ref: Any, root: Mapping[str, Any]) -> Any:
    """The target of a local JSON pointer, or ``None``."""
    if not isinstance(ref, str) or not ref.startswith("#") or (ref != "#" and not ref.startswith("#/")):
        return None
    target: Any = root
    for step in ref[2:].split("/") if ref != "#" else []:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping) and step in target:
            target = target[step]
        elif isinstance(target, list) and step.isdecimal() and int(step) < len(target):
            target = target[int(step)]
        else:
            return None
    return target


def _refers_to_root(schema: Mapping[str, Any]) -> bool:
    waiting: list[Any] = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            if value.get("$ref") == "#" or "$recursiveRef" in value or "$dynamicRef" in value:
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def tool_from_wire(tool: Mapping[str, Any], *, undeclared: Undeclared = "forbid") -> Tool:
    """A tool from its Chat Completions form ``{"type": "function", "function": {…}}``, compiled here and now (cached
    by the schema's text). Raises ValueError for another form and SchemaError for a schema that is refused."""
    function = tool.get("function")
    if tool.get("type", "function") != "function" or not isinstance(function, Mapping):
        raise ValueError("a tool is {'type': 'function', 'function': {'name': …, 'parameters': …}}")
    parameters = function.get("parameters")
    try:
        schema = json.dumps(argument_schema(parameters))
    except RecursionError:
        raise SchemaError("", "", "the schema is over the limit of nesting") from None
    return Tool(
        name=str(function.get("name", "")),
        description=function.get("description") or "",
        parameters=NO_ARGUMENTS_AS_SHOWN if parameters is None else parameters,
        strict=function.get("strict"),
        compiled=_compile(schema, undeclared),
    )


NO_ARGUMENTS_AS_SHOWN: dict[str, Any] = {"type": "object", "properties": {}}
"""What the prompt shows for a tool without ``parameters``."""


@lru_cache(maxsize=512)
def _compile(schema: str, undeclared: Undeclared) -> CompiledSchema:
    return compile_schema(json.loads(schema), undeclared=undeclared)


_MODES: dict[object, Mode] = {"none": "none", "auto": "auto", "required": "required"}


def tool_choice_from_wire(choice: str | Mapping[str, Any] | None) -> ToolChoice:
    """Chat Completions' ``tool_choice``: a mode, a named function, or ``allowed_tools``. Raises ValueError."""
    if choice is None:
        return ToolChoice("auto")
    if isinstance(choice, str) and choice in _MODES:
        return ToolChoice(_MODES[choice])
    if isinstance(choice, Mapping) and choice.get("type") == "function":
        return ToolChoice("required", (choice["function"]["name"],), once=True)
    if isinstance(choice, Mapping) and choice.get("type") == "allowed_tools":
        allowed = choice["allowed_tools"]
        return ToolChoice(allowed["mode"], tuple(tool["function"]["name"] for tool in allowed["tools"]))
    raise ValueError(f"tool_choice {choice!r}: use none, auto, required, a function or allowed_tools")
