"""Boolean formulas over literals: what a schema says of arrays, and what it says of objects.

A formula is ``True``, ``False``, a literal, or a conjunction or disjunction of formulas. There is no negation sign:
each literal has a complement, so :func:`negate` pushes it inwards (negation normal form).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from schemas.compiled import Residue
from schemas.goals import GoalId
from schemas.stringset import StringSet


@dataclass(frozen=True, slots=True)
class Region:
    """A set of member names: those of ``within`` that are not in ``names`` and match none of ``without``."""

    within: StringSet | None = None
    names: frozenset[str] = frozenset()
    without: tuple[StringSet, ...] = ()

    def __contains__(self, key: str) -> bool:
        return (
            key not in self.names
            and (self.within is None or self.within.contains(key))
            and not any(language.contains(key) for language in self.without)
        )


# Literals of objects are tuples, because they are made, hashed and compared more than anything else here; each has its
# kind as its last part, so that those of different kinds are never equal.

# Of objects.


class Has(NamedTuple):
    key: str
    tag: str = "has"


class Lacks(NamedTuple):
    key: str
    tag: str = "lacks"


class Member(NamedTuple):
    """The member ``key`` is absent or its value is in ``goal``."""

    key: str
    goal: GoalId
    tag: str = "member"


class Every(NamedTuple):
    """Every member whose name is in ``region`` has its value in ``goal``."""

    region: Region
    goal: GoalId
    tag: str = "every"


class Some(NamedTuple):
    """Some member whose name is in ``region`` has its value in ``goal``."""

    region: Region
    goal: GoalId
    tag: str = "some"


# Of arrays.


@dataclass(frozen=True, slots=True)
class At:
    """There is no item ``index`` or it is in ``goal``."""

    index: int
    goal: GoalId


@dataclass(frozen=True, slots=True)
class From:
    """Every item from ``index`` on is in ``goal``."""

    index: int
    goal: GoalId


@dataclass(frozen=True, slots=True)
class Matching:
    """The number of items from ``index`` on that are in ``goal`` is between ``least`` and ``most``."""

    index: int
    goal: GoalId
    least: int
    most: int | None


class Unique(NamedTuple):
    """All items differ, or (``holds`` false) some two are equal."""

    holds: bool
    residue: Residue
    tag: str = "unique"


# Of both.


class Count(NamedTuple):
    """The number of members or items is at least ``least`` and at most ``most``."""

    least: int
    most: int | None
    tag: str = "count"


class Unknown(NamedTuple):
    """A condition that the grammar cannot hold. Neither it nor its complement excludes a value."""

    residue: Residue
    tag: str = "unknown"


Literal: TypeAlias = Has | Lacks | Member | Every | Some | At | From | Matching | Unique | Count | Unknown


class _Compound:
    """Parts under ``and`` or ``or``; never changed. Some are looked up often, so the hash is kept; most never."""

    __slots__ = ("_hash", "_literals", "_members", "parts")
    __match_args__ = ("parts",)

    def __init__(self, parts: tuple[Formula, ...]) -> None:
        self.parts = parts
        self._hash: int | None = None
        self._members: frozenset[str] | None = None
        self._literals: tuple[Formula, ...] | None = None

    @property
    def literals(self) -> tuple[Formula, ...]:
        """The literals inside, each once, in order."""
        if self._literals is None:
            found: dict[Formula, None] = {}
            for part in self.parts:
                found.update(dict.fromkeys(part.literals if isinstance(part, _Compound) else (part,)))
            self._literals = tuple(found)
        return self._literals

    @property
    def members(self) -> frozenset[str]:
        """The members that the literals inside look at; :data:`ANY_MEMBER` for those that look at more than one."""
        if self._members is None:
            found: set[str] = set()
            for part in self.parts:
                if isinstance(part, _Compound):
                    found |= part.members
                elif not isinstance(part, bool):
                    found.add(member_of(part))
            self._members = frozenset(found)
        return self._members

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.parts)
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, _Compound)
            and type(self) is type(other)
            and hash(self) == hash(other)
            and self.parts == other.parts
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.parts}"


class And(_Compound):
    __slots__ = ()


class Or(_Compound):
    __slots__ = ()


Formula: TypeAlias = "bool | Literal | And | Or"

ANY_MEMBER = ""
"""Stands for any member at all; a literal on the member with this very name is taken for one on any, too."""


_KEYED = (Has, Lacks, Member)


def member_of(literal: Literal) -> str:
    """The member that a literal looks at, or :data:`ANY_MEMBER`."""
    return literal.key if isinstance(literal, _KEYED) else ANY_MEMBER


def conjunction(formulas: Iterable[Formula]) -> Formula:
    """All of them, flat and each once; no ``And`` of one or none."""
    parts: dict[Formula, None] = {}
    for formula in formulas:
        if formula is False:
            return False
        if isinstance(formula, And):
            parts.update(dict.fromkeys(formula.parts))
        elif formula is not True:
            parts[formula] = None
    if not parts:
        return True
    return next(iter(parts)) if len(parts) == 1 else And(tuple(parts))


def disjunction(formulas: Iterable[Formula]) -> Formula:
    """Any of them, flat and each once; no ``Or`` of one or none."""
    parts: dict[Formula, None] = {}
    for formula in formulas:
        if formula is True:
            return True
        if isinstance(formula, Or):
            parts.update(dict.fromkeys(formula.parts))
        elif formula is not False:
            parts[formula] = None
    if not parts:
        return False
    return next(iter(parts)) if len(parts) == 1 else Or(tuple(parts))


def negate(formula: Formula, complement: Callable[[GoalId], GoalId]) -> Formula:
    """The formula's complement among the values of its type. ``complement`` negates goals."""
    match formula:
        case bool():
            return not formula
        case And(parts):
            return disjunction(negate(part, complement) for part in parts)
        case Or(parts):
            return conjunction(negate(part, complement) for part in parts)
        case Has(key):
            return Lacks(key)
        case Lacks(key):
            return Has(key)
        case Member(key, goal):
            return conjunction((Has(key), Member(key, complement(goal))))
        case Every(region, goal):
            return Some(region, complement(goal))
        case Some(region, goal):
            return Every(region, complement(goal))
        case At(index, goal):
            return conjunction((Count(index + 1, None), At(index, complement(goal))))
        case From(index, goal):
            return Matching(index, complement(goal), 1, None)
        case Matching(index, goal, least, most):
            below = Matching(index, goal, 0, least - 1) if least else False
            above = False if most is None else Matching(index, goal, most + 1, None)
            return disjunction((below, above))
        case Count(least, most):
            fewer: Formula = Count(0, least - 1) if least else False
            return disjunction((fewer, False if most is None else Count(most + 1, None)))
        case Unique(holds, residue):
            return Unique(not holds, residue)
        case Unknown():
            return formula


MAX_NAMES = 64
"""Names of a finite set of names that become members one by one."""


def rest_of(names: Iterable[str], patterns: Iterable[StringSet]) -> Region:
    """The names that are neither in ``names`` nor in one of ``patterns``."""
    words, without = set(names), []
    for pattern in patterns:
        if pattern.others is None:
            words.update(pattern.words)
        else:
            without.append(pattern)
    return Region(None, frozenset(words), tuple(sorted(without, key=lambda pattern: pattern.key)))


def every(names: StringSet, goal: GoalId) -> Formula:
    """Every member with a name in ``names`` has its value in ``goal``; in terms of single names where they are few."""
    if names.others is None and len(names.words) <= MAX_NAMES:
        return conjunction(Member(word, goal) for word in sorted(names.words))
    if names.others is not None and names.others == StringSet.ALL.others:
        return Every(Region(names=names.words), goal)
    return Every(Region(within=names), goal)
