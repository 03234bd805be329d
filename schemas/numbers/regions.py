"""Stretches of the number line and the multiples in them."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise
from typing import TypeAlias

from schemas.numbers.lattice import EMPTY, FULL, Lattice, Union

Cut: TypeAlias = tuple[Fraction | float, int]
"""A place between numbers: ``(v, 0)`` just below ``v``, ``(v, 1)`` just above. The ends of the line are infinite."""

BOTTOM: Cut = (-math.inf, 1)
TOP: Cut = (math.inf, 0)
LARGEST = Fraction(sys.float_info.max)
_SEARCH = 10_000
"""Candidates tried for a member of a set that also excludes multiples; beyond, it is taken to have one."""


@dataclass(frozen=True, slots=True)
class Region:
    """The numbers between two cuts that are in one of ``terms``."""

    start: Cut
    end: Cut
    terms: Union

    @property
    def point(self) -> Fraction | None:
        """The only number between the cuts, if there is just one."""
        value = self.start[0]
        return value if value == self.end[0] and isinstance(value, Fraction) else None

    @property
    def is_bounded(self) -> bool:
        return not math.isinf(self.start[0]) and not math.isinf(self.end[0])

    def spans(self, value: Fraction) -> bool:
        return self.start <= (value, 0) and (value, 1) <= self.end


def sweep(a: tuple[Region, ...], b: tuple[Region, ...]) -> Iterator[tuple[Cut, Cut, Union, Union]]:
    """The line cut at every end of both sets, with what each of them has there."""
    cuts = sorted({BOTTOM, TOP, *(c for s in (a, b) for r in s for c in (r.start, r.end))})
    i = j = 0
    for start, end in pairwise(cuts):
        while i < len(a) and a[i].end <= start:
            i += 1
        while j < len(b) and b[j].end <= start:
            j += 1
        here = a[i].terms if i < len(a) and a[i].start <= start else EMPTY
        there = b[j].terms if j < len(b) and b[j].start <= start else EMPTY
        yield start, end, here, there


def normal(regions: Iterable[Region]) -> tuple[Region, ...]:
    """Drop what is empty, make points plain, join neighbours that are alike."""
    kept: list[Region] = []
    for region in map(_clamped, regions):
        if region.start >= region.end:
            continue
        terms = region.terms
        point = region.point
        if point is not None:
            terms = FULL if any(term.contains(point) for term in terms) else EMPTY
        elif terms not in (FULL, EMPTY):
            terms = frozenset(term for term in terms if _has_member(region, term))
        if not terms:
            continue
        last = kept[-1] if kept else None
        if last is not None and last.end == region.start and last.terms == terms:
            kept[-1] = Region(last.start, region.end, terms)
        elif last is not None and last.end == region.start and point is not None and _covers(last.terms, point):
            kept[-1] = Region(last.start, region.end, last.terms)
        elif last is not None and last.end == region.start and last.point is not None and _covers(terms, last.point):
            kept[-1] = Region(last.start, region.end, terms)
        else:
            kept.append(Region(region.start, region.end, terms))
    return tuple(kept)


def _clamped(region: Region) -> Region:
    """What lies beyond the doubles is no number: an end there is no end."""
    start = BOTTOM if region.start <= (-LARGEST, 0) else region.start
    end = TOP if region.end >= (LARGEST, 1) else region.end
    beyond = region.start >= (LARGEST, 1) or region.end <= (-LARGEST, 0)
    return Region(start, start if beyond else end, region.terms)


def _covers(terms: Union, point: Fraction) -> bool:
    return any(term.contains(point) for term in terms)


def _first_multiple(region: Region, step: Fraction) -> Fraction:
    """The lowest multiple of ``step`` above the region's start, which is finite."""
    value, above = region.start
    number = Fraction(value)
    return (math.floor(number / step) + 1 if above else math.ceil(number / step)) * step


def multiples_from(region: Region, term: Lattice) -> Iterator[Fraction]:
    """The multiples of the term's step in the region, from its finite start on; ``without`` is not looked at."""
    assert term.step is not None
    value = _first_multiple(region, term.step)
    while (value, 1) <= region.end:
        yield value
        value += term.step


def some(region: Region, term: Lattice) -> Fraction:
    """A member of ``term`` in the region, which has one. Raises ``ValueError`` when none is found."""
    if math.isinf(region.start[0]):
        zero = Fraction(0)
        start = (-region.end[0], 1 - region.end[1]) if not math.isinf(region.end[0]) else (zero, 0)
        return -some(Region(start, TOP, region.terms), term)
    if term.step is not None:
        for value in islice(multiples_from(region, term), _SEARCH):
            if term.contains(value):
                return value
        raise ValueError("no member found")
    low = Fraction(region.start[0])
    width = Fraction(region.end[0]) - low if region.is_bounded else Fraction(1)
    grain = decimal_below(min((width, *term.without)))
    for _ in range(40):
        grain /= 10
        for k in range(1, 8):
            value = (math.floor(low / grain) + k) * grain
            if region.spans(value) and term.contains(value):
                return value
    raise ValueError("no member found")


def _has_member(region: Region, term: Lattice) -> bool:
    """Whether the term has a member in the region, which is more than a point."""
    if term.step is None:
        return True  # a stretch of the line holds numbers that are multiples of nothing given
    if not region.is_bounded:
        return True  # proper multiples never cover all multiples
    return any(tried > _SEARCH or term.contains(v) for tried, v in enumerate(multiples_from(region, term)))


def decimal_below(value: Fraction) -> Fraction:
    """The power of ten at or below a positive number."""
    power = len(str(value.numerator)) - len(str(value.denominator))
    found = Fraction(10) ** power
    return found if found <= value else found / 10
