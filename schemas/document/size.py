"""How big a schema document is, found without recursion: nothing else may look at it before."""

from __future__ import annotations

from math import isfinite
from typing import Any

from schemas.document.uri import escape
from schemas.errors import SchemaError
from schemas.limits import Limits


def check_size(schema: Any, limits: Limits) -> None:
    """Raise :class:`SchemaError` when the document is too deep or, as compact JSON, too long, or is no JSON at all."""
    total = 0
    pending: list[tuple[Any, int, tuple[Any, ...] | None]] = [(schema, 1, None)]
    while pending:
        value, depth, trail = pending.pop()
        if isinstance(value, str):
            total += len(value) + 2
        elif value is None or isinstance(value, bool):
            total += 4
        elif isinstance(value, dict | list):
            if depth > limits.nesting:
                raise SchemaError(
                    _pointer(trail)[:200], "", f"nested too deep: over the limit nesting = {limits.nesting}"
                )
            total += 2 + len(value)
            if isinstance(value, dict):
                for key, child in value.items():
                    if not isinstance(key, str):
                        raise SchemaError(
                            _pointer(trail), "", f"{key!r} is not a string, so it cannot be a member's name"
                        )
                    total += len(key) + 3
                    pending.append((child, depth + 1, (trail, key)))
            else:
                pending.extend((child, depth + 1, (trail, index)) for index, child in enumerate(value))
        elif isinstance(value, int):
            total += 1 + value.bit_length() * 3 // 10
        elif isinstance(value, float):
            if not isfinite(value):
                raise SchemaError(_pointer(trail), "", f"{value} is not a JSON number")
            total += 8
        else:
            raise SchemaError(_pointer(trail), "", f"a {type(value).__name__} is not a JSON value")
        if total > limits.document_bytes:
            raise SchemaError("", "", f"the schema is over the limit document_bytes = {limits.document_bytes}")


def _pointer(trail: tuple[Any, ...] | None) -> str:
    tokens: list[str] = []
    while trail is not None:
        trail, token = trail
        tokens.append(escape(str(token)))
    return "".join("/" + token for token in reversed(tokens))
