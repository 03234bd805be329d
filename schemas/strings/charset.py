"""Sets of Unicode scalar values: the alphabet of every string language. Lone surrogates are in no set."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

LAST = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)


@dataclass(slots=True, unsafe_hash=True)
class CharSet:
    """Sorted, disjoint, non-adjacent closed intervals of code points, surrogates left out.

    Never changed; not declared frozen, because it takes four times as long to make one that is.
    """

    ranges: tuple[tuple[int, int], ...]

    def __contains__(self, char: str) -> bool:
        code = ord(char)
        at = bisect_right(self.ranges, (code, LAST + 1)) - 1
        return at >= 0 and code <= self.ranges[at][1]

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __len__(self) -> int:
        return sum(high - low + 1 for low, high in self.ranges)

    @property
    def is_single(self) -> bool:
        """Whether it has one member."""
        return len(self.ranges) == 1 and self.ranges[0][0] == self.ranges[0][1]

    def __or__(self, other: CharSet) -> CharSet:
        if not other.ranges or self.ranges == other.ranges:
            return self
        return from_ranges(self.ranges + other.ranges) if self.ranges else other

    def __and__(self, other: CharSet) -> CharSet:
        if self.ranges == other.ranges or other is ANY:
            return self
        if self is ANY:
            return other
        left, right, found = self.ranges, other.ranges, []
        i = j = 0
        while i < len(left) and j < len(right):
            low, high = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
            if low <= high:
                found.append((low, high))
            if left[i][1] < right[j][1]:
                i += 1
            else:
                j += 1
        return CharSet(tuple(found))

    def __invert__(self) -> CharSet:
        gaps, start = [], 0
        for low, high in self.ranges:
            if start < low:
                gaps.append((start, low - 1))
            start = high + 1
        if start <= LAST:
            gaps.append((start, LAST))
        return from_ranges(gaps)

    def __sub__(self, other: CharSet) -> CharSet:
        right, found, at = other.ranges, [], 0
        for low, high in self.ranges:
            while at < len(right) and right[at][1] < low:
                at += 1
            next_ = at
            while next_ < len(right) and right[next_][0] <= high:
                if right[next_][0] > low:
                    found.append((low, right[next_][0] - 1))
                low = right[next_][1] + 1
                next_ += 1
            if low <= high:
                found.append((low, high))
        return CharSet(tuple(found))

    def first(self) -> str:
        """The member to show a person: the first letter or digit, else the first printable one, else the lowest."""
        if self.is_single:
            return chr(self.ranges[0][0])
        for wanted in (_LETTERS, _DIGITS, _PRINTABLE):
            common = self & wanted
            if common.ranges:
                return chr(common.ranges[0][0])
        return chr(self.ranges[0][0])

    def draw(self, rng: Random) -> str:
        """A random member: most often one that a person would type, else any of a common or of a random range."""
        roll = rng.random()
        typed = self & (_TYPED if roll < 0.85 else _COMMON)
        ranges = typed.ranges or self.ranges
        low, high = ranges[rng.randrange(len(ranges))]
        return chr(rng.randint(low, high))

    def at(self, index: int) -> str:
        """The member number ``index`` in code point order. Raises IndexError outside the set."""
        for low, high in self.ranges:
            if index <= high - low:
                return chr(low + index)
            index -= high - low + 1
        raise IndexError(index)


def from_ranges(ranges: Iterable[tuple[int, int]]) -> CharSet:
    """The set of all code points in ``ranges`` (closed, any order, overlapping or not) that are scalar values."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            if high > merged[-1][1]:
                merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    first, last = SURROGATES
    for low, high in merged:
        if low <= last and high >= first:
            break
    else:
        return CharSet(tuple(merged))
    cut: list[tuple[int, int]] = []
    for low, high in merged:
        if low < first:
            cut.append((low, min(high, first - 1)))
        if high > last:
            cut.append((max(low, last + 1), high))
        # A range inside the surrogates leaves nothing; one that ends before or starts after them stays whole.
    return CharSet(tuple(cut))


def of(chars: str) -> CharSet:
    """The set of the characters of ``chars``."""
    return from_ranges((ord(c), ord(c)) for c in chars)


ANY = CharSet(((0, SURROGATES[0] - 1), (SURROGATES[1] + 1, LAST)))
NOTHING = CharSet(())
_LETTERS = CharSet(((ord("a"), ord("z")),))
_DIGITS = CharSet(((ord("0"), ord("9")), (ord("A"), ord("Z"))))
_TYPED = CharSet(((0x20, 0x7E),))
_COMMON = CharSet(((0x0A, 0x0A), (0xA1, 0x24F), (0x391, 0x3C9), (0x410, 0x44F), (0x4E00, 0x4FFF), (0x1F600, 0x1F64F)))
_PRINTABLE = CharSet(((0x20, 0x7E),))
