"""What the lowering works on: conjunctive descriptions of arrays and objects. A goal is a union of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from schemas.assignments import Space
from schemas.compiled import Residue
from schemas.goals import GoalId
from schemas.stringset import StringSet

NameClass: TypeAlias = tuple[StringSet, frozenset[StringSet]]
"""Names that match the same patterns, and these."""


class Slot(NamedTuple):
    """A member with a fixed name."""

    key: str
    goal: GoalId
    required: bool


@dataclass(frozen=True, slots=True)
class Others:
    """The members with a name in ``names``, which holds the name of no slot and meets no other ``Others``."""

    names: StringSet
    goal: GoalId
    witness: tuple[tuple[int, GoalId], ...] = ()
    """Values (within ``goal``) that make a member here a witness: (bits of the witnesses of the shape, values)."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Which combinations of members may stand together.

    ``classes[i]`` splits the values of member ``keys[i]``; an assignment says per key 0 (absent) or the 1-based class
    of its value, and ``accepted`` is the set of the allowed ones (`schemas.assignments`).
    """

    keys: tuple[str, ...]
    classes: tuple[tuple[GoalId, ...], ...]
    accepted: int

    def space(self) -> Space:
        return Space([len(classes) + 1 for classes in self.classes])


@dataclass(frozen=True, slots=True)
class ObjectShape:
    slots: tuple[Slot, ...]
    others: tuple[Others, ...]
    witnesses: int = 0
    """How many conditions of the form "some other member is …" there are."""
    least: int = 0
    most: int | None = None
    conditions: tuple[Conditions, ...] = ()
    """They have no member in common."""
    first: str | None = None
    """The member that must come first: where the alternatives are too many to follow all of them at once."""
    residue: frozenset[Residue] = frozenset()


@dataclass(frozen=True, slots=True)
class Contains:
    """Between ``least`` and ``most`` items from ``index`` on are in ``goal``."""

    index: int
    goal: GoalId
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class ArrayShape:
    prefix: tuple[GoalId, ...]
    rest: GoalId
    least: int = 0
    most: int | None = None
    contains: tuple[Contains, ...] = ()
    unique: Residue | None = None
    """Items must differ; the residue to record where the grammar cannot hold that."""
    residue: frozenset[Residue] = frozenset()
