"""Languages cut down by their first or last character: what anchors and word boundaries come to."""

from __future__ import annotations

from functools import lru_cache

from schemas.strings.charset import ANY, NOTHING, CharSet
from schemas.strings.intersections import intersection
from schemas.strings.nodes import (
    Chars,
    Complement,
    Concat,
    Empty,
    Intersection,
    Nothing,
    Regex,
    Repeat,
    Union,
    Variable,
)
from schemas.strings.regex import ALL, EMPTY, NONE, chars, concat, repeat, union
from schemas.strings.reversal import reverse


def first_of(set_: CharSet, *, or_empty: bool) -> Regex:
    """All strings whose first character is in ``set_``, and perhaps the empty one."""
    if set_ == ANY and or_empty:
        return ALL
    return union([concat(chars(set_), ALL), EMPTY if or_empty else NONE])


def as_first(node: Regex) -> tuple[CharSet, bool] | None:
    """The arguments of `first_of` that give ``node``, if any do."""
    match node:
        case Nothing():
            return NOTHING, False
        case Empty():
            return NOTHING, True
        case Concat() if isinstance(node.head, Chars) and node.tail == ALL:
            return node.head.set, False
        case Repeat() if node == ALL:
            return ANY, True
        case Repeat() if node.inner == chars(ANY) and node.low == 1 and node.high is None:
            return ANY, False
        case Union() if len(node.parts) == 2 and EMPTY in node.parts:
            other = as_first(next(part for part in node.parts if part != EMPTY))
            return None if other is None else (other[0], True)
    return None


@lru_cache(maxsize=4096)
def starting(node: Regex, set_: CharSet) -> Regex:
    """The members of ``node`` that are not empty and start with a character of ``set_``; plain stays plain."""
    match node:
        case Chars():
            return chars(node.set & set_)
        case Concat():
            found = concat(starting(node.head, set_), node.tail)
            return union([found, starting(node.tail, set_)]) if node.head.facts.nullable else found
        case Union():
            return union(starting(part, set_) for part in node.parts)
        case Repeat():
            rest = repeat(node.inner, max(node.low - 1, 0), None if node.high is None else node.high - 1)
            return concat(starting(node.inner, set_), rest)
        case Intersection():
            return intersection([starting(node.parts[0], set_), *node.parts[1:]])
        case Complement() | Variable():
            return intersection([node, first_of(set_, or_empty=False)])
    return NONE


def meet_first(left: Regex, right: Regex) -> Regex:
    """The intersection; structural, without ``&``, where one side is a condition on the first character alone."""
    for one, other in ((left, right), (right, left)):
        condition = as_first(one)
        if condition is not None and other != ALL:
            set_, empty = condition
            return union([starting(other, set_), EMPTY if empty and other.facts.nullable else NONE])
    return intersection([left, right])


def meet_last(left: Regex, right: Regex) -> Regex:
    """As `meet_first` for conditions on the last character."""
    return reverse(meet_first(reverse(left), reverse(right)))


def as_last(node: Regex) -> tuple[CharSet, bool] | None:
    """The last characters allowed, and whether the empty string is, if ``node`` asks for nothing else."""
    return as_first(reverse(node))


def ending(node: Regex, set_: CharSet) -> Regex:
    """The members of ``node`` that are not empty and end with a character of ``set_``."""
    return reverse(starting(reverse(node), set_))
