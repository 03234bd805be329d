"""Sets of assignments as bit vectors: whole sets are compared, cut and joined at once.

An assignment gives each of some places a digit. It has a number, in which the first place is the leading digit; a set
of assignments is an integer with the bits of their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod


class Space:
    """All assignments with a digit below ``sizes[i]`` at place ``i``."""

    __slots__ = ("every", "sizes", "steps")

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self.steps = [prod(self.sizes[at + 1 :]) for at in range(len(self.sizes))]
        """What one more at a place adds to the number."""
        self.every = (1 << prod(self.sizes)) - 1

    def where(self, at: int, digits: Iterable[int]) -> int:
        """The assignments with one of ``digits`` at place ``at``."""
        step = self.steps[at]
        period = step * self.sizes[at]
        pattern = sum(((1 << step) - 1) << digit * step for digit in digits)
        return pattern * (self.every // ((1 << period) - 1)) if period else 0

    def moved(self, found: int, at: int, digit: int) -> int:
        """Those of ``found`` with ``digit`` at place ``at``, with 0 there instead."""
        return (found & self.where(at, (digit,))) >> digit * self.steps[at]

    def tails(self, found: int, at: int) -> list[int]:
        """``found`` is a set over the places from ``at`` on. Per digit there: the set over the places behind it."""
        step = self.steps[at]
        mask = (1 << step) - 1
        return [found >> digit * step & mask for digit in range(self.sizes[at])]


def kept(space: Space, found: int, digits: Sequence[Sequence[int | None]]) -> int:
    """``found`` in a smaller space: at place ``i`` digit ``n`` stands for ``digits[i][n]``, or for nothing there is."""
    steps = Space([len(chosen) for chosen in digits]).steps
    known: dict[tuple[int, int], int] = {}

    def cut(at: int, tail: int) -> int:
        if not tail or at == len(digits):
            return tail
        result = known.get((at, tail))
        if result is None:
            tails = space.tails(tail, at)
            parts = [0 if digit is None else cut(at + 1, tails[digit]) for digit in digits[at]]
            result = known[at, tail] = sum(part << number * steps[at] for number, part in enumerate(parts))
        return result

    return cut(0, found)
