"""How the numbers of a set are written in JSON (RFC 8259, section 6), as regular expressions.

Exact sets meet inexact readers here: text with a fraction or an exponent is read as an IEEE double. A spelling is
let through only when both its exact value and the double that it reads as are in the set, and every double of the set
keeps the spelling that ``json.dumps`` and ``JSON.stringify`` print for it (but for those between 1.7e308 and the
largest, and multiples beyond 2^53). Digits are bounded, because models ramble in them:

* integers have at most :data:`WHOLE` digits, larger values are written with an exponent (in the plain spelling not at
  all); multiples have at most :data:`MULTIPLE_WHOLE`;
* at most :data:`PLACES` digits after a point; integers may have zeros there;
* an exponent follows a normalised mantissa: one digit, not 0, before the point and at most :data:`MANTISSA` after;
* ``-0`` and ``-0.0`` are spellings of zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from schemas.errors import TooComplex
from schemas.numbers import lattice as lat
from schemas.numbers.digits import Pattern, Tail, either, free, group, numbers
from schemas.numbers.doubles import MAX, at_least, at_most
from schemas.numbers.exponents import MANTISSA, exponents, scaled
from schemas.numbers.lattice import Lattice
from schemas.numbers.multiples import decimal_places, multiples, power_of_ten
from schemas.numbers.points import DIGITS_OF_MAX, PLACES, WHOLE, ZEROS, single
from schemas.numbers.regions import Region

MULTIPLE_WHOLE = 18
EXACT = 2**53 - 1
"""Decimals with at most this many units in the last place are printed back as they were written."""

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


def parts(regions: tuple[Region, ...], *, plain: bool) -> list[Part]:
    """The spellings of the numbers in ``regions``; with ``plain`` only integers, without fraction and exponent.

    Raises :class:`TooComplex` when multiples are asked for that no expression of bearable size spells.
    """
    signs: dict[Part, set[str]] = {}
    points: dict[str, list[Fraction]] = {}
    for region in regions:
        for sign, side in _sides(region):
            if side.point is not None:
                # Zero, cut off from a region that may be of all numbers but multiples.
                if any(term.contains(side.point) for term in side.terms):
                    points.setdefault(sign, []).append(side.point)
                continue
            for part in _unsigned(side, plain):
                signs.setdefault(part, set()).add(sign)
    for sign, values in points.items():
        for part in _one(single(values, plain=plain)):
            signs.setdefault(part, set()).add(sign)
    if regions and not signs:
        raise TooComplex(f"multiples have at most {MULTIPLE_WHOLE} digits, and there are none so small")
    signed = [_signed(part, found) for part, found in signs.items()]
    simple = either([part.every[0] for part in signed if part.is_one_expression])
    rest = [part for part in signed if not part.is_one_expression]
    return [Part((simple,)), *rest] if simple is not None else rest


def _signed(part: Part, signs: set[str]) -> Part:
    if signs == {""}:
        return part
    sign = "-?" if "" in signs else "-"
    if part.native:
        return Part((), native=f'"-"{sign[1:]} {part.native}')
    return Part(tuple(sign + group(p) for p in part.every), tuple(sign + group(p) for p in part.none))


def _unsigned(side: Region, plain: bool) -> list[Part]:
    """The spellings of numbers from zero up."""
    found: list[Part] = []
    for term in lat.ordered(side.terms):
        if not _is_simple(term):
            found.extend(_periodic(side, term, plain))
        elif plain or term.step == 1:
            found.extend(_one(_integers(side, plain)))
        else:
            found.extend(_one(_reals(side) if term.step is None else _decimals(side, term.step)))
    return found


def _one(pattern: Pattern | None) -> list[Part]:
    return [] if pattern is None else [Part((pattern,))]


def _is_simple(term: Lattice) -> bool:
    step = term.step
    return not term.without and (step is None or (step.numerator == 1 and power_of_ten(step.denominator) is not None))


def _sides(region: Region) -> Iterator[tuple[str, Region]]:
    """The region's numbers from zero up, and the mirror image of those from zero down."""
    zero = Fraction(0)
    if region.end > (zero, 0):
        yield "", Region(max(region.start, (zero, 0)), region.end, region.terms)
    if region.start < (zero, 1):
        start, end = (-region.end[0], 1 - region.end[1]), (-region.start[0], 1 - region.start[1])
        yield "-", Region(max(start, (zero, 0)), end, region.terms)


# bounds


def _whole_bounds(side: Region, digits: int) -> tuple[int, int]:
    """Lowest and highest integer of the region with at most so many digits."""
    low = math.ceil(side.start[0])
    if not side.start <= (low, 0):
        low += 1
    cap = 10**digits - 1
    if math.isinf(side.end[0]):
        return low, cap
    high = math.floor(side.end[0])
    if not (high, 1) <= side.end:
        high -= 1
    return low, min(high, cap)


def _double_bounds(side: Region) -> tuple[Fraction, Fraction]:
    """The printed doubles at the two ends of the region."""
    low = at_least(Fraction(side.start[0]), side.start[1] == 1)
    high = MAX if math.isinf(side.end[0]) else min(MAX, at_most(Fraction(side.end[0]), side.end[1] == 0))
    return low, high


# kinds of numbers


