"""Arrays whose items must differ and come from a finite set of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.errors import TooComplex
from schemas.goals import GoalId
from schemas.shapes import ArrayShape

if TYPE_CHECKING:
    from schemas.lowering.values import Lowering

MAX_VALUES = 64
"""Bits of a rule's parameter."""


def distinct_items(lower: Lowering, shape: ArrayShape) -> list[GoalId] | None:
    """The values that an item can have, a goal each; None where they are too many, or differ from place to place."""
    if shape.prefix or shape.contains or not lower.exists(shape.rest):
        return None
    values = single_values(lower, shape.rest, MAX_VALUES)
    if values is None or len(values) < shape.least:
        return None
    return values


def single_values(lower: Lowering, goal: GoalId, limit: int) -> list[GoalId] | None:
    """All values of a scalar goal; None where there are arrays or objects among them, or more than ``limit``."""
    if lower.algebra.arrays(goal) or lower.algebra.objects(goal):
        return None
    scalars = lower.algebra.reader.scalars(goal)
    if scalars.numbers.residue or scalars.strings.residue:
        return None
    found: list[object] = [
        value for value, on in ((None, scalars.null), (True, scalars.true), (False, scalars.false)) if on
    ]
    try:
        numbers = scalars.numbers.upper.enumerate(limit)
        strings = scalars.strings.upper.enumerate(limit)
    except TooComplex:
        return None
    if numbers is None or strings is None:
        return None
    found.extend(numbers)
    found.extend(strings)
    if len(found) > limit:
        return None
    result = [lower.goals.conjunction((goal, lower.goals.value(value))) for value in found]
    for one in result:
        lower.lengths.add_scalar(one)
    return result
