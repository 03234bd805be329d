"""JSON as RFC 8259 and I-JSON (RFC 7493) mean it: what every other parser reads in the same way.

Python's ``json`` lets through repeated keys, NaN, numbers beyond a double and lone surrogates. Each of those reads
differently somewhere, so arguments that hold one are not valid arguments.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LONGEST_INTEGER = 309  # digits of the largest double


class StrictJsonError(ValueError):
    """The text is not strict JSON; the message says what and where."""


class RepeatedKeyError(StrictJsonError):
    """An object has a key twice, and nothing before that is wrong."""


def loads(text: str) -> Any:
    """Parse ``text``. Integers keep every digit. Raises StrictJsonError, RepeatedKeyError for a repeated key."""
    return _parse(text, _object)


def readings(text: str) -> tuple[Any, Any, set[str]]:
    """Text with repeated keys, as the parsers read it that keep the last member of a name, and as those that keep the
    first; and the repeated names. Otherwise as ``loads``."""
    repeated: set[str] = set()

    def last_counts(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            repeated.update(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        return members

    last = _parse(text, last_counts)
    return last, _parse(text, lambda pairs: dict(reversed(pairs))), repeated


def _parse(text: str, make_object: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> Any:
    decoder = json.JSONDecoder(
        object_pairs_hook=make_object, parse_constant=_constant, parse_float=_float, parse_int=_int
    )
    try:
        value = decoder.decode(text)
        _check_characters(text, value)
    except json.JSONDecodeError as error:
        raise StrictJsonError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise StrictJsonError("nested too deeply") from None
    return value


def _check_characters(text: str, value: Any) -> None:
    try:
        text.encode()
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise StrictJsonError("a lone surrogate is not a character") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise RepeatedKeyError(f"the key {json.dumps(key)} is given twice")
            seen.add(key)
    return members


def _constant(name: str) -> NoReturn:
    raise StrictJsonError(f"{name} is not JSON")


def _float(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise StrictJsonError(f"{digits[:40]} is beyond a double")
    return number


def _int(digits: str) -> int:
    if len(digits) >= _LONGEST_INTEGER:
        _float(digits)
    return int(digits)
