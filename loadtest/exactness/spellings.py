"""A JSON value as texts: the spellings that a grammar may choose from, and the same value with its keys shuffled."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, TypeAlias

Json: TypeAlias = Any


def spellings(value: Json) -> Iterator[bytes]:
    """The texts of ``value`` that count as the same answer, the plainest first: compact or with one space after ``,``
    and ``:``, non-ASCII characters raw or escaped. None for a value with a lone surrogate."""
    if has_surrogate(value):
        return
    seen: set[str] = set()
    for ascii_only in (False, True):
        for separators in ((",", ":"), (", ", ": ")):
            text = json.dumps(value, ensure_ascii=ascii_only, separators=separators)
            if text not in seen:
                seen.add(text)
                yield text.encode()


def whole_spellings(value: Json) -> Iterator[bytes]:
    """``spellings``, and those with whole floats as integers: the same value to every draft but the fourth."""
    yield from spellings(value)
    if json.dumps(whole := _whole(value)) != json.dumps(value):
        yield from spellings(whole)


def has_surrogate(value: Json) -> bool:
    """Whether a string or key anywhere in ``value`` has a lone surrogate, which no text can carry."""
    if isinstance(value, str):
        return any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, dict):
        return any(has_surrogate(key) or has_surrogate(item) for key, item in value.items())
    return isinstance(value, list) and any(map(has_surrogate, value))


def shuffled(value: Json, rng: random.Random) -> Json:
    """``value`` with the members of every object in another order, where there is another order."""
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        if len(keys) > 1 and keys == list(value):
            keys.reverse()
        return {key: shuffled(value[key], rng) for key in keys}
    if isinstance(value, list):
        return [shuffled(item, rng) for item in value]
    return value


def _whole(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value
