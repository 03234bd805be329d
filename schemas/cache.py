"""A bounded cache, safe to share between threads, and the quick key of a schema."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

import orjson

from schemas.compiled import CompiledSchema


class Cache:
    """The ``size`` entries that were used last. Errors are never stored, so they cannot poison it."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, CompiledSchema] = OrderedDict()

    def get(self, key: Hashable) -> CompiledSchema | None:
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
            return found

    def put(self, key: Hashable, compiled: CompiledSchema) -> None:
        with self._lock:
            self._entries[key] = compiled
            self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)


class SchemaText:
    """A schema's text as a key: equal to the same text only, hashed by every 32nd byte of it, because a hash of all of
    a large one would take longer than writing it."""

    __slots__ = ("_hash", "_text")

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._hash = hash((len(text), text[::32]))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SchemaText) and self._text == other._text


def text_key(schema: dict[str, Any] | bool) -> SchemaText | None:
    """The schema's text: the schema object may change between calls, so its identity is no key.

    None for what has no text, because it is no JSON. Raises RecursionError for a schema that is nested too deeply.
    """
    try:
        return SchemaText(orjson.dumps(schema))
    except TypeError:  # integers over 64 bits, lone surrogates
        pass
    try:
        return SchemaText(json.dumps(schema).encode("ascii"))
    except (TypeError, ValueError):
        return None
