"""Arrays that count matching items, as a finite machine whose steps are items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from schemas.goals import NOTHING, GoalId, Goals
from schemas.shapes import ArrayShape, Contains

State: TypeAlias = tuple[int, tuple[int, ...]]
"""How many items there were (no more than tell anything) and, per ``contains``, how many of them matched."""

MAX_STATES = 1200


@dataclass(frozen=True, slots=True)
class Machine:
    """``steps[s]`` are (goal of the item, next state); state 0 is the empty array."""

    steps: tuple[tuple[tuple[GoalId, int], ...], ...]
    final: tuple[bool, ...]


def machine(shape: ArrayShape, goals: Goals) -> Machine | None:
    """``None`` where it would have more than :data:`MAX_STATES` states."""
    start: State = (0, (0,) * len(shape.contains))
    numbers = {start: 0}
    order = [start]
    steps: list[tuple[tuple[GoalId, int], ...]] = []
    for state in order:  # grows while it is walked
        found: dict[tuple[GoalId, int], None] = {}
        for goal, target in _steps(shape, state, goals):
            if goal == NOTHING:
                continue
            if target not in numbers:
                if len(order) >= MAX_STATES:
                    return None
                numbers[target] = len(order)
                order.append(target)
            found[goal, numbers[target]] = None
        steps.append(tuple(found))
        goals.spend(4 + len(found))
    return Machine(tuple(steps), tuple(_is_final(shape, state) for state in order))


def _is_final(shape: ArrayShape, state: State) -> bool:
    count, matched = state
    return count >= shape.least and all(
        number >= part.least for number, part in zip(matched, shape.contains, strict=True)
    )


def _steps(shape: ArrayShape, state: State, goals: Goals) -> Iterator[tuple[GoalId, State]]:
    count, matched = state
    if shape.most is not None and count >= shape.most:
        return
    base = shape.prefix[count] if count < len(shape.prefix) else shape.rest
    told_apart = max([1, len(shape.prefix), shape.least, *(part.index for part in shape.contains)])
    following = count + 1 if shape.most is not None else min(count + 1, told_apart)
    options = [list(_options(part, number, count)) for part, number in zip(shape.contains, matched, strict=True)]
    for choice in product(*options):
        goal = goals.conjunction((base, *(extra for extra, _ in choice)))
        yield goal, (following, tuple(number for _, number in choice))


def _options(part: Contains, number: int, count: int) -> Iterator[tuple[GoalId, int]]:
    """The item matches (the goal, one more) or is not counted (its complement only where an upper bound looks)."""
    anything = 1
    if count < part.index:
        yield anything, number
    elif part.most is None:
        yield anything, number
        if number < part.least:
            yield part.goal, number + 1
    else:
        yield part.miss, number
        if number < part.most:
            yield part.goal, number + 1
