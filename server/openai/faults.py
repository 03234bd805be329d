"""What pydantic found wrong with a body, as one OpenAI error that names the field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from server.errors import ApiError, bad_request

_NOTHING = object()
#: Faults that are looked at: comparing all of a million would take a day.
_MOST = 100
_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", int: "an integer", float: "a number"}
_CODES = {
    "missing": "missing_required_parameter",
    "union_tag_not_found": "missing_required_parameter",
    "string_too_long": "string_above_max_length",
    "string_too_short": "string_below_min_length",
    "too_long": "array_above_max_length",
    "too_short": "empty_array",
    "greater_than_equal": "integer_below_min_value",
    "greater_than": "integer_below_min_value",
    "less_than_equal": "integer_above_max_value",
    "less_than": "integer_above_max_value",
}


def request_fault(error: ValidationError, body: Any, prefix: str = "") -> ApiError:
    """The deepest fault of each field, the first of them in front; ``prefix`` is the path of ``body`` itself."""
    found: dict[str, ErrorDetails] = {}
    for detail in error.errors(include_url=False)[:_MOST]:
        found.setdefault(_path(detail, body, prefix), detail)
    paths = [p for p in found if not any(q != p and q.startswith((f"{p}.", f"{p}[")) for q in found)]
    first = paths[0]
    more = f" ({len(paths) - 1} more: {', '.join(paths[1:6])})" if len(paths) > 1 else ""
    detail = found[first]
    return bad_request(f"{_sentence(first, detail)}{more}", param=first, code=_code(detail))


def _path(detail: ErrorDetails, body: Any, prefix: str) -> str:
    """The location as a client writes it: the names of union branches, which pydantic puts in between, are left out."""
    parts: list[str | int] = []
    value = body
    location: Sequence[str | int] = detail["loc"]
    entered = False  # whether ``value`` is an object whose branch of a union may still be named
    for position, part in enumerate(location):
        last = position == len(location) - 1
        if entered and isinstance(value, dict) and part in (value.get("type"), value.get("role")):
            entered = False
            continue
        inside = _member(value, part)
        if inside is _NOTHING and not (last and detail["type"] == "missing"):
            continue
        parts.append(part)
        value, entered = inside, True
    if detail["type"] in ("union_tag_invalid", "union_tag_not_found"):
        parts.append(detail["ctx"]["discriminator"].strip("'"))
    return join_path(prefix, *parts)


def _member(value: Any, part: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(part, _NOTHING)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return _NOTHING


def join_path(prefix: str, *parts: str | int) -> str:
    """``messages``, 2, ``content`` → ``messages[2].content``."""
    path = prefix
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def _code(detail: ErrorDetails) -> str:
    kind = detail["type"]
    code = _CODES.get(kind)
    if code is None:
        return "invalid_type" if kind.endswith("_type") else "invalid_value"
    if isinstance(detail["input"], float) and code.startswith("integer"):
        return code.replace("integer", "decimal")
    if kind == "too_long" and isinstance(detail["input"], dict):
        return "object_above_max_properties"
    return code


def _sentence(path: str, detail: ErrorDetails) -> str:
    kind = detail["type"]
    if kind in ("missing", "union_tag_not_found"):
        return f"Missing required parameter: '{path}'."
    if kind == "union_tag_invalid":
        return f"Invalid value for '{path}': {detail['ctx']['tag']!r} is none of {detail['ctx']['expected_tags']}."
    if kind == "string_pattern_mismatch":
        pattern = detail["ctx"]["pattern"]
        return (
            f"Invalid '{path}': string does not match pattern. Expected a string that matches the pattern '{pattern}'."
        )
    if kind == "value_error":
        return f"Invalid value for '{path}': {detail['ctx']['error']}"
    message = detail["msg"].replace("Input should", "should").replace("dictionary", "object").replace("list", "array")
    if kind.endswith("_type"):
        return f"Invalid type for '{path}': {message}, not {_kind(detail['input'])}."
    return f"Invalid value for '{path}': {message}."


def _kind(value: Any) -> str:
    return "null" if value is None else _KINDS.get(type(value), "a value of another type")
