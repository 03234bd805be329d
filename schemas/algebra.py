"""The algebra of one compilation: goals to shapes, and cheap, sure answers to "is it empty", "is it contained"."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar
from weakref import proxy

from schemas.arrays import ArrayState
from schemas.compiled import Residue
from schemas.errors import TooComplex
from schemas.formula import And, Formula, Has, Member, Or, Unknown, conjunction
from schemas.goals import ANYTHING, NOTHING, GoalId, Goals
from schemas.numbers import NumberSet
from schemas.objects import ObjectState
from schemas.plain import plain_arrays, plain_objects
from schemas.reading import Kind, Reader
from schemas.scalars import Scalars
from schemas.shapes import ArrayShape, Conditions, NameClass, ObjectShape
from schemas.solving import TooManyCases, cases
from schemas.stringset import StringSet
from schemas.unions import bearable, declared_once

MAX_CASES = 1500
"""Cases per goal and kind, found and failed together; beyond, choices are dropped and become residue."""
_PROBE_CASES = 24
"""Cases that a quick look for a satisfying one tries."""
_PROBE_DEPTH = 4
_State = TypeVar("_State", ArrayState, ObjectState)


class Algebra:
    """Shared by all steps. Every answer is computed once; answers do not depend on the order of questions' timing."""

    def __init__(self, goals: Goals) -> None:
        self.goals = goals
        # Weakly: so all of a compilation goes as soon as it is over, and nothing is left to the garbage collector.
        itself = proxy(self)
        self.reader = Reader(goals, lambda kind, left, right: itself._clash(kind, left, right))
        self._empty: dict[GoalId, bool] = {NOTHING: True, ANYTHING: False}
        self._contained: dict[tuple[GoalId, GoalId], bool] = {}
        self._pairs: dict[tuple[GoalId, GoalId], GoalId] = {}
        self._asking: set[GoalId] = set()
        self._depth = 0
        self._arrays: dict[GoalId, tuple[ArrayShape, ...]] = {}
        self._objects: dict[GoalId, tuple[ObjectShape, ...]] = {}
        self._known_words: dict[Formula, dict[str, tuple[bool, frozenset[str]]]] = {}
        self._clashes: dict[tuple[Formula, Formula], bool] = {}
        self.wanted: dict[tuple[Or, ...], dict[str, dict[GoalId, None]] | None] = {}
        self.tables: dict[tuple[Hashable, ...], Conditions | None] = {}
        """What `schemas.conditions` has found and made, None where it is too hard or too large."""
        self.name_classes: dict[tuple[StringSet, ...], list[NameClass] | None] = {}
        """What `schemas.others` has made of patterns of names, None where they overlap in too many ways."""

    # quick answers: True is sure, False may mean "not seen"

    def is_empty(self, goal: GoalId) -> bool:
        """Whether no value satisfies ``goal``; False also where that is not quick to see."""
        known = self._empty.get(goal)
        if known is not None:
            return known
        if self.goals[goal].kind == "atom":
            self._empty[goal] = False
            return False
        if goal in self._asking or self._depth >= _PROBE_DEPTH or self.reader.is_busy:
            return False
        self._asking.add(goal)
        self._depth += 1
        try:
            empty = (
                self._no_scalar(goal)
                and not self._satisfiable(self.reader.formula(goal, "array"), "array")
                and not self._satisfiable(self.reader.formula(goal, "object"), "object")
            )
        finally:
            self._depth -= 1
            self._asking.discard(goal)
        self._empty[goal] = empty
        return empty

    def _no_scalar(self, goal: GoalId) -> bool:
        """Whether no null, boolean, number or string satisfies ``goal``. For a conjunction, most often asked, one kind
        of value after the other, the cheap ones first."""
        entry = self.goals[goal]
        if entry.kind != "and":
            return scalars_empty(self.reader.scalars(goal))
        parts = [self.reader.scalars(part) for part in entry.parts]
        null = true = false = True
        for part in parts:
            null, true, false = null and part.null, true and part.true, false and part.false
        if null or true or false:
            return False
        strings, numbers, pointed = StringSet.ALL, NumberSet.ALL, NumberSet.ALL
        for part in parts:
            strings = strings & part.strings.upper
        if not strings_empty(strings):
            return False
        for part in parts:
            numbers, pointed = numbers & part.numbers.upper, pointed & part.with_point.upper
        return numbers_empty(numbers) and numbers_empty(pointed)

    def disjoint(self, left: GoalId, right: GoalId) -> bool:
        return self.is_empty(self._both(left, right))

    def _both(self, left: GoalId, right: GoalId) -> GoalId:
        known = self._pairs.get((left, right))
        if known is None:
            known = self._pairs[left, right] = self.goals.conjunction((left, right))
        return known

    def plainly_disjoint(self, left: GoalId, right: GoalId) -> bool:
        """As :meth:`disjoint`, but without a look into arrays and objects: for questions that are asked very often."""
        return (self.reader.is_scalar(left) or self.reader.is_scalar(right)) and self.disjoint(left, right)

    def contains(self, outer: GoalId, inner: GoalId) -> bool:
        """Whether every value of ``inner`` is one of ``outer``."""
        if outer in (inner, ANYTHING) or inner == NOTHING:
            return True
        if outer == NOTHING or inner == ANYTHING:
            return False
        known = self._contained.get((outer, inner))
        if known is not None:
            return known
        entry = self.goals[inner]
        if entry.kind == "and" and outer in entry.parts:
            return True
        if not (self.reader.is_scalar(outer) or self.reader.is_scalar(inner)):
            return False
        rest = self._both(inner, self.goals.negate(outer))
        answer = self.is_empty(rest)
        if rest in self._empty:  # else it was not the time to look closely
            self._contained[outer, inner] = answer
        return answer

    def _satisfiable(self, formula: Formula, kind: Kind) -> bool:
        if isinstance(formula, bool):
            return formula
        try:
            start = ArrayState(self) if kind == "array" else ObjectState(self, tables=False)
            return any(state.possible() for state in cases(formula, start, self.goals, _PROBE_CASES))
        except TooManyCases:
            return True

    def _clash(self, kind: Kind, left: Formula, right: Formula) -> bool:
        key = (left, right)
        known = self._clashes.get(key)
        if known is None:
            known = self._told_apart(left, right) or not self._satisfiable(conjunction((left, right)), kind)
            self._clashes[key] = self._clashes[right, left] = known
        return known

    def _told_apart(self, left: Formula, right: Formula) -> bool:
        """Whether a member that one of them requires has different enumerated values in the two."""
        mine, theirs = self._words(left), self._words(right)
        if len(theirs) < len(mine):
            mine, theirs = theirs, mine
        for key, (required, words) in mine.items():
            other = theirs.get(key)
            if other is not None and (required or other[0]) and words.isdisjoint(other[1]):
                return True
        return False

    def _words(self, formula: Formula) -> dict[str, tuple[bool, frozenset[str]]]:
        """Members whose value is one of some strings: whether they are required, and the strings."""
        known = self._known_words.get(formula)
        if known is None:
            parts = formula.parts if isinstance(formula, And) else (formula,)
            required = {part.key for part in parts if isinstance(part, Has)}
            known = {}
            for part in parts:
                words = self._enumerated(part.goal) if isinstance(part, Member) else None
                if words is not None and isinstance(part, Member):
                    known[part.key] = (part.key in required, words)
            self._known_words[formula] = known
        return known

    def _enumerated(self, goal: GoalId) -> frozenset[str] | None:
        """The strings of a goal whose node lists nothing but strings."""
        entry = self.goals[goal]
        if entry.kind != "atom":
            return None
        node = self.goals.nodes[entry.node]
        values = node.const if node.const is not None else node.enum
        if values is None or not all(isinstance(value, str) for value in values):
            return None
        return frozenset(values)

    # shapes

    def arrays(self, goal: GoalId) -> tuple[ArrayShape, ...]:
        known = self._arrays.get(goal)
        if known is None:
            known = plain_arrays(self, self.reader.formula(goal, "array"))
            if known is None:
                states = self._states(goal, "array", ArrayState)
                known = tuple(dict.fromkeys(shape for state in states for shape in state.shapes()))
            self._arrays[goal] = known
        return known

    def objects(self, goal: GoalId) -> tuple[ObjectShape, ...]:
        known = self._objects.get(goal)
        if known is None:
            known = plain_objects(self, self.reader.formula(goal, "object"))
            if known is None:
                states = self._states(goal, "object", ObjectState)
                found = tuple(dict.fromkeys(shape for state in states for shape in state.shapes()))
                known = bearable(declared_once(found), self.goals, self.goals.path(goal))
            self._objects[goal] = known
        return known

    def _states(self, goal: GoalId, kind: Kind, start: type[_State]) -> list[_State]:
        formula = self.reader.formula(goal, kind)
        if formula is False:
            return []
        try:
            return list(cases(formula, start(self), self.goals, MAX_CASES))
        except TooManyCases:
            return list(cases(self._widened(formula, goal), start(self), self.goals, MAX_CASES))

    def _widened(self, formula: Formula, goal: GoalId) -> Formula:
        """Only what holds in every case; the rest is residue."""
        residue = Residue(self.goals.path(goal), "", "too many combinations of alternatives")
        parts = getattr(formula, "parts", (formula,)) if not isinstance(formula, Or) else ()
        certain = [part for part in parts if not isinstance(part, Or)]
        return conjunction([*certain, Unknown(residue)])


def strings_empty(strings: StringSet) -> bool:
    """Whether no string is in it; False where that is too costly to decide."""
    try:
        return strings.is_empty()
    except TooComplex:
        return False


def numbers_empty(numbers: NumberSet) -> bool:
    """As :func:`strings_empty`, for numbers."""
    try:
        return numbers.is_empty()
    except TooComplex:
        return False


def scalars_empty(scalars: Scalars) -> bool:
    """As :func:`strings_empty`, for scalars."""
    if scalars.null or scalars.false or scalars.true or not strings_empty(scalars.strings.upper):
        return False
    return numbers_empty(scalars.numbers.upper) and numbers_empty(scalars.with_point.upper)


__all__ = ["MAX_CASES", "Algebra", "scalars_empty", "strings_empty"]
