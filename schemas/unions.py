"""Unions of very many objects: llguidance follows at most 2,000 alternatives at once, so they are thinned out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schemas.compiled import Residue
from schemas.goals import ANYTHING, GoalId, Goals
from schemas.shapes import ObjectShape, Others, Slot
from schemas.stringset import StringSet

MAX_MEMBERS = 1000
"""Members that may come next, over all alternatives of one goal."""
MAX_SHARED = 300
"""Members of alternatives that are spelled out only for the sake of coming once."""


def bearable(shapes: Sequence[ObjectShape], goals: Goals, path: str) -> tuple[ObjectShape, ...]:
    """The union of ``shapes`` with fewer members to follow at once.

    Where all shapes require a member that tells them apart, it is put first; otherwise they are merged into one
    superset.
    """
    if len(shapes) <= 1 or sum(map(_weight, shapes)) <= MAX_MEMBERS:
        return tuple(shapes)
    key = _discriminator(shapes)
    if key is not None:
        return tuple(replace(shape, first=key) for shape in shapes)
    return (_merged(shapes, goals, path),)


def declared_once(shapes: Sequence[ObjectShape]) -> tuple[ObjectShape, ...]:
    """Give every shape a slot for each name that another one has a slot for, as far as its free members allow the name.

    Otherwise a name that one branch declares could come twice in a branch that does not. It makes no other difference,
    so it is left where it would make the union too large.
    """
    names = list(dict.fromkeys(slot.key for shape in shapes for slot in shape.slots))
    if len(shapes) == 1 or len(shapes) * len(names) > MAX_SHARED:
        return tuple(shapes)
    return tuple(_with_slots(shape, names) for shape in shapes)


def _with_slots(shape: ObjectShape, names: Sequence[str]) -> ObjectShape:
    present = {slot.key for slot in shape.slots}
    slots = list(shape.slots)
    others: list[Others] = []
    for other in shape.others:
        if not other.witness:
            found = [name for name in names if name not in present and other.names.contains(name)]
            slots.extend(Slot(name, other.goal, False) for name in found)
            other = replace(other, names=other.names & ~StringSet.literals(found))
        if other.names != StringSet.NONE:
            others.append(other)
    return replace(shape, slots=tuple(slots), others=tuple(others))


def _weight(shape: ObjectShape) -> int:
    tables = sum(len(classes) for table in shape.conditions for classes in table.classes)
    return len(shape.slots) + tables + sum(1 + len(other.witness) for other in shape.others)


def _discriminator(shapes: Sequence[ObjectShape]) -> str | None:
    common: dict[str, dict[GoalId, int]] = {}
    for index, shape in enumerate(shapes):
        conditional = {key for table in shape.conditions for key in table.keys}
        required = {slot.key: slot.goal for slot in shape.slots if slot.required and slot.key not in conditional}
        if index == 0:
            common = {key: {} for key in required}
        common = {key: groups for key, groups in common.items() if key in required}
        for key, groups in common.items():
            groups[required[key]] = groups.get(required[key], 0) + _weight(shape)
    heaviest = {key: max(groups.values()) for key, groups in common.items()}
    best = min(heaviest, key=lambda key: (heaviest[key], key), default=None)
    return best if best is not None and heaviest[best] <= MAX_MEMBERS else None


def _merged(shapes: Sequence[ObjectShape], goals: Goals, path: str) -> ObjectShape:
    members: dict[str, list[Slot]] = {}
    for shape in shapes:
        for slot in shape.slots:
            members.setdefault(slot.key, []).append(slot)
    kept = list(members)[: MAX_MEMBERS // 2]
    slots = tuple(_joined(key, members[key], shapes, goals) for key in kept)
    free = [other.goal for shape in shapes for other in shape.others]
    if len(kept) < len(members):
        free.append(ANYTHING)
    names = ~StringSet.literals(kept)
    residue = Residue(path, "anyOf", "too many alternatives to follow at once")
    return ObjectShape(
        slots,
        (Others(names, goals.disjunction(free)),) if free else (),
        residue=frozenset([residue]).union(*(shape.residue for shape in shapes)),
    )


def _joined(key: str, slots: Sequence[Slot], shapes: Sequence[ObjectShape], goals: Goals) -> Slot:
    """Every value that the member can have in some shape, also where it is an undeclared one."""
    found = [slot.goal for slot in slots]
    if len(slots) < len(shapes):
        for shape in shapes:
            found.extend(other.goal for other in shape.others if other.names.contains(key))
    return Slot(key, goals.disjunction(found), len(slots) == len(shapes) and all(slot.required for slot in slots))
