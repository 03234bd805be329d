"""Numbers with an exponent: one digit other than 0, perhaps a point and more, ``e`` and the power of ten."""

from __future__ import annotations

from fractions import Fraction

from schemas.numbers.digits import Decimal, Pattern, Tail, either, numbers
from schemas.numbers.doubles import MAX

MANTISSA = 17
"""Digits after the point of a mantissa: all that tell doubles apart, and one more."""

_SMALLEST = Fraction("5e-324")
_NEARLY_MAX = Fraction("1.7e308")
_MAX_ULP = Fraction(10) ** (308 - MANTISSA)


def magnitude(value: Fraction) -> int:
    """The exponent of the normalised form of a positive number."""
    guess = len(str(value.numerator)) - len(str(value.denominator))
    return guess if value >= Fraction(10) ** guess else guess - 1


def exponents(low: Fraction, high: Fraction, tail: Tail) -> list[Pattern | None]:
    """Normalised spellings with an exponent of the numbers from ``low`` to ``high``."""
    low = max(low, _SMALLEST)
    if low > high:
        return []
    first, last = magnitude(low), magnitude(high)
    if first == last:
        return [_with_exponent(low, high, first, first, tail)]
    patterns: list[Pattern | None] = []
    if low != Fraction(10) ** first:
        patterns.append(_with_exponent(low, Fraction(10) ** (first + 1), first, first, tail))
        first += 1
    full = Decimal.of(high / Fraction(10) ** last, tail.places, up=False) == Decimal("9", "9" * tail.places)
    if not full:
        patterns.append(_with_exponent(Fraction(10) ** last, high, last, last, tail))
        last -= 1
    if first <= last:
        patterns.append(_with_exponent(Fraction(1), Fraction(10), first, last, tail))
    return patterns


def scaled(low: Fraction, high: Fraction, tail: Tail) -> list[Pattern | None]:
    """As :func:`exponents`; up to the largest double in short, at the price of the others above 1.7e308."""
    if high < MAX or low >= _NEARLY_MAX:
        return exponents(low, high, tail)
    return [*exponents(low, _NEARLY_MAX - _MAX_ULP, tail), r"1\.7976931348623157[eE]\+?308"]


def _with_exponent(low: Fraction, high: Fraction, first: int, last: int, tail: Tail) -> Pattern | None:
    """Mantissas between the bounds (of the one exponent, or any when there are several) and the exponents."""
    scale = Fraction(10) ** first if first == last else Fraction(1)
    largest = Fraction(10) - Fraction(1, 10**tail.places)
    mantissa = numbers(max(low / scale, Fraction(1)), min(high / scale, largest), tail)
    return None if mantissa is None else f"{mantissa}[eE]{_exponent(first, last)}"


def _exponent(first: int, last: int) -> Pattern:
    """The integers from ``first`` to ``last``, signed, one-digit ones with at most one leading zero."""
    patterns = []
    if first < 0:
        patterns.append("-" + _power(max(1, -last), -first))
    if last >= 0:
        patterns.append(r"\+?" + _power(max(0, first), last))
    pattern = either(list(patterns))
    assert pattern is not None
    return pattern


def _power(low: int, high: int) -> Pattern:
    patterns: list[Pattern | None] = []
    if low < 10:
        patterns.append(f"0?[{low}-{min(high, 9)}]")
    if high >= 10:
        patterns.append(numbers(Fraction(max(low, 10)), Fraction(high), Tail(0, 0)))
    pattern = either(patterns)
    assert pattern is not None
    return pattern
