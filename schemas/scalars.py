"""Sets of null, booleans, numbers and strings, with how exactly they are known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, Protocol, Self, TypeVar

from schemas.compiled import Residue
from schemas.numbers import NumberSet
from schemas.stringset import StringSet


class _Set(Protocol):
    def __and__(self, other: Self) -> Self: ...
    def __or__(self, other: Self) -> Self: ...
    def __invert__(self) -> Self: ...


T = TypeVar("T", bound=_Set)


@dataclass(frozen=True, slots=True)
class Bounds(Generic[T]):
    """A set that lies between ``lower`` and ``upper``; ``residue`` says why the two differ, empty when they do not.

    Complement swaps the bounds, so a keyword that cannot be expressed widens what the grammar accepts under ``not``
    too, instead of turning into a refusal of valid values.
    """

    upper: T
    lower: T
    residue: frozenset[Residue] = frozenset()

    def __and__(self, other: Bounds[T]) -> Bounds[T]:
        if self is other:
            return self
        upper = self.upper & other.upper
        if self.upper is self.lower and other.upper is other.lower:
            return self if upper is self.upper else other if upper is other.upper else Bounds(upper, upper)
        return self._joined(other, upper, self.lower & other.lower)

    def __or__(self, other: Bounds[T]) -> Bounds[T]:
        if self is other:
            return self
        upper = self.upper | other.upper
        if self.upper is self.lower and other.upper is other.lower:
            return self if upper is self.upper else other if upper is other.upper else Bounds(upper, upper)
        return self._joined(other, upper, self.lower | other.lower)

    def __invert__(self) -> Bounds[T]:
        upper = ~self.lower
        return Bounds(upper, upper if self.upper is self.lower else ~self.upper, self.residue)

    def _joined(self, other: Bounds[T], upper: T, lower: T) -> Bounds[T]:
        residue = self.residue | other.residue
        return Bounds(upper, lower, residue if residue and upper != lower else frozenset())


def exactly(items: T) -> Bounds[T]:
    return Bounds(items, items)


@dataclass(frozen=True, slots=True)
class Scalars:
    """The null, boolean, number and string values of a goal."""

    null: bool
    false: bool
    true: bool
    numbers: Bounds[NumberSet]
    strings: Bounds[StringSet]
    pointed: Bounds[NumberSet] | None = None
    """The numbers that may be spelled with a fraction or an exponent, where those are not all of ``numbers``, the ones
    that may be spelled without: to draft 4, ``1`` is an ``integer`` and ``1.0`` is none."""

    def __and__(self, other: Scalars) -> Scalars:
        if other is ALL or self is NONE:
            return self
        if self is ALL or other is NONE:
            return other
        return Scalars(
            self.null and other.null,
            self.false and other.false,
            self.true and other.true,
            self.numbers & other.numbers,
            self.strings & other.strings,
            None if self.pointed is None and other.pointed is None else self.with_point & other.with_point,
        )

    def __or__(self, other: Scalars) -> Scalars:
        if self is NONE:
            return other
        if other is NONE:
            return self
        return Scalars(
            self.null or other.null,
            self.false or other.false,
            self.true or other.true,
            self.numbers | other.numbers,
            self.strings | other.strings,
            None if self.pointed is None and other.pointed is None else self.with_point | other.with_point,
        )

    def __invert__(self) -> Scalars:
        return replace(
            self,
            null=not self.null,
            false=not self.false,
            true=not self.true,
            numbers=~self.numbers,
            strings=~self.strings,
            pointed=None if self.pointed is None else ~self.pointed,
        )

    @property
    def with_point(self) -> Bounds[NumberSet]:
        return self.numbers if self.pointed is None else self.pointed

    def spelled_both_ways(self) -> NumberSet:
        """The numbers that are spelled with and without fraction and exponent; all but some integers are."""
        numbers = self.numbers.upper
        return numbers if self.pointed is None else numbers & self.pointed.upper

    def spelled_plainly(self) -> NumberSet:
        """The integers that are spelled without fraction and exponent only."""
        if self.pointed is None:
            return NumberSet.NONE
        return self.numbers.upper & NumberSet.INTEGERS & ~self.pointed.upper


ALL = Scalars(True, True, True, exactly(NumberSet.ALL), exactly(StringSet.ALL))
NONE = Scalars(False, False, False, exactly(NumberSet.NONE), exactly(StringSet.NONE))
