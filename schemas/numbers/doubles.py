"""What an IEEE 754 double can hold: readers of JSON turn a number with a fraction or an exponent into one."""

from __future__ import annotations

import math
from fractions import Fraction

MAX = Fraction("1.7976931348623157e308")
"""The largest double, as the shortest decimal that reads as it."""


def shortest(value: float) -> Fraction:
    """The decimal number that is printed for ``value``: what a validator that works in decimals sees."""
    return Fraction(repr(value))


def nearest(value: Fraction) -> float:
    """The double that ``value`` reads as, infinite when it overflows."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def at_least(bound: Fraction, open_: bool) -> Fraction:
    """The smallest printed double that is in the interval from ``bound`` upwards.

    Every decimal from there on reads as a double in the interval, because reading is monotone; every double in the
    interval is printed as a decimal from there on.
    """
    double = nearest(max(bound, -MAX))
    while not _inside(double, bound, open_):
        double = math.nextafter(double, math.inf)
    while _inside(below := math.nextafter(double, -math.inf), bound, open_) and below != -math.inf:
        double = below
    return MAX * 2 if double == math.inf else shortest(double)


def at_most(bound: Fraction, open_: bool) -> Fraction:
    """The largest printed double that is in the interval up to ``bound``."""
    return -at_least(-bound, open_)


def _inside(double: float, bound: Fraction, open_: bool) -> bool:
    """``bound`` counts as a double when it is one, else (an integer beyond 2^53) exactly, as in validators."""
    if math.isinf(double):
        return double > 0
    limit = nearest(bound)
    if not math.isinf(limit) and bound == exact(limit):
        return double > limit if open_ else double >= limit
    return Fraction(double) > bound if open_ else Fraction(double) >= bound


def exact(value: Fraction | int | float) -> Fraction:
    """The number that JSON text says: a float is its shortest decimal, beyond 2^53 the integer that it holds."""
    if isinstance(value, float):
        return shortest(value) if abs(value) < 2**53 else Fraction(value)
    return Fraction(value)
