"""Numbers spelled one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from schemas.numbers.digits import Decimal, Pattern, Tail, either, numbers
from schemas.numbers.doubles import exact, nearest, shortest
from schemas.numbers.exponents import MANTISSA, exponents, magnitude
from schemas.numbers.multiples import decimal_places

WHOLE = 80
PLACES = 24
ZEROS = 3
"""Zeros after the digits that a number needs."""
DIGITS_OF_MAX = 309
_NO_EXPONENT = (Fraction(1, 10**4), Fraction(10**16))
"""From here to there (and at zero) no JSON writer prints an exponent."""


def single(values: Sequence[Fraction], *, plain: bool) -> Pattern | None:
    """The spellings of some numbers, zero or above and ascending; with ``plain`` of the integers, without a point."""
    if plain:
        return either([_bare_run(*run) for run in _runs([v.numerator for v in values if v.denominator == 1])])
    usual = [v.numerator for v in values if v.denominator == 1 and v < 2**53]
    whole = either([_bare_run(*run) for run in _runs(usual)])
    found = [None if whole is None else whole + rf"(?:\.0{{1,{ZEROS}}})?"]
    found += [_one(v) for v in values if v.denominator != 1 or v >= 2**53]
    return either(found)


def _runs(values: list[int]) -> Iterator[tuple[int, int]]:
    """First and last of each stretch of consecutive integers."""
    start = 0
    for index in range(1, len(values) + 1):
        if index == len(values) or values[index] != values[index - 1] + 1:
            yield values[start], values[index - 1]
            start = index


def _bare_run(first: int, last: int) -> Pattern | None:
    if first == last:
        return str(first) if len(str(first)) <= DIGITS_OF_MAX else None
    return numbers(Fraction(first), Fraction(last), Tail(0, 0))


def _one(value: Fraction) -> Pattern | None:
    printed = nearest(value)
    readable = not math.isinf(printed) and value == exact(printed)
    patterns: list[Pattern | None] = []
    text = shortest(printed) if readable else value
    if value.denominator == 1:
        patterns.append(_bare_run(value.numerator, value.numerator))
        if readable and value < 10**WHOLE:
            patterns.append(rf"{value.numerator}\.0{{1,{ZEROS}}}")
    elif decimal_places(text) <= PLACES + MANTISSA:
        digits = Decimal.of(text, decimal_places(text), up=True)
        patterns.append(rf"{digits.whole}\.{digits.fraction}0{{0,{ZEROS}}}")
    if not _NO_EXPONENT[0] <= value < _NO_EXPONENT[1] and (readable or value.denominator != 1):
        places = decimal_places(text / Fraction(10) ** magnitude(text))
        patterns.extend(exponents(text, text, Tail(places, 0)))
    return either(patterns)
