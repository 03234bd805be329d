"""Regular expressions for the decimal numbers between two bounds, digit by digit.

A bound is a pair of digit strings: the integer part and the fraction without trailing zeros. What may follow the
integer part is a *tail*, so that integers, decimals and mantissas share one walk over the digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

Pattern: TypeAlias = str
"""A regular expression in Rust syntax. ``None`` in its place means: matches nothing."""


def group(pattern: Pattern) -> Pattern:
    return f"(?:{pattern})"


def either(patterns: list[Pattern | None]) -> Pattern | None:
    """The alternatives that match something, grouped when there are several."""
    kept = list(dict.fromkeys(p for p in patterns if p is not None))
    if not kept:
        return None
    return kept[0] if len(kept) == 1 else group("|".join(kept))


def digit(low: int, high: int) -> Pattern | None:
    if low > high:
        return None
    return str(low) if low == high else f"[{low}-{high}]"


def repeat(atom: Pattern, low: int, high: int) -> Pattern:
    if high == 0:
        return ""
    if low == high:
        return atom if low == 1 else f"{atom}{{{low}}}"
    if high == 1:
        return atom + "?"
    return f"{atom}{{{low},{high}}}"


def free(low: int, high: int) -> Pattern:
    return repeat("[0-9]", low, high)


def then(first: Pattern | None, second: Pattern | None) -> Pattern | None:
    return None if first is None or second is None else first + second


@dataclass(frozen=True, slots=True)
class Decimal:
    """A non-negative decimal number as digits."""

    whole: str
    fraction: str

    @staticmethod
    def of(value: Fraction, places: int, *, up: bool) -> Decimal:
        """``value`` with at most ``places`` digits after the point, rounded away from or towards zero."""
        scaled = value * 10**places
        number = -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator
        text = str(number).rjust(places + 1, "0")
        cut = len(text) - places
        return Decimal(text[:cut], text[cut:].rstrip("0"))

    @property
    def value(self) -> Fraction:
        return Fraction(int(self.whole + self.fraction), 10 ** len(self.fraction))


@dataclass(frozen=True, slots=True)
class Tail:
    """What follows the integer part: at most ``places`` free digits after the point, then at most ``zeros`` zeros."""

    places: int
    zeros: int
    required: bool = False
    """Whether there must be a point at all."""

    def any(self) -> Pattern:
        if self.places == 0:
            return self._optional(repeat("0", 1, self.zeros) if self.zeros else None) or ""
        return self._optional(free(1, self.places) + repeat("0", 0, self.zeros)) or ""

    def at_least(self, fraction: str) -> Pattern | None:
        if not fraction:
            return self.any()
        body = self._least(fraction, self.places)
        return None if body is None else rf"\.{body}{repeat('0', 0, self.zeros)}"

    def at_most(self, fraction: str) -> Pattern | None:
        if fraction == "9" * self.places and self.places:
            return self.any()
        if not fraction:
            zeros = self.places + self.zeros
            return self._optional(repeat("0", 1, zeros) if zeros else None)
        return self._optional(then(self._most(fraction, self.places), repeat("0", 0, self.zeros)))

    def between(self, low: str, high: str) -> Pattern | None:
        if not low:
            return self.at_most(high)
        if high == "9" * self.places:
            return self.at_least(low)
        body = self._both(low, high, self.places)
        return None if body is None else rf"\.{body}{repeat('0', 0, self.zeros)}"

    def _optional(self, body: Pattern | None) -> Pattern | None:
        if body is None:
            return None if self.required else ""
        return rf"\.{body}" if self.required else group(rf"\.{body}") + "?"

    def _least(self, low: str, room: int) -> Pattern | None:
        """Digits that read as at least ``low``; more than none."""
        if not low:
            return free(0, room)
        if room == 0:
            return None
        first = int(low[0])
        bigger = then(digit(first + 1, 9), free(0, room - 1))
        return either([bigger, then(low[0], self._least(low[1:], room - 1))])

    def _most(self, high: str, room: int) -> Pattern | None:
        """Digits, at least one, that read as at most ``high``."""
        if room == 0:
            return None
        if not high:
            return repeat("0", 1, room)
        if high == "9" * room:
            return free(1, room)
        first = int(high[0])
        smaller = then(digit(0, first - 1), free(0, room - 1))
        rest = self._most(high[1:], room - 1)
        return either([smaller, high[0] + (group(rest) + "?" if rest is not None else "")])

    def _both(self, low: str, high: str, room: int) -> Pattern | None:
        if not low:
            return self._most_or_none(high, room)
        if room == 0 or not high:
            return None
        a, b = int(low[0]), int(high[0])
        if a > b:
            return None
        if a == b:
            return then(low[0], self._both(low[1:], high[1:], room - 1))
        return either(
            [
                then(low[0], self._least(low[1:], room - 1)),
                then(digit(a + 1, b - 1), free(0, room - 1)),
                then(high[0], self._most_or_none(high[1:], room - 1)),
            ]
        )

    def _most_or_none(self, high: str, room: int) -> Pattern:
        rest = self._most(high, room)
        return "" if rest is None else group(rest) + "?"


def between(low: Decimal, high: Decimal, tail: Tail) -> Pattern | None:
    """Numbers from ``low`` to ``high``, both included, without needless leading zeros; ``None`` when there are none."""
    if low.value > high.value:
        return None
    short, long = len(low.whole), len(high.whole)
    if short == long:
        return _same_length(low, high, tail)
    patterns: list[Pattern | None] = []
    first_free, last_free = short, long
    if int(low.whole) not in (0, _lowest(short)) or low.fraction:
        patterns.append(_from(low.whole, low.fraction, tail))
        first_free = short + 1
    if high.whole != "9" * long or tail.at_most(high.fraction) != tail.any():
        last_free = long - 1
    if first_free <= last_free:
        many = "[1-9]" + free(first_free - 1, last_free - 1)
        if int(low.whole) == 0 and first_free == 1:
            many = f"(?:0|{many})"
        patterns.append(many + tail.any())
    if last_free < long:
        lowest = "1" + "0" * (long - 1)
        patterns.append(_same_length(Decimal(lowest, ""), high, tail))
    return either(patterns)


def _lowest(length: int) -> int:
    return int("1" + "0" * (length - 1))


def _same_length(low: Decimal, high: Decimal, tail: Tail) -> Pattern | None:
    return _within(low.whole, high.whole, low.fraction, high.fraction, tail)


def _from(low: str, fraction: str, tail: Tail) -> Pattern | None:
    """Digits of the same length that are at least ``low``."""
    if not low:
        return tail.at_least(fraction)
    if not low.strip("0") and not fraction:
        return free(len(low), len(low)) + tail.any()
    rest = len(low) - 1
    bigger = then(digit(int(low[0]) + 1, 9), free(rest, rest) + tail.any())
    return either([bigger, then(low[0], _from(low[1:], fraction, tail))])


def _upto(high: str, fraction: str, tail: Tail) -> Pattern | None:
    if not high:
        return tail.at_most(fraction)
    if not high.strip("9") and tail.at_most(fraction) == tail.any():
        return free(len(high), len(high)) + tail.any()
    rest = len(high) - 1
    smaller = then(digit(0, int(high[0]) - 1), free(rest, rest) + tail.any())
    return either([smaller, then(high[0], _upto(high[1:], fraction, tail))])


def _within(low: str, high: str, low_fraction: str, high_fraction: str, tail: Tail) -> Pattern | None:
    if not low:
        return tail.between(low_fraction, high_fraction)
    a, b = int(low[0]), int(high[0])
    if a == b:
        return then(low[0], _within(low[1:], high[1:], low_fraction, high_fraction, tail))
    rest = len(low) - 1
    low_all = not low[1:].strip("0") and not low_fraction
    high_all = not high[1:].strip("9") and tail.at_most(high_fraction) == tail.any()
    patterns: list[Pattern | None] = []
    if not low_all:
        patterns.append(then(low[0], _from(low[1:], low_fraction, tail)))
        a += 1
    if high_all:
        patterns.append(then(digit(a, b), free(rest, rest) + tail.any()))
    else:
        patterns.append(then(digit(a, b - 1), free(rest, rest) + tail.any()))
        patterns.append(then(high[0], _upto(high[1:], high_fraction, tail)))
    return either(patterns)


def numbers(low: Fraction, high: Fraction, tail: Tail) -> Pattern | None:
    """The non-negative numbers from ``low`` to ``high`` that ``tail`` can spell; ``None`` when there are none."""
    if low > high or high < 0:
        return None
    low = max(low, Fraction(0))
    return between(Decimal.of(low, tail.places, up=True), Decimal.of(high, tail.places, up=False), tail)
