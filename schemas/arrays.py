"""Arrays: the literals of a formula that hold together, and the shapes that they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from schemas.compiled import Residue
from schemas.formula import At, Count, Formula, From, Literal, Matching, Or, Unique, Unknown
from schemas.goals import ANYTHING, NOTHING, GoalId
from schemas.shapes import ArrayShape, Contains

if TYPE_CHECKING:
    from schemas.algebra import Algebra


class ArrayState:
    """A conjunction of array literals. Implements :class:`schemas.solving.State`."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.at: dict[int, GoalId] = {}
        self.onwards: dict[int, GoalId] = {}
        self.matching: dict[tuple[int, GoalId], tuple[int, int | None]] = {}
        self.least = 0
        self.most: int | None = None
        self.unique: Residue | None = None
        self.repeated = False
        self.residue: dict[Residue, None] = {}

    def copy(self) -> ArrayState:
        other = ArrayState(self.algebra)
        other.at, other.onwards, other.matching = dict(self.at), dict(self.onwards), dict(self.matching)
        other.least, other.most = self.least, self.most
        other.unique, other.repeated, other.residue = self.unique, self.repeated, dict(self.residue)
        return other

    def goal(self, index: int) -> GoalId:
        """What the item ``index`` must satisfy where there is one."""
        parts = [self.at.get(index, ANYTHING)]
        parts.extend(goal for start, goal in self.onwards.items() if start <= index)
        return self.algebra.goals.conjunction(parts)

    def _fixed(self) -> int:
        """From this index on all items are alike."""
        return max([0, *(index + 1 for index in self.at), *self.onwards, *(index for index, _ in self.matching)])

    def verdict(self, literal: Literal) -> bool | None:
        algebra = self.algebra
        match literal:
            case At(index, goal):
                if self.most is not None and self.most <= index:
                    return True
                own = self.goal(index)
                if own == NOTHING or algebra.contains(goal, own):
                    return True
                return False if index < self.least and algebra.disjoint(own, goal) else None
            case From(index, goal):
                if goal == ANYTHING or (self.most is not None and self.most <= index):
                    return True
                if index < self.least and algebra.disjoint(self.goal(index), goal):
                    return False
                alike = range(index, max(index, self._fixed()) + 1)
                return True if len(alike) <= 8 and all(algebra.contains(goal, self.goal(i)) for i in alike) else None
            case Matching(index, goal, least, most):
                return self._matching(index, goal, least, most)
            case Count(least, most):
                if (self.most is not None and least > self.most) or (most is not None and most < self.least):
                    return False
                met = least <= self.least and (most is None or (self.most is not None and self.most <= most))
                return True if met else None
            case Unique(holds, _):
                if holds and self.most is not None and self.most <= 1:
                    return True
                return False if not holds and (self.unique or (self.most is not None and self.most <= 1)) else None
            case Unknown(residue):
                return True if residue in self.residue else None
        return None

    def _matching(self, index: int, goal: GoalId, least: int, most: int | None) -> bool | None:
        room = None if self.most is None else max(0, self.most - index)
        if room is not None and room < least:
            return False
        if least == 0 and (most is None or (room is not None and room <= most)):
            return True
        known = self.matching.get((index, goal))
        if known is not None:
            if known[0] >= least and (most is None or (known[1] is not None and known[1] <= most)):
                return True
            if (most is not None and known[0] > most) or (known[1] is not None and known[1] < least):
                return False
        if least and index >= self._fixed() and self.algebra.disjoint(self.goal(index), goal):
            return False
        return None

    def assume(self, literal: Literal) -> Formula:
        goals = self.algebra.goals
        match literal:
            case At(index, goal):
                self.at[index] = goals.conjunction((self.at.get(index, ANYTHING), goal))
                return self._checked(index)
            case From(index, goal):
                self.onwards[index] = goals.conjunction((self.onwards.get(index, ANYTHING), goal))
                return self._checked(index)
            case Matching(index, goal, least, most):
                old_least, old_most = self.matching.get((index, goal), (0, None))
                if old_most is not None:
                    most = old_most if most is None else min(most, old_most)
                least = max(least, old_least)
                self.matching[index, goal] = (least, most)
                if most is not None and least > most:
                    return False
                return Count(index + least, None) if least else True
            case Count(least, most):
                self.least = max(self.least, least)
                if most is not None:
                    self.most = most if self.most is None else min(self.most, most)
                return self.most is None or self.least <= self.most
            case Unique(holds, residue):
                if holds:
                    self.unique = residue
                    return not self.repeated
                else:
                    self.repeated = True
                    self.residue[Residue(residue.path, "uniqueItems", "that two items are equal cannot be held")] = None
                    return False if self.unique else Count(2, None)
            case Unknown(residue):
                self.residue[residue] = None
        return True

    def _checked(self, index: int) -> Formula:
        if index < self.least:
            return not self.algebra.is_empty(self.goal(index))
        return Count(0, index) if self.algebra.is_empty(self.goal(index)) else True

    def absorb(self, choices: Sequence[Or]) -> Sequence[Or]:
        return choices

    def possible(self) -> bool:
        """False where no array is in the state, as far as a quick look tells."""
        fixed = self._fixed()
        return not any(self.algebra.is_empty(self.goal(index)) for index in range(min(self.least, fixed + 1)))

    def shapes(self) -> Iterator[ArrayShape]:
        """The state as a shape; none when a quick look shows that it is empty."""
        if not self.possible():
            return
        fixed = self._fixed()
        if self.most is not None:
            fixed = min(fixed, self.most)
        prefix = [self.goal(index) for index in range(fixed)]
        rest, most = self.goal(self._fixed()), self.most
        for index, goal in enumerate(prefix):
            if self.algebra.is_empty(goal):
                prefix, most = prefix[:index], index
                break
        else:
            if self.algebra.is_empty(rest):
                most = fixed if most is None else min(most, fixed)
        if most is not None and most < self.least:
            return
        if most is not None and most <= len(prefix):
            rest = NOTHING
        while prefix and prefix[-1] == rest and not any(index >= len(prefix) for index, _ in self.matching):
            prefix.pop()
        contains = tuple(
            Contains(index, goal, low, high)
            for (index, goal), (low, high) in self.matching.items()
            if low or high is not None
        )
        unique = self.unique if most is None or most > 1 else None
        yield ArrayShape(tuple(prefix), rest, self.least, most, contains, unique, frozenset(self.residue))
