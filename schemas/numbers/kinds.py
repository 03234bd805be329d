"""Numbers of the simple kinds, from zero up: all, the integers, and multiples of a power of ten; an expression each."""

from __future__ import annotations

import math
from fractions import Fraction

from schemas.errors import TooComplex
from schemas.numbers.digits import Pattern, Tail, either, free, numbers
from schemas.numbers.doubles import MAX, at_least, at_most
from schemas.numbers.exponents import MANTISSA, exponents, scaled
from schemas.numbers.multiples import decimal_places
from schemas.numbers.points import DIGITS_OF_MAX, PLACES, WHOLE, ZEROS
from schemas.numbers.regions import Region

MULTIPLE_WHOLE = 18
EXACT = 2**53 - 1
"""Decimals with at most this many units in the last place are printed back as they were written."""


def whole_bounds(side: Region, digits: int) -> tuple[int, int]:
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


def double_bounds(side: Region) -> tuple[Fraction, Fraction]:
    """The printed doubles at the two ends of the region."""
    low = at_least(Fraction(side.start[0]), side.start[1] == 1)
    high = MAX if math.isinf(side.end[0]) else min(MAX, at_most(Fraction(side.end[0]), side.end[1] == 0))
    return low, high


def multiple_bounds(side: Region, step: Fraction) -> tuple[Fraction, Fraction]:
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


def reals(side: Region) -> Pattern | None:
    """All numbers of a region on one side of zero, multiples or not; ``None`` where it spells none."""
    low, high = double_bounds(side)
    least, most = whole_bounds(side, WHOLE)
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


def integers(side: Region, plain: bool) -> Pattern | None:
    """Integers; ``plain``: without fraction and exponent. Raises TooComplex."""
    least, most = whole_bounds(side, WHOLE)
    if plain:
        return _plain_integers(side, least, most)
    low, high = double_bounds(side)
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


def multiples_of_tens(side: Region, step: Fraction) -> Pattern | None:
    """Multiples of 10^-k, k > 0. Raises TooComplex where k is over ``PLACES``."""
    places = decimal_places(step)
    if places > PLACES:
        raise TooComplex(f"multiples of {step} have more than {PLACES} digits after the point")
    low, high = multiple_bounds(side, step)
    least, most = whole_bounds(side, MULTIPLE_WHOLE)
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
    double_low, double_high = double_bounds(side)
    return either([decimals, *small, *_whole_exponents(double_low, double_high)])
