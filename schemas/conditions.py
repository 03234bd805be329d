"""Choices between members as a table of allowed combinations, so that one rule of the grammar can hold them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING

from schemas.assignments import Space, kept
from schemas.formula import And, Formula, Has, Lacks, Member, Or
from schemas.goals import GoalId
from schemas.shapes import Conditions

if TYPE_CHECKING:
    from schemas.objects import ObjectState

MAX_ASSIGNMENTS = 2048
MAX_CLASSES = 24
MAX_STATES = 1 << 20
"""Assignments of a table, those included in which a required member is not there yet."""


def conditions_of(state: ObjectState, choices: Sequence[Or]) -> tuple[tuple[Conditions, ...], list[Or]]:
    """Conditions for as many of ``choices`` as can be tabulated, and the choices that are left.

    Choices over the presence of members and over scalar values of members can be; what depends on the inside of arrays
    and objects would need their complements, and is better told apart by cases. Choices that share no member, with
    each other or with a choice that is left, get tables of their own.
    """
    groups = [(group, _known_wanted(state, group)) for group in map(tuple, _connected(choices))]
    hard = [choice for group, wanted in groups if wanted is None for choice in group]
    if hard:
        return (), hard
    taken: list[Conditions] = []
    for group, wanted in groups:
        table = _known_table(state, group, wanted or {})
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


def _known_wanted(state: ObjectState, choices: tuple[Or, ...]) -> dict[str, dict[GoalId, None]] | None:
    known = state.algebra.wanted
    if choices not in known:
        known[choices] = _wanted(state, choices)
    return known[choices]


def _known_table(state: ObjectState, choices: Sequence[Or], wanted: dict[str, dict[GoalId, None]]) -> Conditions | None:
    """The table, which is the same in all states that say the same of its members."""
    known = state.algebra.tables
    key = (*choices, *[(name, state.goal(name), name in state.required) for name in wanted])
    if key not in known:
        known[key] = _table(state, choices, wanted)
    return known[key]


def _table(state: ObjectState, choices: Sequence[Or], wanted: dict[str, dict[GoalId, None]]) -> Conditions | None:
    classes: dict[str, list[tuple[GoalId, frozenset[GoalId]]]] = {}
    for key, goals in wanted.items():
        split = _split(state, key, list(goals))
        if split is None:
            return None
        classes[key] = split
    keys = list(classes)
    # A digit per class; before them, unless the member is required, one for its absence.
    absent = [0 if key in state.required else 1 for key in keys]
    sizes = [more + len(classes[key]) for key, more in zip(keys, absent, strict=True)]
    total = prod(sizes)
    if total > MAX_ASSIGNMENTS:
        return None
    space = Space(sizes)
    state.algebra.goals.spend(len(choices) + total // 8)
    truths = [[None] * more + [held for _, held in classes[key]] for key, more in zip(keys, absent, strict=True)]
    held = _Held(space, keys, truths)
    accepted = space.every
    for choice in choices:
        accepted &= held.where(choice)
    return _merged(state, keys, [[goal for goal, _ in classes[key]] for key in keys], absent, space, accepted)


class _Held:
    """In which assignments a formula holds. ``truths``: per place and digit the goals that hold, None for no member."""

    def __init__(self, space: Space, keys: Sequence[str], truths: Sequence[Sequence[frozenset[GoalId] | None]]) -> None:
        self._space = space
        self._position = {key: i for i, key in enumerate(keys)}
        self._truths = truths
        self._literals: dict[Formula, int] = {}

    def where(self, formula: Formula) -> int:
        if isinstance(formula, And):
            result = self._space.every
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
                return self._of(key, lambda goals: goals is not None)
            case Lacks(key):
                return self._of(key, lambda goals: goals is None)
            case Member(key, goal):
                return self._of(key, lambda goals: goals is None or goal in goals)
        return self._space.every if literal is True else 0

    def _of(self, key: str, holds: Callable[[frozenset[GoalId] | None], bool]) -> int:
        at = self._position[key]
        return self._space.where(at, [digit for digit, goals in enumerate(self._truths[at]) if holds(goals)])


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
    state: ObjectState,
    keys: Sequence[str],
    classes: Sequence[Sequence[GoalId]],
    absent: Sequence[int],
    space: Space,
    accepted: int,
) -> Conditions | None:
    """Classes of a member that are allowed in the same company become one; classes never allowed go."""
    merged: list[tuple[GoalId, ...]] = []
    digits: list[list[int | None]] = []
    for at, (goals, first) in enumerate(zip(classes, absent, strict=True)):
        company: dict[int, list[int]] = {}
        for number in range(len(goals)):
            company.setdefault(space.moved(accepted, at, first + number), []).append(number)
        company.pop(0, None)
        merged.append(
            tuple(state.algebra.goals.disjunction(goals[number] for number in alike) for alike in company.values())
        )
        digits.append([0 if first else None, *(first + alike[0] for alike in company.values())])
    if prod(map(len, digits)) > MAX_STATES:
        return None
    return Conditions(tuple(keys), tuple(merged), kept(space, accepted, digits))
