"""Objects of which a formula says what single members are and no more, and arrays of which it says what all items are
and how many: most of them. Their shape is read off it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.formula import And, Count, Every, Formula, From, Has, Member
from schemas.goals import ANYTHING, GoalId
from schemas.shapes import ArrayShape, ObjectShape, Others, Slot
from schemas.stringset import StringSet

if TYPE_CHECKING:
    from schemas.algebra import Algebra


def plain_arrays(algebra: Algebra, formula: Formula) -> tuple[ArrayShape, ...] | None:
    """The shapes that :class:`schemas.arrays.ArrayState` would come to, None where they take a closer look."""
    if formula is False:
        return ()
    items: GoalId = ANYTHING
    least, most = 0, None
    for part in _parts(formula):
        if isinstance(part, From) and part.index == 0:
            items = algebra.goals.conjunction((items, part.goal))
        elif isinstance(part, Count):
            least = max(least, part.least)
            most = part.most if most is None else most if part.most is None else min(most, part.most)
        else:
            return None
    if algebra.is_empty(items) or (most is not None and most < max(least, 1)):
        return None
    return (ArrayShape((), items, least, most),)


def plain_objects(algebra: Algebra, formula: Formula) -> tuple[ObjectShape, ...] | None:
    """The shapes that :class:`schemas.objects.ObjectState` would come to: one, or none where no object is left.

    None for a formula that speaks of more than named members and "all members but these".
    """
    if formula is False:
        return ()
    goals = algebra.goals
    members: dict[str, GoalId] = {}
    required: dict[str, None] = {}
    rest: list[Every] = []
    parts = _parts(formula)
    goals.spend(len(parts))
    for part in parts:
        if isinstance(part, Member):
            known = members.get(part.key)
            members[part.key] = part.goal if known is None else goals.conjunction((known, part.goal))
        elif isinstance(part, Has):
            required[part.key] = None
        elif isinstance(part, Every) and part.region.within is None and not part.region.without:
            if part.goal != ANYTHING:
                rest.append(part)
        else:
            return None
    names = dict.fromkeys((*members, *required))
    for every in rest:
        if not every.region.names <= names.keys():
            names.update(dict.fromkeys(sorted(every.region.names)))
    slots: list[Slot] = []
    for key in names:
        goal = members.get(key, ANYTHING)
        others = [every.goal for every in rest if key not in every.region.names]
        if others:
            goal = goals.conjunction((goal, *others))
        if not algebra.is_empty(goal):
            slots.append(Slot(key, goal, key in required))
        elif key in required:
            return ()
    goal = goals.conjunction(every.goal for every in rest) if rest else ANYTHING
    free = () if algebra.is_empty(goal) else (Others(~StringSet.literals(names) if names else StringSet.ALL, goal),)
    return (ObjectShape(tuple(slots), free),)


def _parts(formula: Formula) -> tuple[Formula, ...]:
    return formula.parts if isinstance(formula, And) else () if formula is True else (formula,)
