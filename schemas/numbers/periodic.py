"""Multiples of a step that is no power of ten, and numbers that are no multiples, from zero up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from schemas.errors import TooComplex
from schemas.numbers import lattice as lat
from schemas.numbers.digits import Pattern, Tail, either, free, numbers
from schemas.numbers.kinds import EXACT, MULTIPLE_WHOLE, double_bounds, integers, multiple_bounds, reals, whole_bounds
from schemas.numbers.lattice import Lattice
from schemas.numbers.multiples import decimal_places, multiples
from schemas.numbers.points import ZEROS, single
from schemas.numbers.regions import Region

_NATIVE_STEP = 4_096
"""Largest step given to llguidance's own automaton of multiples: from about 8,000 on its lexer runs out of fuel."""
_LISTED = 500
"""Multiples that are spelled one by one where no expression for all multiples exists."""
_MAX_CHOICES = 8
_SHORT = 2_000
"""Bytes of expressions of multiples up to which they are preferred to llguidance's own automaton."""


@dataclass(frozen=True, slots=True)
class Part:
    """Spellings that all of ``every`` match and none of ``none``; or multiples that llguidance's ``%json`` spells."""

    every: tuple[Pattern, ...]
    none: tuple[Pattern, ...] = ()
    native: str = ""

    @property
    def is_one_expression(self) -> bool:
        return len(self.every) == 1 and not self.none and not self.native


def one(pattern: Pattern | None) -> list[Part]:
    return [] if pattern is None else [Part((pattern,))]


def periodic(side: Region, term: Lattice, plain: bool) -> list[Part]:
    """Multiples of a step that is no power of ten, and numbers that are no multiples."""
    if term.step is None:
        return _no_multiples(side, term, plain)
    if plain:
        whole = lat.meet(term, Lattice(Fraction(1)))
        if whole is None:
            return []
        term = whole
    step = term.step or Fraction(1)
    low, high = multiple_bounds(side, step)
    places = decimal_places(step)
    try:
        exceptions = _complements(term.without)
        every = multiples(step)
    except TooComplex:
        if (high - low) / step < _LISTED:
            return _listed(low, high, term, plain)
        if term.without or places:
            raise
        return _native(low, high, step, plain)
    if not term.without and not places and sum(map(len, every)) > _SHORT and step <= _NATIVE_STEP:
        return _native(low, high, step, plain)
    cap = Fraction(EXACT, 10**places)
    top = Fraction(10**MULTIPLE_WHOLE - 1)
    if plain:
        spelled = numbers(low, min(high, top), Tail(0, 0))
    elif high <= cap:
        spelled = numbers(low, high, Tail(places, ZEROS))
    else:
        bare = numbers(low, min(high, top), Tail(0, 0))
        pointed = numbers(low, min(high, Fraction(EXACT)), Tail(0, ZEROS, required=True))
        broken = numbers(low, min(high, cap), Tail(places, ZEROS, required=True)) if places else None
        spelled = either([bare, pointed, broken])
    return [] if spelled is None else [Part((spelled, *every), none) for none in exceptions]


def _complements(steps: frozenset[Fraction]) -> list[tuple[Pattern, ...]]:
    """Lists of expressions: a number is a multiple of none of the steps when it matches none of one of the lists."""
    choices = list(product(*(multiples(step) for step in sorted(steps))))
    if len(choices) > _MAX_CHOICES:
        raise TooComplex("the complement of so many sets of multiples is not spelled")
    return choices


def _listed(low: Fraction, high: Fraction, term: Lattice, plain: bool) -> list[Part]:
    step = term.step or Fraction(1)
    values = (low + k * step for k in range(math.floor((high - low) / step) + 1))
    return one(single([value for value in values if term.contains(value)], plain=plain))


def _native(low: Fraction, high: Fraction, step: Fraction, plain: bool) -> list[Part]:
    if step > _NATIVE_STEP:
        raise TooComplex(f"multiples of {step}: the limit is {_NATIVE_STEP}")
    bare = min(high, Fraction(10**MULTIPLE_WHOLE - 1))
    pointed = min(high, Fraction(EXACT))
    found = []
    for top, tail in ((bare, ""), (pointed, rf" /\.0{{1,{ZEROS}}}/")):
        if low <= top and not (plain and tail):
            schema = f'{{"type":"integer","minimum":{low},"maximum":{math.floor(top)},"multipleOf":{step}}}'
            found.append(Part((), native=f"%json {schema}{tail}"))
    return found


def _no_multiples(side: Region, term: Lattice, plain: bool) -> list[Part]:
    """Numbers that are multiples of none of some steps: free below the smallest step, digit for digit above."""
    smallest = min(term.without)
    free = Region(max(side.start, (Fraction(0), 1)), min(side.end, (smallest, 0)), lat.FULL)
    found = one(integers(free, plain) if plain else reals(free)) if free.start < free.end else []
    above = Region(max(side.start, (smallest, 1)), side.end, lat.FULL)
    if above.start >= above.end:
        return found
    least, most = whole_bounds(above, MULTIPLE_WHOLE)
    if any(lat.divides(step, Fraction(1)) for step in term.without):
        most = least - 1  # every integer is a multiple
    bare = numbers(Fraction(least), Fraction(most), Tail(0, 0))
    every, rounded = [bare], []
    pointed = None if plain else numbers(Fraction(least), Fraction(min(most, EXACT)), Tail(0, ZEROS, required=True))
    if not plain:
        low, high = double_bounds(above)
        high = min(high, Fraction(10**_PRINTED) - Fraction(1, 10**_PRINTED))
        every = [either([bare, numbers(low, high, Tail(_PRINTED + 1, 0, required=True))]), _SEVENTEEN]
        rounded = [_rounded_to_multiples(places) for places in sorted({decimal_places(step) for step in term.without})]
    for none in _complements(term.without):
        if pointed is not None:
            found.append(Part((pointed,), none))
        if every[0] is None:
            continue
        found.append(Part(tuple(pattern for pattern in every if pattern is not None), (*none, *rounded)))
    return found


_PRINTED = 15
"""Decimals of so many digits are told apart by doubles: each is printed back as it was written."""
_SEVENTEEN = "[0-9]+|" + "|".join(rf"[0-9]{{{n}}}\.[0-9]{{1,{_PRINTED + 2 - n}}}" for n in range(1, _PRINTED + 1))
"""Numbers with at most seventeen digits when there is a point: all that doubles are printed with."""


def _rounded_to_multiples(places: int) -> Pattern:
    """Sixteen or seventeen digits so near to a decimal with ``places`` digits that they may read as it.

    Half the distance of doubles is at most 1.11 units of the sixteenth digit, and one only from a leading 9 on.
    """
    found = []
    for whole in range(1, _PRINTED + 1):
        rest = _PRINTED - whole - places
        if rest >= 0:
            found.append(rf"[0-9]{{{whole}}}\.[0-9]{{{places}}}(?:0{{{rest + 1}}}|9{{{rest + 1}}})[0-9]")
            nine = "9" + free(whole - 1, whole - 1)
            found.append(rf"{nine}\.[0-9]{{{places}}}(?:0{{{rest}}}[01]|9{{{rest}}}[89])[0-9]?")
    return "|".join(found)
