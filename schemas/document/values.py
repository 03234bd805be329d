"""Readers of keyword values: the value as the node holds it, or a :class:`SchemaError` that says what it must be."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, NoReturn

from schemas.document.resources import Place
from schemas.errors import SchemaError
from schemas.limits import Limits
from schemas.numbers.doubles import exact

TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_ALONE = {name: frozenset({name}) for name in TYPES}


def refuse(place: Place, keyword: str, reason: str) -> NoReturn:
    """Raises SchemaError for this keyword at this place."""
    raise SchemaError(place.path, keyword, reason)


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = (
        {True: "true", False: "false", None: "null"}[value] if value is None or isinstance(value, bool) else repr(value)
    )
    return text if len(text) <= 40 else text[:37] + "..."


def number(place: Place, keyword: str) -> Fraction | None:
    """Exactly the number that the schema's text says: ``0.1`` is one tenth, not the double nearest to it.

    A double beyond 2^53 is the integer that it holds, as validators take it.
    """
    value = place.value.get(keyword)
    if value is None and keyword not in place.value:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(place, keyword, f"must be a number, not {_shown(value)}")
    return exact(value)


def count(place: Place, keyword: str) -> int | None:
    """A non-negative integer; ``2.0`` is one."""
    value = number(place, keyword)
    if value is None:
        return None
    if value < 0 or value.denominator != 1:
        refuse(place, keyword, f"must be a non-negative integer, not {_shown(place.value[keyword])}")
    return value.numerator


def flag(place: Place, keyword: str) -> bool:
    value = place.value.get(keyword, False)
    if not isinstance(value, bool):
        refuse(place, keyword, f"must be true or false, not {_shown(value)}")
    return value


def string(place: Place, keyword: str) -> str | None:
    if keyword not in place.value:
        return None
    value = place.value[keyword]
    if not isinstance(value, str):
        refuse(place, keyword, f"must be a string, not {_shown(value)}")
    return value


def types(place: Place) -> frozenset[str]:
    value = place.value["type"]
    if isinstance(value, str) and value in _ALONE:
        return _ALONE[value]
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names:
        refuse(place, "type", "must be a type name or a non-empty list of them")
    for name in names:
        if not isinstance(name, str) or name not in TYPES:
            refuse(place, "type", f"{_shown(name)} is not a type; the types are {', '.join(sorted(TYPES))}")
    return frozenset(names)


def enum(place: Place, limits: Limits) -> tuple[Any, ...]:
    """The values in an order of their own: the order in which an ``enum`` lists them means nothing."""
    value = place.value["enum"]
    if not isinstance(value, list):
        refuse(place, "enum", f"must be a list of values, not {_shown(value)}")
    if len(value) > limits.enum_size:
        refuse(place, "enum", f"has {len(value)} values, over the limit enum_size = {limits.enum_size}")
    if all(isinstance(item, str) for item in value):
        return tuple(sorted(value))
    return tuple(sorted(map(members_sorted, value), key=json.dumps))


def members_sorted(value: Any) -> Any:
    """An equal JSON value with the members of every object in the order of their names."""
    if isinstance(value, dict):
        return {name: members_sorted(value[name]) for name in sorted(value)}
    return [members_sorted(item) for item in value] if isinstance(value, list) else value


def names(place: Place, keyword: str, value: Any, limits: Limits) -> tuple[str, ...]:
    """A list of member names, each once, in the order written."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        hint = ""
        if keyword == "required" and isinstance(value, bool):
            hint = "; instead of draft 3's true or false in a property, list the name in the object's own 'required'"
        refuse(place, keyword, "must be a list of member names" + hint)
    members(place, keyword, value, limits)
    return tuple(dict.fromkeys(value))


def mapping(place: Place, keyword: str, limits: Limits) -> dict[str, Any]:
    """An object with string keys, ``{}`` where the keyword is absent."""
    value = place.value.get(keyword, {})
    if not isinstance(value, dict):
        refuse(place, keyword, f"must be an object, not {_shown(value)}")
    members(place, keyword, value, limits)
    return value


def members(place: Place, keyword: str, value: Any, limits: Limits) -> None:
    if len(value) > limits.members:
        refuse(place, keyword, f"has {len(value)} members, over the limit members = {limits.members}")


def require_schema(place: Place, keyword: str, value: Any) -> None:
    if not isinstance(value, dict | bool):
        refuse(place, keyword, f"must be a schema (an object, true or false), not {_shown(value)}")