def _reals(side: Region) -> Pattern | None:
    low, high = _double_bounds(side)
    least, most = _whole_bounds(side, WHOLE)
    cap = Fraction(10**WHOLE) - Fraction(1, 10**PLACES)
    decimal_high = min(high, cap)
    merged = math.ceil(low) == least and math.floor(decimal_high) == most
    if merged:
        decimals = numbers(low, decimal_high, Tail(PLACES, 0))
    else:
        decimals = either(
            [
                numbers(Fraction(least), Fraction(most), Tail(0, 0)),
                numbers(low, decimal_high, Tail(PLACES, 0, required=True)),
            ]
        )
    return either([decimals, *scaled(low, high, Tail(MANTISSA, 0))])


def _integers(side: Region, plain: bool) -> Pattern | None:
    least, most = _whole_bounds(side, WHOLE)
    if plain:
        return _plain_integers(side, least, most)
    low, high = _double_bounds(side)
    whole = either(_whole(least, most, math.ceil(low), math.floor(high)))
    return either([whole, *_whole_exponents(low, high)])


def _plain_integers(side: Region, least: int, most: int) -> Pattern | None:
    if least < 10**WHOLE:
        return numbers(Fraction(least), Fraction(most), Tail(0, 0))
    digits = len(str(least))
    if not math.isinf(side.end[0]) or str(least).strip("0") != "1" or digits > DIGITS_OF_MAX - 1:
        raise TooComplex(f"integers of more than {WHOLE} digits between such bounds")
    return "[1-9]" + free(digits - 1, DIGITS_OF_MAX - 2)


def _whole(least: int, most: int, low: int, high: int) -> list[Pattern | None]:
    """Integers, bare ones from ``least`` to ``most`` and ones with zeros after a point from ``low`` to ``high``."""
    high = min(high, 10**WHOLE - 1)
    if (least, most) == (low, high):
        return [numbers(Fraction(least), Fraction(most), Tail(0, ZEROS))]
    return [
        numbers(Fraction(least), Fraction(most), Tail(0, 0)),
        numbers(Fraction(low), Fraction(high), Tail(0, ZEROS, required=True)),
    ]


def _whole_exponents(low: Fraction, high: Fraction) -> list[Pattern | None]:
    """Exponents that make an integer of any mantissa: from 16 on with a fraction, from 0 without."""
    start = Fraction(10**16)
    small_high = min(high, start - 1)
    return [
        *exponents(max(low, Fraction(1)), small_high, Tail(0, 0)),
        *scaled(max(low, start), high, Tail(16, 0)),
    ]


def _decimals(side: Region, step: Fraction) -> Pattern | None:
    """Multiples of 10^-k, k > 0."""
    places = decimal_places(step)
    if places > PLACES:
        raise TooComplex(f"multiples of {step} have more than {PLACES} digits after the point")
    low, high = _multiple_bounds(side, step)
    least, most = _whole_bounds(side, MULTIPLE_WHOLE)
    cap = Fraction(EXACT, 10**places)
    if high <= cap:
        decimals = numbers(low, high, Tail(places, ZEROS))
    else:
        broken = numbers(low, min(high, cap), Tail(places, ZEROS, required=True))
        decimals = either([*_whole(least, most, least, min(most, EXACT)), broken])
    small: list[Pattern | None] = []
    for power in range(1, places + 1):
        lowest = Fraction(1, 10**power)
        highest = 10 * lowest - step
        digits = min(places - power, 15)
        small.extend(exponents(max(low, lowest), min(high, highest), Tail(digits, 0)) if power >= 5 else [])
    double_low, double_high = _double_bounds(side)
    return either([decimals, *small, *_whole_exponents(double_low, double_high)])


def _multiple_bounds(side: Region, step: Fraction) -> tuple[Fraction, Fraction]:
    """The lowest and the highest multiple in the region."""
    low = math.ceil(Fraction(side.start[0]) / step) * step
    if (low, 0) < side.start:
        low += step
    if math.isinf(side.end[0]):
        return low, MAX
    high = math.floor(Fraction(side.end[0]) / step) * step
    if (high, 1) > side.end:
        high -= step
    return low, high


def _periodic(side: Region, term: Lattice, plain: bool) -> list[Part]:
    """Multiples of a step that is no power of ten, and numbers that are no multiples."""
    if term.step is None:
        return _no_multiples(side, term, plain)
    if plain:
        whole = lat.meet(term, Lattice(Fraction(1)))
        if whole is None:
            return []
        term = whole
    step = term.step or Fraction(1)
    low, high = _multiple_bounds(side, step)
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
    return _one(single([value for value in values if term.contains(value)], plain=plain))


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
    found = _one(_integers(free, plain) if plain else _reals(free)) if free.start < free.end else []
    above = Region(max(side.start, (smallest, 1)), side.end, lat.FULL)
    if above.start >= above.end:
        return found
    least, most = _whole_bounds(above, MULTIPLE_WHOLE)
    if any(lat.divides(step, Fraction(1)) for step in term.without):
        most = least - 1  # every integer is a multiple
    bare = numbers(Fraction(least), Fraction(most), Tail(0, 0))
    every, rounded = [bare], []
    pointed = None if plain else numbers(Fraction(least), Fraction(min(most, EXACT)), Tail(0, ZEROS, required=True))
    if not plain:
        low, high = _double_bounds(above)
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
