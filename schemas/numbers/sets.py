"""Sets of JSON numbers, closed under ``&``, ``|``, ``~`` and ``-``."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias

from schemas.numbers import lattice as lat
from schemas.numbers import members, terminals
from schemas.numbers.doubles import exact
from schemas.numbers.lattice import FULL, Lattice, Union
from schemas.numbers.regions import BOTTOM, LARGEST, TOP, Region, normal, sweep

Number: TypeAlias = Fraction | int | float


@dataclass(frozen=True, slots=True)
class NumberSet:
    """A set of numbers: disjoint regions, ascending, in a normal form, so that equal structure means equal sets.

    (The converse holds but for exotic unions of multiples.) Numbers are exact; what an IEEE double makes of their
    spelling is dealt with in :mod:`schemas.numbers.spelling`. Numbers larger than every double do not exist here.
    """

    regions: tuple[Region, ...]

    ALL: ClassVar[NumberSet]
    NONE: ClassVar[NumberSet]
    INTEGERS: ClassVar[NumberSet]

    @staticmethod
    def interval(lo: Number | None, lo_open: bool, hi: Number | None, hi_open: bool) -> NumberSet:
        """The numbers from ``lo`` to ``hi``, without an end that is open; ``None`` is unbounded."""
        start = BOTTOM if lo is None else (exact(lo), int(lo_open))
        end = TOP if hi is None else (exact(hi), int(not hi_open))
        return NumberSet(normal([Region(start, end, FULL)]))

    @staticmethod
    def multiples(step: Number) -> NumberSet:
        """Every integer multiple of ``step``. Raises ValueError unless it is positive."""
        if step <= 0:
            raise ValueError("a multiple's step must be positive")
        return NumberSet(normal([Region(BOTTOM, TOP, frozenset({Lattice(exact(step))}))]))

    @staticmethod
    def values(numbers: Iterable[Number]) -> NumberSet:
        """Exactly these, but for numbers larger than every double."""
        points = sorted(value for value in {exact(number) for number in numbers} if abs(value) <= LARGEST)
        return NumberSet(tuple(Region((v, 0), (v, 1), FULL) for v in points))

    def __and__(self, other: NumberSet) -> NumberSet:
        if self is other or not self.regions or other._is_line():
            return self
        if not other.regions or self._is_line():
            return other
        return self._merge(other, lat.intersect)

    def __or__(self, other: NumberSet) -> NumberSet:
        if self is other or not other.regions or self._is_line():
            return self
        if not self.regions or other._is_line():
            return other
        return self._merge(other, lat.unite)

    def __invert__(self) -> NumberSet:
        if not self.regions or self._is_line():
            return NumberSet.NONE if self.regions else NumberSet.ALL
        return NumberSet(normal(Region(s, e, lat.complement(terms)) for s, e, terms, _ in sweep(self.regions, ())))

    def __sub__(self, other: NumberSet) -> NumberSet:
        return self & ~other

    def _is_line(self) -> bool:
        return self.regions is _LINE or self.regions == _LINE

    def _merge(self, other: NumberSet, operation: Callable[[Union, Union], Union]) -> NumberSet:
        cut = sweep(self.regions, other.regions)
        return NumberSet(normal(Region(start, end, operation(a, b)) for start, end, a, b in cut))

    def contains(self, value: Number) -> bool:
        number = exact(value)
        for region in self.regions:
            if region.start <= (number, 0) and (number, 1) <= region.end:
                return any(term.contains(number) for term in region.terms)
        return False

    def is_empty(self) -> bool:
        return not self.regions

    def enumerate(self, limit: int) -> list[Fraction] | None:
        """All members in ascending order; ``None`` when they are more than ``limit``, or too many to look through."""
        return members.enumerate_all(self.regions, limit)

    def sample(self, rng: random.Random) -> Fraction:
        """A member, small ones more often. Raises ``ValueError`` when the set is empty."""
        return members.sample(self.regions, rng)

    def shortest(self) -> str:
        """JSON text of a member, with as few characters as any. Raises ``ValueError`` when the set is empty."""
        return members.shortest(self.regions)

    def superset(self) -> NumberSet:
        """The set with its conditions on multiples relaxed, as far as :meth:`rule` needs to spell it."""
        total = NumberSet.NONE
        for region in self.regions:
            total = total | NumberSet(normal([members.widened(region)]))
        return total

    def rule(self) -> str:
        """An expression for the right of a llguidance Lark *rule* (not of a terminal), for every spelling of the set.

        Raises :class:`schemas.errors.TooComplex` where no expression of bearable size exists: use :meth:`superset`.
        """
        return terminals.rule(self.regions, plain=False)

    def plain_rule(self) -> str:
        """As :meth:`rule`, for the integers of the set spelled without fraction and exponent (draft 4)."""
        return terminals.rule(self.regions, plain=True)

    def terminal(self) -> str:
        """An expression for the right of a Lark terminal. Raises ``TooComplex`` for more sets than :meth:`rule`."""
        return terminals.terminal(self.regions, plain=False)

    def plain_terminal(self) -> str:
        """As :meth:`terminal`, for the integers of the set spelled without fraction and exponent."""
        return terminals.terminal(self.regions, plain=True)

    def regex(self) -> str:
        """One regular expression in Rust syntax, when that is enough; else raises ``TooComplex``."""
        return terminals.regex(self.regions, plain=False)


_LINE = (Region(BOTTOM, TOP, FULL),)

NumberSet.ALL = NumberSet(_LINE)
NumberSet.NONE = NumberSet(())
NumberSet.INTEGERS = NumberSet.multiples(Fraction(1))
