"""The lengths of shortest texts of scalars and of names: compact JSON, in UTF-8 bytes."""

from __future__ import annotations

from functools import lru_cache

from schemas.algebra import strings_empty
from schemas.errors import TooComplex
from schemas.numbers import NumberSet
from schemas.scalars import Scalars
from schemas.stringset import StringSet


def text_length(text: str) -> int:
    """Bytes of a string's shortest JSON text, quotes included."""
    if text.isascii() and text.isprintable():
        return 2 + len(text) + text.count('"') + text.count("\\")
    total = 2
    for char in text:
        if char in '"\\\b\f\n\r\t':
            total += 2
        elif char < " ":
            total += 6
        else:
            total += len(char.encode("utf-8", "surrogatepass"))
    return total


def key_length(key: str) -> int:
    """Bytes of a member's name and colon."""
    return text_length(key) + 1


def string_length(strings: StringSet) -> int:
    """Of a set that is not empty. A lower bound for patterns: a character counts as one byte there."""
    if strings.others is None:
        return min(map(text_length, strings.words))
    return 2 + strings.others.regex.facts.shortest


@lru_cache(maxsize=2048)
def _number_length(numbers: NumberSet) -> int:
    return len(numbers.shortest())


def scalars_length(scalars: Scalars) -> int | None:
    """Of the shortest value that is no array and no object; None where there is none. A lower bound, too, where it
    would take too long to find a number."""
    found: list[int] = []
    if scalars.null or scalars.true:
        found.append(4)
    if scalars.false:
        found.append(5)
    if not strings_empty(scalars.strings.upper):
        found.append(string_length(scalars.strings.upper))
    try:
        if not scalars.numbers.upper.is_empty():
            found.append(_number_length(scalars.numbers.upper))
    except TooComplex:
        found.append(1)
    return min(found, default=None)
