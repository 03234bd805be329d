"""From a pattern with assertions to a language: anchors, word boundaries, look-ahead and look-behind are all regular.

A pattern is read from right to left with a *continuation*: the set of places (what stands before, what follows) from
which the rest matches, kept as a finite union of products P × F of languages. A character set prepends to F and cuts
the last character off P; an assertion intersects; the places before the whole pattern give its language, P·F.
"""

from __future__ import annotations

from functools import reduce
from typing import TypeAlias

from schemas.errors import TooComplex
from schemas.strings.edges import as_first, first_of, meet_first, meet_last
from schemas.strings.loops import least_solution
from schemas.strings.nodes import Nothing, Regex
from schemas.strings.pattern import Anchor, Boundary, Choice, Look, Loop, Pattern, Plain, Sequence
from schemas.strings.prefixes import before
from schemas.strings.regex import ALL, EMPTY, complement, concat, union
from schemas.strings.reversal import reverse
from schemas.strings.unicode_classes import NEWLINE, PERHAPS_WORD, WORD

Places: TypeAlias = tuple[tuple[Regex, Regex], ...]
"""Places in a text: the union of all (past, future) products."""

EVERYWHERE: Places = ((ALL, ALL),)
MAX_PLACES = 64
MAX_ROUNDS = 12
"""Rounds of a repetition with an assertion inside that are written out."""


def language(pattern: Pattern) -> Regex:
    """All texts in which the pattern matches somewhere. Raises PatternError and TooComplex."""
    return union(concat(past, future) for past, future in _match(pattern, EVERYWHERE))


def _match(pattern: Pattern, then: Places) -> Places:
    """The places from which ``pattern`` matches up to a place of ``then``."""
    match pattern:
        case Plain():
            return _normal([pair for past, future in then for pair in before(pattern.regex, past, future)])
        case Sequence():
            return reduce(lambda places, part: _match(part, places), reversed(pattern.parts), then)
        case Choice():
            return _normal([pair for part in pattern.parts for pair in _match(part, then)])
        case Loop():
            return _loop(pattern, then)
        case Anchor():
            return _both(_anchor(pattern), then)
        case Boundary():
            return _both(_boundary(pattern), then)
        case Look():
            found = _look(pattern)
            return _both(_others(found) if pattern.negative else found, then)


def _normal(pairs: list[tuple[Regex, Regex]]) -> Places:
    """Products with one past, or one future, become one; empty ones vanish."""
    for _ in range(2):
        merged: dict[Regex, list[Regex]] = {}
        for past, future in pairs:
            if not isinstance(past, Nothing) and not isinstance(future, Nothing):
                merged.setdefault(past, []).append(future)
        pairs = [(union(futures), past) for past, futures in merged.items()]
    if len(pairs) > MAX_PLACES:
        raise TooComplex("the pattern combines too many assertions")
    return tuple(pairs)


def _both(left: Places, right: Places) -> Places:
    return _normal([(meet_last(p, q), meet_first(f, g)) for p, f in left for q, g in right])


def _others(places: Places) -> Places:
    """All places that are not among ``places``."""
    result = EVERYWHERE
    for past, future in places:
        result = _both(result, _normal([(_opposite_last(past), ALL), (past, _opposite_first(future))]))
    return result


def _opposite_first(node: Regex) -> Regex:
    condition = as_first(node)
    return complement(node) if condition is None else first_of(~condition[0], or_empty=not condition[1])


def _opposite_last(node: Regex) -> Regex:
    return reverse(_opposite_first(reverse(node)))


def _anchor(anchor: Anchor) -> Places:
    edge = first_of(NEWLINE, or_empty=True) if anchor.lines else EMPTY
    return ((reverse(edge), ALL),) if anchor.at == "start" else ((ALL, edge),)


def _boundary(boundary: Boundary) -> Places:
    in_word, in_other = (WORD, PERHAPS_WORD) if boundary.sure else (PERHAPS_WORD, WORD)
    word, other = first_of(in_word, or_empty=False), first_of(~in_other, or_empty=True)
    opens, closes = (reverse(other), word), (reverse(word), other)
    match boundary.at:
        case "edge":
            return opens, closes
        case "inside":
            return (reverse(word), word), (reverse(other), other)
        case "opens":
            return (opens,)
    return (closes,)


def _look(look: Look) -> Places:
    if look.direction == "ahead":
        return _match(look.inner, EVERYWHERE)
    mirrored = _match(_mirror(look.inner), EVERYWHERE)
    return tuple((reverse(future), reverse(past)) for past, future in mirrored)


def _mirror(pattern: Pattern) -> Pattern:
    """The pattern that matches the reversed texts."""
    match pattern:
        case Plain():
            return Plain(reverse(pattern.regex))
        case Sequence():
            return Sequence(tuple(_mirror(part) for part in reversed(pattern.parts)))
        case Choice():
            return Choice(tuple(_mirror(part) for part in pattern.parts))
        case Loop():
            return Loop(_mirror(pattern.inner), pattern.low, pattern.high)
        case Anchor():
            return Anchor("end" if pattern.at == "start" else "start", pattern.lines)
        case Boundary():
            if pattern.at == "opens" or pattern.at == "closes":
                return Boundary("closes" if pattern.at == "opens" else "opens", pattern.sure)
            return pattern
        case Look():
            return Look(_mirror(pattern.inner), "behind" if pattern.direction == "ahead" else "ahead", pattern.negative)


def _loop(pattern: Loop, then: Places) -> Places:
    """Round by round; without an upper bound, by solving X = then or inner·X."""
    places = then
    if pattern.high is None:
        if any(past != ALL for past, _ in then):
            raise TooComplex("an unbounded repetition of a look-behind, or before one,")
        future = union(after for _, after in then)
        places = ((ALL, least_solution(future, lambda unknown: _futures(pattern.inner, unknown))),)
    if max(pattern.low, pattern.high or 0) > MAX_ROUNDS:
        raise TooComplex(f"an assertion in a part that is repeated more than {MAX_ROUNDS} times")
    for _ in range(0 if pattern.high is None else pattern.high - pattern.low):
        places = _normal([*then, *_match(pattern.inner, places)])
    for _ in range(pattern.low):
        places = _match(pattern.inner, places)
    return places


def _futures(inner: Pattern, unknown: Regex) -> Regex:
    places = _match(inner, ((ALL, unknown),))
    if any(past != ALL for past, _ in places):
        raise TooComplex("a look-behind in an unbounded repetition")
    return union(after for _, after in places)
