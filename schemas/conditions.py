"""Choices between members as a table of allowed combinations, so that one rule of the grammar can hold them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from schemas.formula import And, Formula, Has, Lacks, Member, Or
from schemas.goals import GoalId
from schemas.shapes import Conditions

if TYPE_CHECKING:
    from schemas.objects import ObjectState

MAX_ASSIGNMENTS = 2048
MAX_CLASSES = 24


def conditions_of(state: ObjectState, choices: Sequence[Or]) -> tuple[tuple[Conditions, ...], list[Or]]:
    """Conditions for as many of ``choices`` as can be tabulated, and the choices that are left.

    Choices over the presence of members and over scalar values of members can be; what depends on the inside of arrays
    and objects would need their complements, and is better told apart by cases. Choices that share no member, with
    each other or with a choice that is left, get tables of their own.
    """
    groups = [(group, _wanted(state, group)) for group in _connected(choices)]
    hard = [choice for group, wanted in groups if wanted is None for choice in group]
    if hard:
        return (), hard
    taken: list[Conditions] = []
    for group, wanted in groups:
        table = _table(state, group, wanted or {})
        if table is None:
            hard.extend(group)
        else:
            taken.append(table)
    return tuple(taken), hard


def _connected(choices: Sequence[Or]) -> list[list[Or]]:
    """Groups of choices that have members in common, directly or through others."""
    groups: list[tuple[set[str], list[Or]]] = []
    for choice in choices:
        keys = set(choice.members)
        together = [choice]
        apart: list[tuple[set[str], list[Or]]] = []
        for other_keys, other in groups:
            # A literal over many names at once ("") may speak of any member.
            if keys & other_keys or "" in keys or "" in other_keys:
                keys |= other_keys
                together = other + together
            else:
                apart.append((other_keys, other))
        groups = [*apart, (keys, together)]
    return [group for _, group in groups]


def _wanted(state: ObjectState, choices: Sequence[Or]) -> dict[str, dict[GoalId, None]] | None:
    """The members that the choices look at, each with the goals that tell its values apart; None for hard choices."""
    wanted: dict[str, dict[GoalId, None]] = {}
    for choice in choices:
        for literal in choice.literals:
            if isinstance(literal, Has | Lacks):
                wanted.setdefault(literal.key, {})
            elif isinstance(literal, Member) and state.algebra.reader.is_scalar(literal.goal):
                wanted.setdefault(literal.key, {})[literal.goal] = None
            else:
                return None
    return wanted


def _table(state: ObjectState, choices: Sequence[Or], wanted: dict[str, dict[GoalId, None]]) -> Conditions | None:
    classes: dict[str, list[tuple[GoalId, frozenset[GoalId]]]] = {}
    for key, goals in wanted.items():
        split = _split(state, key, list(goals))
        if split is None:
            return None
        classes[key] = split
    keys = list(classes)
    ranges = [range(1 if key in state.required else 0, len(classes[key]) + 1) for key in keys]
    if prod(map(len, ranges)) > MAX_ASSIGNMENTS:
        return None
    truths = [[frozenset[GoalId](), *(inside for _, inside in classes[key])] for key in keys]
    assignments = list(product(*ranges))
    state.algebra.goals.spend(len(choices) + len(assignments) // 8)
    held = _Held(keys, ranges, truths)
    allowed = held.every
    for choice in choices:
        allowed &= held.where(choice)
    accepted = {assignment for index, assignment in enumerate(assignments) if allowed >> index & 1}
    goals_of = [[goal for goal, _ in classes[key]] for key in keys]
    return _merged(state, keys, goals_of, accepted)


class _Held:
    """In which assignments a formula holds, all at once: bit ``n`` is the assignment number ``n`` of the product."""

    def __init__(
        self, keys: Sequence[str], ranges: Sequence[range], truths: Sequence[Sequence[frozenset[GoalId]]]
    ) -> None:
        self._position = {key: i for i, key in enumerate(keys)}
        self._ranges = ranges
        self._truths = truths
        self._total = prod(map(len, ranges))
        self._literals: dict[Formula, int] = {}
        self.every = (1 << self._total) - 1

    def where(self, formula: Formula) -> int:
        if isinstance(formula, And):
            result = self.every
            for part in formula.parts:
                result &= self.where(part)
            return result
        if isinstance(formula, Or):
            result = 0
            for part in formula.parts:
                result |= self.where(part)
            return result
        known = self._literals.get(formula)
        if known is None:
            known = self._literals[formula] = self._literal(formula)
        return known

    def _literal(self, literal: Formula) -> int:
        match literal:
            case Has(key):
                return self._of(key, lambda value: value > 0)
            case Lacks(key):
                return self._of(key, lambda value: value == 0)
            case Member(key, goal):
                truths = self._truths[self._position[key]]
                return self._of(key, lambda value: value == 0 or goal in truths[value])
        return self.every if literal is True else 0

    def _of(self, key: str, holds: Callable[[int], bool]) -> int:
        """Where the class of ``key`` is one for which ``holds``."""
        at = self._position[key]
        step = prod(map(len, self._ranges[at + 1 :]))
        period = step * len(self._ranges[at])
        pattern = 0
        for place, value in enumerate(self._ranges[at]):
            if holds(value):
                pattern |= ((1 << step) - 1) << place * step
        return pattern * (self.every // ((1 << period) - 1))


def _split(state: ObjectState, key: str, goals: Sequence[GoalId]) -> list[tuple[GoalId, frozenset[GoalId]]] | None:
    """The member's values, told apart by ``goals``: disjoint classes, each with the goals that hold in it."""
    algebra = state.algebra
    classes: list[tuple[GoalId, frozenset[GoalId]]] = [(state.goal(key), frozenset())]
    for goal in goals:
        split: list[tuple[GoalId, frozenset[GoalId]]] = []
        for values, inside in classes:
            hit = algebra.goals.conjunction((values, goal))
            miss = algebra.goals.conjunction((values, algebra.goals.negate(goal)))
            split.extend(
                (part, held) for part, held in ((hit, inside | {goal}), (miss, inside)) if not algebra.is_empty(part)
            )
        classes = split
        if len(classes) > MAX_CLASSES:
            return None
    return classes


def _merged(
    state: ObjectState, keys: Sequence[str], classes: Sequence[Sequence[GoalId]], accepted: set[tuple[int, ...]]
) -> Conditions:
    """Classes of a member that are allowed in the same company become one; classes never allowed go."""
    goals = state.algebra.goals
    merged_classes: list[tuple[GoalId, ...]] = []
    for i in range(len(keys)):
        company: dict[int, set[tuple[int, ...]]] = {}
        for assignment in accepted:
            company.setdefault(assignment[i], set()).add(assignment[:i] + assignment[i + 1 :])
        groups: dict[frozenset[tuple[int, ...]], list[int]] = {}
        for value in sorted(company):
            if value:
                groups.setdefault(frozenset(company[value]), []).append(value)
        renamed = {value: number for number, values in enumerate(groups.values(), 1) for value in values}
        renamed[0] = 0
        accepted = {(*a[:i], renamed[a[i]], *a[i + 1 :]) for a in accepted}
        merged_classes.append(
            tuple(goals.disjunction(classes[i][value - 1] for value in values) for values in groups.values())
        )
    return Conditions(tuple(keys), tuple(merged_classes), frozenset(accepted))
