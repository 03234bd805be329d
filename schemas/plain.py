"""Objects of which a formula says what single members are and no more: most of them. Their shape is read off it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.formula import And, Every, Formula, Has, Member
from schemas.goals import ANYTHING, GoalId
from schemas.shapes import ObjectShape, Others, Slot
from schemas.stringset import StringSet

if TYPE_CHECKING:
    from schemas.algebra import Algebra


def plain_shapes(algebra: Algebra, formula: Formula) -> tuple[ObjectShape, ...] | None:
    """The shapes that :class:`schemas.objects.ObjectState` would come to: one, or none where no object is left.

    None for a formula that speaks of more than named members and "all members but these".
    """
    if formula is False:
        return ()
    goals = algebra.goals
    members: dict[str, GoalId] = {}
    required: dict[str, None] = {}
    rest: list[Every] = []
    parts = formula.parts if isinstance(formula, And) else () if formula is True else (formula,)
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
