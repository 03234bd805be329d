"""Arrays that count matching items, as a finite machine whose steps are items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from schemas.algebra import Algebra
from schemas.goals import GoalId
from schemas.shapes import ArrayShape, Contains

State: TypeAlias = tuple[int, tuple[int, ...]]
"""How many items there were (no more than tell anything) and, per ``contains``, how many of them matched."""

MAX_STEPS = 4000
"""Steps of one machine, each an alternative in the grammar."""
MAX_CLASSES = 48


@dataclass(frozen=True, slots=True)
class Machine:
    """``steps[s]`` are (goal of the item, next state); state 0 is the empty array."""

    steps: tuple[tuple[tuple[GoalId, int], ...], ...]
    final: tuple[bool, ...]


def machine(shape: ArrayShape, algebra: Algebra) -> Machine | None:
    """``None`` where it would be over :data:`MAX_STEPS` or :data:`MAX_CLASSES`."""
    classes: dict[GoalId, list[tuple[GoalId, int]]] = {}
    for base in dict.fromkeys((*shape.prefix, shape.rest)):
        split = _split(base, shape.contains, algebra)
        if split is None:
            return None
        classes[base] = split
    start: State = (0, (0,) * len(shape.contains))
    numbers = {start: 0}
    order = [start]
    steps: list[tuple[tuple[GoalId, int], ...]] = []
    total = 0
    for state in order:  # grows while it is walked
        found: dict[tuple[GoalId, int], None] = {}
        for goal, target in _steps(shape, state, classes):
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
            found[goal, numbers[target]] = None
        steps.append(tuple(found))
        total += len(found)
        algebra.goals.spend(4 + len(found))
        if total > MAX_STEPS:
            return None
    return Machine(tuple(steps), tuple(_is_final(shape, state) for state in order))


def _split(base: GoalId, contains: tuple[Contains, ...], algebra: Algebra) -> list[tuple[GoalId, int]] | None:
    """Classes of items and which ``contains`` they match, as bits.

    What an item does not match needs a complement only where an upper bound looks; where complements are cheap they
    keep the classes apart, and few.
    """
    classes = [(base, 0)]
    for bit, part in enumerate(contains):
        apart = part.most is not None or algebra.reader.is_scalar(part.goal)
        split: list[tuple[GoalId, int]] = []
        for goal, mask in classes:
            hit = algebra.goals.conjunction((goal, part.goal))
            miss = algebra.goals.conjunction((goal, algebra.goals.negate(part.goal))) if apart else goal
            split.extend((g, m) for g, m in ((hit, mask | 1 << bit), (miss, mask)) if not algebra.is_empty(g))
        classes = split
        if len(classes) > MAX_CLASSES:
            return None
    return classes


def _is_final(shape: ArrayShape, state: State) -> bool:
    count, matched = state
    return count >= shape.least and all(
        number >= part.least for number, part in zip(matched, shape.contains, strict=True)
    )


def _steps(
    shape: ArrayShape, state: State, classes: dict[GoalId, list[tuple[GoalId, int]]]
) -> Iterator[tuple[GoalId, State]]:
    count, matched = state
    if shape.most is not None and count >= shape.most:
        return
    base = shape.prefix[count] if count < len(shape.prefix) else shape.rest
    told_apart = max([1, len(shape.prefix), shape.least, *(part.index for part in shape.contains)])
    following = count + 1 if shape.most is not None else min(count + 1, told_apart)
    for goal, mask in classes[base]:
        numbers = list(matched)
        for bit, part in enumerate(shape.contains):
            if mask >> bit & 1 and count >= part.index:
                numbers[bit] += 1
                if part.most is None:
                    numbers[bit] = min(numbers[bit], part.least)
        if all(part.most is None or number <= part.most for part, number in zip(shape.contains, numbers, strict=True)):
            yield goal, (following, tuple(numbers))
