"""Members of number sets: all of them, short ones, random ones."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from schemas.numbers import lattice as lat
from schemas.numbers.doubles import MAX, exact, nearest
from schemas.numbers.doubles import shortest as printed
from schemas.numbers.lattice import EVERY, Lattice
from schemas.numbers.multiples import decimal_places
from schemas.numbers.regions import Region, multiples_from, some

_SEARCH = 10_000
"""Multiples looked at for each member wanted, before a set counts as too large to enumerate."""
_FAR = 10**16
"""Beyond, multiples are not spelled."""
_LONG = 10**79
"""Beyond, bounds are not spelled digit by digit."""
_PLACES = 15


def widened(region: Region) -> Region:
    """The same multiples without exceptions, of the largest part of each step that one expression spells.

    Bounds with more digits than are spelled become powers of ten.
    """
    start, end = region.start, region.end
    far = start[0] > _FAR or end[0] < -_FAR
    terms = {Lattice(_spelled_divisor(term.step, far=far)) for term in region.terms}
    if start[0] > _LONG and region.point is None and not math.isinf(start[0]):
        start = (_power_below(Fraction(start[0])), 0)
    if end[0] < -_LONG and region.point is None and not math.isinf(end[0]):
        end = (-_power_below(Fraction(-end[0])), 1)
    return Region(start, end, lat.simplify(terms))


def _power_below(value: Fraction) -> Fraction:
    return Fraction(int("1" + "0" * (len(str(math.floor(value))) - 1)))


def _spelled_divisor(step: Fraction | None, *, far: bool) -> Fraction | None:
    places = 0 if step is None else decimal_places(step)
    if step is None or places > _PLACES or (far and places):
        return None
    if far:
        return Fraction(1)
    number = (step * 10**places).numerator
    twos, fives, threes = (_exponent(number, prime) for prime in (2, 5, 3))
    return Fraction(2 ** min(twos, 3) * 5 ** min(fives, 3) * 3 ** min(threes, 1), 10**places)


def _exponent(number: int, prime: int) -> int:
    count = 0
    while number % prime == 0:
        number //= prime
        count += 1
    return count


def enumerate_all(regions: tuple[Region, ...], limit: int) -> list[Fraction] | None:
    found: set[Fraction] = set()
    for region in regions:
        if region.point is not None:
            found.add(region.point)
        elif not region.is_bounded or any(term.step is None for term in region.terms):
            return None
        else:
            for term in region.terms:
                for tried, value in enumerate(multiples_from(region, term)):
                    if tried > limit + _SEARCH:
                        return None
                    if term.contains(value):
                        found.add(value)
                    if len(found) > limit:
                        return None
        if len(found) > limit:
            return None
    return sorted(found)


@lru_cache(maxsize=1024)
def shortest(regions: tuple[Region, ...]) -> str:
    for value in map(Fraction, range(10)):
        if any(region.spans(value) and any(term.contains(value) for term in region.terms) for region in regions):
            return text(value)
    texts = [text(value) for region in regions for value in _short(region)]
    if not texts:
        raise ValueError("the set is empty")
    return min(texts, key=lambda t: (len(t), t))


def _short(region: Region) -> list[Fraction]:
    """Members with few digits, at least one."""
    if region.point is not None:
        return [region.point]
    found: list[Fraction] = []
    for term in lat.ordered(region.terms):
        for candidates in _candidates(region, term):
            good = [c for c in candidates if region.spans(c) and term.contains(c) and abs(c) <= MAX]
            found.extend(good)
            if good:
                break
        else:
            found.append(some(region, term))
    return found


def _candidates(region: Region, term: Lattice) -> Iterator[list[Fraction]]:
    """Short numbers, then ones near the ends."""
    yield [*(Fraction(-n) for n in range(1, 10)), *(Fraction(n, 10) for n in range(-19, 20))]
    if term.step is None and term.without:
        yield [Fraction(n, 10**places) for places in range(2, 20) for n in (1, 5, -1, -5)]
    ends = [Fraction(end) for end in (region.start[0], region.end[0]) if not math.isinf(end)]
    yield [near for end in ends for near in _near(end, term)]


def _near(end: Fraction, term: Lattice) -> list[Fraction]:
    found = [end]
    if term.step is not None:
        lowest = math.floor(end / term.step)
        found += [(lowest + k) * term.step for k in range(-3, 5)]
    first = len(str(math.floor(abs(end))))
    if term.step is None or first > 12:
        for power in range(first, max(first - 40, -20), -1):
            grain = Fraction(10) ** power
            found.extend((math.floor(end / grain) + k) * grain for k in (-1, 0, 1, 2))
    return found


def text(value: Fraction) -> str:
    """JSON text of a finite decimal, with an exponent where that is shorter."""
    double = nearest(value)
    if abs(value) >= 2**53 and not math.isinf(double) and exact(double) == value:
        value = printed(double)  # the digits that JSON writers print for the integer that a double holds
    places = decimal_places(value)
    sign, digits = "-" if value < 0 else "", str(abs(value * 10**places).numerator)
    padded = digits.rjust(places + 1, "0")
    plain = padded if not places else f"{padded[:-places]}.{padded[-places:]}"
    power = len(digits) - 1 - places
    short = digits.rstrip("0") or "0"
    scaled = f"{short[0]}{'.' + short[1:] if short[1:] else ''}e{power}"
    whole_is_long = len(padded) - places > 17
    small = places > 17
    return sign + (scaled if value and (whole_is_long or small) and len(scaled) < len(plain) else plain)


def sample(regions: tuple[Region, ...], rng: random.Random) -> Fraction:
    if not regions:
        raise ValueError("the set is empty")
    region = rng.choice(regions)
    if region.point is not None:
        return region.point
    term = rng.choice(lat.ordered(region.terms))
    low = None if math.isinf(region.start[0]) else Fraction(region.start[0])
    high = None if math.isinf(region.end[0]) else Fraction(region.end[0])
    if low is None:
        low = Fraction(-1000) if high is None else min(high, Fraction(0)) - 1000
    if high is None:
        high = max(low, Fraction(0)) + 1000
    width = min(high - low, Fraction(10) ** rng.randrange(1, 20))
    grain = term.step or Fraction(10) ** (math.floor(math.log10(width)) - rng.randrange(1, 5))
    start = low if rng.random() < 0.5 or term == EVERY else high - width
    for _ in range(100):
        value = (math.floor(start / grain) + rng.randrange(math.floor(width / grain) + 2)) * grain
        if region.spans(value) and term.contains(value):
            return value
    return some(region, term)
