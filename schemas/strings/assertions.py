"""From a pattern with assertions to a language: anchors, word boundaries, look-ahead and look-behind are all regular.

A pattern is read from right to left with a *continuation*: the set of places (what stands before, what follows) from
which the rest matches, kept as a finite union of products P × F of languages. A character set prepends to F and cuts
the last character off P; an assertion intersects; the places before the whole pattern give its language, P·F.
"""

from __future__ import annotations

from functools import reduce
from typing import TypeAlias

from schemas.strings.automaton import TooComplex
from schemas.strings.charset import CharSet, of
from schemas.strings.nodes import Nothing, Regex
from schemas.strings.pattern import Anchor, Boundary, Choice, Look, Loop, Pattern, PatternError, Plain, Sequence
from schemas.strings.prefixes import before
from schemas.strings.regex import ALL, EMPTY, chars, complement, concat, intersection, union
from schemas.strings.reversal import reverse

Places: TypeAlias = tuple[tuple[Regex, Regex], ...]
"""Places in a text: the union of all (past, future) products."""

EVERYWHERE: Places = ((ALL, ALL),)
MAX_PLACES = 64
MAX_ROUNDS = 12


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
    return _normal([(intersection([p, q]), intersection([f, g])) for p, f in left for q, g in right])


def _others(places: Places) -> Places:
    """All places that are not among ``places``."""
    result = EVERYWHERE
    for past, future in places:
        result = _both(result, _normal([(complement(past), ALL), (past, complement(future))]))
    return result


def _anchor(anchor: Anchor) -> Places:
    newline = chars(of("\n"))
    if anchor.at == "start":
        return ((union([EMPTY, concat(ALL, newline)]) if anchor.lines else EMPTY, ALL),)
    return ((ALL, union([EMPTY, concat(newline, ALL)]) if anchor.lines else EMPTY),)


def _boundary(boundary: Boundary) -> Places:
    ends, starts = _edge(boundary.word)
    no_end, no_start = complement(ends), complement(starts)
    if boundary.inside:
        return ((ends, starts), (no_end, no_start))
    return ((ends, no_start), (no_end, starts))


def _edge(word: CharSet) -> tuple[Regex, Regex]:
    return concat(ALL, chars(word)), concat(chars(word), ALL)


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
        case Look():
            return Look(_mirror(pattern.inner), "behind" if pattern.direction == "ahead" else "ahead", pattern.negative)
    return pattern


def _loop(pattern: Loop, then: Places) -> Places:
    """Round by round until nothing new comes; what never settles is handed to the guarded-repetition form."""
    places = then
    for _ in range(min(pattern.low, MAX_ROUNDS + 1)):
        places = _match(pattern.inner, places)
    if pattern.low > MAX_ROUNDS:
        raise TooComplex("an assertion inside a repetition with a large count")
    total = places
    rounds = MAX_ROUNDS if pattern.high is None else pattern.high - pattern.low
    for count in range(min(rounds, MAX_ROUNDS) + 1):
        if count == rounds and pattern.high is not None:
            return total
        places = _match(pattern.inner, places)
        grown = _normal([*total, *places])
        if set(grown) == set(total):
            return total
        total = grown
    raise PatternError("an assertion inside an unbounded repetition")
