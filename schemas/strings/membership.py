"""Whether a text is in a language: derivatives by single characters, and each part of a combination on its own.

For one word that is a small part of the work that all derivatives of a large intersection take.
"""

from __future__ import annotations

from functools import lru_cache

from schemas.strings.intersections import intersection
from schemas.strings.nodes import Chars, Complement, Concat, Intersection, Nothing, Regex, Repeat, Union, Variable
from schemas.strings.regex import ALL, EMPTY, NONE, complement, concat, repeat, union


def matches(node: Regex, text: str) -> bool:
    """Whether ``text`` is in the language. A text with a lone surrogate is in none."""
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        return False
    return _matches(node, text)


@lru_cache(maxsize=1 << 14)
def _matches(node: Regex, text: str) -> bool:
    match node:
        case Intersection():
            return all(_matches(part, text) for part in node.parts)
        case Union():
            return any(_matches(part, text) for part in node.parts)
        case Complement():
            return not _matches(node.inner, text)
    for at, char in enumerate(text):
        node = _derivative(node, char)
        if isinstance(node, Nothing):
            return False
        if node is ALL:
            return True
        if isinstance(node, Intersection | Complement):
            return _matches(node, text[at + 1 :])
    return node.facts.nullable


@lru_cache(maxsize=1 << 15)
def _derivative(node: Regex, char: str) -> Regex:
    """What may follow ``char``, a scalar value, in the language of ``node``."""
    match node:
        case Chars():
            return EMPTY if char in node.set else NONE
        case Concat():
            return _after_concat(node, char)
        case Repeat():
            first = _derivative(node.inner, char)
            if isinstance(first, Nothing):
                return NONE
            rest = repeat(node.inner, max(node.low - 1, 0), None if node.high is None else node.high - 1)
            return concat(first, rest)
        case Union():
            return union([_derivative(part, char) for part in node.parts])
        case Intersection():
            return intersection([_derivative(part, char) for part in node.parts])
        case Complement():
            return complement(_derivative(node.inner, char))
        case Variable():
            return next((target for set_, target in node.edges if char in set_), NONE)
    return NONE


def _after_concat(node: Concat, char: str) -> Regex:
    found: list[Regex] = []
    rest: Regex = node
    while isinstance(rest, Concat):
        first = _derivative(rest.head, char)
        if not isinstance(first, Nothing):
            found.append(concat(first, rest.tail))
        if not rest.head.facts.nullable:
            break
        rest = rest.tail
    else:
        found.append(_derivative(rest, char))
    return found[0] if len(found) == 1 else union(found)
