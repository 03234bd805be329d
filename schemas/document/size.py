"""How big a schema document is, found without recursion: nothing else may look at it before."""

from __future__ import annotations

from math import isfinite
from typing import Any, TypeAlias

from schemas.document.uri import escape
from schemas.errors import SchemaError
from schemas.limits import Limits

MAX_BITS = 14_000
"""Of an integer: Python itself writes and reads no longer ones, and no double comes near."""

Trail: TypeAlias = tuple[Any, Any] | None
"""The way back to the root: (the way to the parent, the key or index in it)."""


def check_size(schema: Any, limits: Limits) -> None:
    """Raise :class:`SchemaError` when the document is too deep or, as compact JSON, too long, or is no JSON at all."""
    total = _scalar(schema, None) if not isinstance(schema, dict | list) else 0
    pending: list[tuple[Any, int, Trail]] = [(schema, 1, None)] if isinstance(schema, dict | list) else []
    while pending:
        value, depth, trail = pending.pop()
        if depth > limits.nesting:
            raise SchemaError(_pointer(trail)[:200], "", f"nested too deep: over the limit nesting = {limits.nesting}")
        total += 2 + len(value)
        if isinstance(value, dict):
            total += 3 * len(value)
            for key in value:
                if not isinstance(key, str):
                    raise SchemaError(_pointer(trail), "", f"{key!r} is not a string, so it cannot be a member's name")
                total += len(key)
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
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
