"""The syntax tree of an ECMA-262 pattern: plain regular expressions, and the assertions that look around them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from schemas.strings.charset import CharSet
from schemas.strings.nodes import Regex
from schemas.strings.regex import EMPTY, chars, concat, repeat, union


class PatternError(ValueError):
    """A pattern that is malformed, or not regular (a back-reference). ``reason`` says what and where."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Plain:
    """A part without assertions."""

    regex: Regex


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """``inner``, which holds an assertion, ``low`` to ``high`` times (``None``: no bound)."""

    inner: Pattern
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Anchor:
    """The start or the end of the text; with ``lines``, of a line too."""

    at: Literal["start", "end"]
    lines: bool


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where a run of word characters begins or ends (edge), begins (opens), ends (closes); or where none does.

    ``sure``: by every reading of "word character"; else by any.
    """

    at: Literal["edge", "inside", "opens", "closes"]
    sure: bool


@dataclass(frozen=True, slots=True)
class Look:
    inner: Pattern
    direction: Literal["ahead", "behind"]
    negative: bool


Pattern: TypeAlias = Plain | Sequence | Choice | Loop | Anchor | Boundary | Look


def one_of(set_: CharSet) -> Pattern:
    """One character of a set."""
    return Plain(chars(set_))


def sequence(parts: Iterable[Pattern]) -> Pattern:
    """The parts in a row, plain neighbours joined."""
    joined: list[Pattern] = []
    plain: list[Regex] = []
    for part in parts:
        if isinstance(part, Plain):
            plain.append(part.regex)
            continue
        if plain:
            joined.append(Plain(concat(*plain)))
            plain = []
        joined.append(part)
    if plain or not joined:
        joined.append(Plain(concat(*plain)))
    return joined[0] if len(joined) == 1 else Sequence(tuple(joined))


def choice(parts: Iterable[Pattern]) -> Pattern:
    """Any of the parts, the plain ones joined."""
    found = list(parts)
    plain = [part.regex for part in found if isinstance(part, Plain)]
    rest: list[Pattern] = [part for part in found if not isinstance(part, Plain)]
    if plain:
        rest.insert(0, Plain(union(plain)))
    return rest[0] if len(rest) == 1 else Choice(tuple(rest))


def loop(inner: Pattern, low: int, high: int | None) -> Pattern:
    """``inner`` so many times. An assertion repeated is the assertion, or nothing when it may be left out."""
    if high is not None and high < low:
        raise PatternError("the numbers of a quantifier are out of order")
    if isinstance(inner, Plain):
        return Plain(repeat(inner.regex, low, high))
    if high == 0 or (low == 0 and isinstance(inner, Anchor | Boundary | Look)):
        return Plain(EMPTY)
    if isinstance(inner, Anchor | Boundary | Look) or (low == 1 and high == 1):
        return inner
    return Loop(inner, low, high)
