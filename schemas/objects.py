"""Objects: the literals of a formula that hold together, and the shapes that they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from schemas.compiled import Residue
from schemas.conditions import conditions_of
from schemas.formula import (
    Count,
    Every,
    Formula,
    Has,
    Lacks,
    Literal,
    Member,
    Or,
    Region,
    Some,
    Unknown,
    conjunction,
    disjunction,
)
from schemas.goals import ANYTHING, NOTHING, GoalId
from schemas.others import others
from schemas.shapes import Conditions, ObjectShape, Slot

if TYPE_CHECKING:
    from schemas.algebra import Algebra


class ObjectState:
    """A conjunction of object literals. Implements :class:`schemas.solving.State`."""

    def __init__(self, algebra: Algebra, *, tables: bool = True) -> None:
        """``tables``: turn choices into conditions where that is possible; who asks for one case only needs none."""
        self.algebra = algebra
        self.tables = tables
        self.required: dict[str, None] = {}
        self.forbidden: dict[str, None] = {}
        self.members: dict[str, GoalId] = {}
        self.every: dict[Region, GoalId] = {}
        self.some: dict[Some, None] = {}
        self.least = 0
        self.most: int | None = None
        self.conditions: tuple[Conditions, ...] = ()
        self.residue: dict[Residue, None] = {}
        self._goals: dict[str, GoalId] = {}

    def copy(self) -> ObjectState:
        other = object.__new__(ObjectState)  # nothing made that is not kept
        other.algebra, other.tables = self.algebra, self.tables
        other.required, other.forbidden = dict(self.required), dict(self.forbidden)
        other.members, other.every, other.some = dict(self.members), dict(self.every), dict(self.some)
        other.least, other.most = self.least, self.most
        other.conditions, other.residue = self.conditions, dict(self.residue)
        other._goals = dict(self._goals)
        return other

    def goal(self, key: str) -> GoalId:
        """What the value of ``key`` must satisfy where the member is present."""
        known = self._goals.get(key)
        if known is None:
            known = self._goals[key] = self._goal(key)
        return known

    def _goal(self, key: str) -> GoalId:
        if key in self.forbidden:
            return NOTHING
        parts = [self.members.get(key, ANYTHING)]
        parts.extend([goal for region, goal in self.every.items() if key in region])
        return parts[0] if len(parts) == 1 else self.algebra.goals.conjunction(parts)

    # verdicts

    def verdict(self, literal: Literal) -> bool | None:
        match literal:
            case Member(key, goal):
                return self._member(key, goal)
            case Has(key):
                return self._has(key)
            case Lacks(key):
                has = self._has(key)
                return None if has is None else not has
            case Every(region, goal):
                if goal == ANYTHING or self.every.get(region) == goal:
                    return True
                failing = any(key in region and self._member(key, goal) is False for key in self.required)
                return False if failing else None
            case Some(region, goal):
                return self._some(region, goal)
            case Count(least, most):
                if least > (self.most if self.most is not None else least) or (most is not None and most < self.least):
                    return False
                at_least = max(self.least, len(self.required))
                met = least <= at_least and (most is None or (self.most is not None and self.most <= most))
                return True if met else None
            case Unknown(residue):
                return True if residue in self.residue else None
        return None

    def _has(self, key: str) -> bool | None:
        if key in self.required:
            return True
        if key in self.forbidden or self.goal(key) == NOTHING:
            return False
        return None

    def _member(self, key: str, goal: GoalId) -> bool | None:
        if goal == ANYTHING or key in self.forbidden:
            return True
        own = self.goal(key)
        if own == NOTHING or self.algebra.contains(goal, own):
            return True
        if key in self.required and self.algebra.plainly_disjoint(own, goal):
            return False
        return None

    def _some(self, region: Region, goal: GoalId) -> bool | None:
        if goal == NOTHING:
            return False
        for key in self.required:
            if key in region and self.algebra.contains(goal, self.goal(key)):
                return True
        candidates = self._only_names(region)
        if candidates is not None and all(self.algebra.disjoint(self.goal(key), goal) for key in candidates):
            return False
        return None

    def _only_names(self, region: Region) -> list[str] | None:
        """The names in ``region`` that can be present at all, where they are finitely many; else None."""
        for closing, goal in self.every.items():
            if goal != NOTHING or closing.within is not None:
                continue
            if all(language in region.without for language in closing.without):
                return [key for key in sorted(closing.names) if key in region and self.goal(key) != NOTHING]
        return None

    # assumptions

    def assume(self, literal: Literal) -> Formula:
        goals = self.algebra.goals
        match literal:
            case Member(key, goal):
                known = self.members.get(key)
                self.members[key] = goal if known is None else goals.conjunction((known, goal))
                self._goals.pop(key, None)
                return self._still(key)
            case Has(key):
                self.required[key] = None
                return self._still(key)
            case Lacks(key):
                self.forbidden[key] = None
                self._goals.pop(key, None)
                return key not in self.required
            case Every(region, goal):
                if goal == ANYTHING:
                    return True
                self.every[region] = goals.conjunction((self.every.get(region, ANYTHING), goal))
                self._goals.clear()
                return conjunction(self._still(key) for key in list(self.required) if key in region)
            case Some(region, goal):
                if goal == NOTHING:
                    return False
                candidates = self._only_names(region)
                if candidates is not None:
                    return disjunction(conjunction((Has(key), Member(key, goal))) for key in candidates)
                self.some[literal] = None
            case Count(least, most):
                self.least = max(self.least, least)
                if most is not None:
                    self.most = most if self.most is None else min(self.most, most)
                return self.most is None or self.least <= self.most
            case Unknown(residue):
                self.residue[residue] = None
        return True

    def _still(self, key: str) -> Formula:
        """After its goal grew: a required member must be possible, an impossible one is absent."""
        if key in self.required:
            return not self.algebra.is_empty(self.goal(key))
        return True

    def absorb(self, choices: Sequence[Or]) -> Sequence[Or]:
        if not self.tables or self.least or self.most is not None or self.some:
            return choices
        taken, left = conditions_of(self, choices)
        if not left:
            # Cases that are told apart later may decide members of a table, so the tables come last.
            self.conditions = taken
        return left

    def possible(self) -> bool:
        """False where no object is in the state, as far as a quick look tells."""
        if not all(table.accepted for table in self.conditions):
            return False
        return (self.most is None or len(self.required) <= self.most) and not any(
            self.algebra.is_empty(self.goal(key)) for key in self.required
        )

    # shapes

    def shapes(self) -> Iterator[ObjectShape]:
        """The state as shapes: one, or several where a witness can be a named member."""
        names = self._names()
        for some in self.some:
            candidates = [key for key in names if key in some.region and self.goal(key) != NOTHING]
            if candidates:
                yield from self._with_named_witness(some, candidates)
                return
        shape = self._shape(names)
        if shape is not None:
            yield shape

    def _with_named_witness(self, some: Some, candidates: Sequence[str]) -> Iterator[ObjectShape]:
        rest = self.copy()
        del rest.some[some]
        for key in candidates:
            state = rest.copy()
            if state.assume(Has(key)) is not False and state.assume(Member(key, some.goal)) is not False:
                yield from state.shapes()
        excluded = frozenset(some.region.names | frozenset(candidates))
        rest.some[Some(Region(some.region.within, excluded, some.region.without), some.goal)] = None
        yield from rest.shapes()

    def _names(self) -> list[str]:
        names = dict.fromkeys((*self.members, *self.required, *self.forbidden))
        for region in (*self.every, *(some.region for some in self.some)):
            if not region.names <= names.keys():
                names.update(dict.fromkeys(sorted(region.names)))
        for table in self.conditions:
            names.update(dict.fromkeys(table.keys))
        return list(names)

    def _shape(self, names: Sequence[str]) -> ObjectShape | None:
        if not self.possible():
            return None
        slots = []
        for key in names:
            goal = self.goal(key)
            if not self.algebra.is_empty(goal):
                slots.append(Slot(key, goal, key in self.required))
        free = tuple(others(self, names))
        least = max(self.least, len(self.required))
        if self.most is not None and self.most < least:
            return None
        if not free and least > len(slots):
            return None
        some = tuple(self.some)
        if any(not any(mask >> i & 1 for other in free for mask, _ in other.witness) for i in range(len(some))):
            return None
        most = None if self.most is None or (not free and self.most >= len(slots)) else self.most
        return ObjectShape(
            tuple(slots),
            free,
            len(some),
            0 if least <= len(self.required) else least,
            most,
            self.conditions,
            residue=frozenset(self.residue),
        )
