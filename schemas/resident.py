"""A process that compiles one schema after the other, for as long as it lives: what it does before the first one, and
between two."""

from __future__ import annotations

import functools
import gc
from typing import Any

from schemas.compile import compile_schema
from schemas.strings.formats import NAMES

_PATTERNS = (r"^[a-z]\w{2,40}@\S+$", r"^(?!\s)[^\d]{1,64}$", r"(?i)^x-\p{Lu}+\b.*\.$")

_KINDS: list[Any] = [
    {"enum": ["a", 1, None, True, {"a": [1.5]}]},
    {"type": "integer", "minimum": -3, "exclusiveMaximum": 1234},
    {"type": "number", "multipleOf": 0.25, "maximum": 1e6},
    {"type": "string", "minLength": 2, "maxLength": 40},
    *({"type": "string", "pattern": pattern} for pattern in _PATTERNS),
    *({"type": "string", "format": name} for name in NAMES),
    {"type": "array", "prefixItems": [{"type": "null"}], "items": {"type": "boolean"}, "uniqueItems": True},
    {"type": "array", "contains": {"const": 1}, "minItems": 2, "maxItems": 9},
    {"patternProperties": {"^x-": {"type": "string"}, "[0-9]$": {"type": "string"}}, "additionalProperties": False},
    {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}, "else": {"minProperties": 1}},
]


def warm_up() -> None:
    """Compile a schema of each kind. What is made once in a process, and the languages of the formats, are there then.
    Half a second. From here on garbage is collected when ``settle`` is called, and at no other time."""
    gc.disable()
    for kind in _KINDS:
        compile_schema({"type": "object", "properties": {"a": kind}, "required": ["a"]})
    compile_schema({"$schema": "http://json-schema.org/draft-07/schema#", "format": "date"})
    settle()


@functools.cache
def warm_up_once() -> None:
    """``warm_up`` on the first call of the process, nothing later."""
    warm_up()


def settle() -> None:
    """The garbage collector's work, when nobody waits; from then on it does not look again at what there is now.

    A collection in the middle of a compilation would walk through all that earlier ones have left in the caches, and
    that takes longer than most compilations. Nothing there is ever in a cycle.
    """
    gc.collect()
    gc.freeze()
