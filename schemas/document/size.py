"""How big a schema document is, and what kind of words are in it, found without recursion: nothing else may look at it
before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from types import NoneType
from typing import Any, TypeAlias

import orjson

from schemas.document.uri import escape
from schemas.errors import SchemaError
from schemas.limits import Limits

MAX_BITS = 14_000
"""Of an integer: Python itself writes and reads no longer ones, and no double comes near."""

Trail: TypeAlias = tuple[Any, Any] | None
"""The way back to the root: (the way to the parent, the key or index in it)."""


_ANCHORS = frozenset({"$anchor", "$dynamicAnchor", "$recursiveAnchor"})
_IDENTITY = frozenset({"$id", "id"})
_NAMING = _ANCHORS | _IDENTITY | {"$schema"}
_JSON = frozenset({str, int, float, bool, NoneType, dict, list})


@dataclass(slots=True)
class Survey:
    """What a look at every member of a document has shown. Data that looks like keywords counts too."""

    names_places: bool = False
    """Perhaps a subschema has a name of its own, or another draft than the root."""


def survey(schema: Any, limits: Limits) -> Survey:
    """Raise :class:`SchemaError` when the document is too deep or, as compact JSON, too long, or is no JSON at all."""
    seen = _quickly(schema, limits) if type(schema) is dict else None
    return seen or _with_care(schema, limits)


def _quickly(schema: Any, limits: Limits) -> Survey | None:
    """A third of the time; None where something is wrong or takes a closer look."""
    try:
        if len(orjson.dumps(schema)) > limits.document_bytes:
            return None
    except TypeError:
        return None
    seen = Survey()
    level: list[Any] = [schema]
    for _ in range(limits.nesting):
        below: list[Any] = []
        for value in level:
            if type(value) is dict:
                if not value.keys().isdisjoint(_NAMING) and _names_a_place(value, schema):
                    seen.names_places = True
                children: Iterable[Any] = value.values()
            else:
                children = value
            kinds = set(map(type, children))
            if not kinds <= _JSON or (float in kinds and not _finite(children)):
                return None
            if dict in kinds or list in kinds:
                below.extend([child for child in children if type(child) is dict or type(child) is list])
        if not below:
            return seen
        level = below
    return None


def _finite(values: Iterable[Any]) -> bool:
    return all(isfinite(value) for value in values if type(value) is float)


def _with_care(schema: Any, limits: Limits) -> Survey:
    seen = Survey()
    total = _scalar(schema, None) if not isinstance(schema, dict | list) else 0
    pending: list[tuple[Any, int, Trail]] = [(schema, 1, None)] if isinstance(schema, dict | list) else []
    while pending:
        value, depth, trail = pending.pop()
        if depth > limits.nesting:
            raise SchemaError(_pointer(trail)[:200], "", f"nested too deep: over the limit nesting = {limits.nesting}")
        total += 2 + len(value)
        children: Iterable[tuple[Any, Any]]
        if isinstance(value, dict):
            try:
                total += 3 * len(value) + len("".join(value))
            except TypeError:
                key = next(key for key in value if not isinstance(key, str))
                reason = f"{key!r} is not a string, so it cannot be a member's name"
                raise SchemaError(_pointer(trail), "", reason) from None
            if not value.keys().isdisjoint(_NAMING) and _names_a_place(value, schema):
                seen.names_places = True
            children = value.items()
        else:
            children = enumerate(value)
        for key, child in children:
            kind = type(child)
            if kind is str:
                total += len(child) + 2
            elif kind is dict or kind is list:
                pending.append((child, depth + 1, (trail, key)))
            elif kind is bool or child is None:
                total += 4
            elif isinstance(child, dict | list):
                pending.append((child, depth + 1, (trail, key)))
            elif isinstance(child, str):
                total += len(child) + 2
            else:
                total += _scalar(child, (trail, key))
        if total > limits.document_bytes:
            raise SchemaError("", "", f"the schema is over the limit document_bytes = {limits.document_bytes}")
    return seen


def _names_a_place(value: dict[str, Any], root: dict[str, Any]) -> bool:
    """Whether a subschema has a name or a draft that the scan must know. The root's own are known."""
    if not _ANCHORS.isdisjoint(value):
        return True
    if value is root:
        return False
    if isinstance(value.get("$schema"), str) and value["$schema"] != root.get("$schema"):
        return True
    return any(isinstance(value[word], str) or "$schema" in value for word in _IDENTITY if word in value)


def _scalar(value: Any, trail: Trail) -> int:
    """The length of a number, ``true``, ``false`` or ``null`` in text, about."""
    if value is None or isinstance(value, bool):
        return 4
    if isinstance(value, int):
        if value.bit_length() > MAX_BITS:
            raise SchemaError(_pointer(trail), "", f"an integer of more than {MAX_BITS * 3 // 10} digits")
        return 1 + value.bit_length() * 3 // 10
    if isinstance(value, float):
        if isfinite(value):
            return 8
        raise SchemaError(_pointer(trail), "", f"{value} is not a JSON number")
    raise SchemaError(_pointer(trail), "", f"a {type(value).__name__} is not a JSON value")


def _pointer(trail: Trail) -> str:
    tokens: list[str] = []
    while trail is not None:
        trail, token = trail
        tokens.append(escape(str(token)))
    return "".join("/" + token for token in reversed(tokens))
