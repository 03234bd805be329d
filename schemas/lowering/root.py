"""The outermost object in a spelling of its own: which of its shapes can be written, and what its members can be."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from schemas.algebra import strings_empty
from schemas.compiled import Residue
from schemas.errors import SchemaError
from schemas.goals import GoalId
from schemas.lengths import CANNOT
from schemas.lowering import objects
from schemas.lowering.keywords import keyword_members
from schemas.lowering.members import MemberWriter
from schemas.lowering.plan import guards
from schemas.lowering.tags import TagMembers
from schemas.shapes import ObjectShape
from schemas.spelling import Keywords, Kind, Members, Tags

if TYPE_CHECKING:
    from schemas.lowering.values import Lowering


def rule(lower: Lowering, goal: GoalId, nested: MemberWriter) -> tuple[str, Members]:
    """The rule of the objects of ``goal``, and what their members can be. ``nested`` writes inner objects.

    Raises SchemaError where none of them can be written: it names a required member that cannot.
    """
    path = lower.goals.path(goal)
    shapes = [shape for shape in lower.algebra.objects(goal) if lower.lengths.object(shape) is not None]
    members = _members(lower, shapes)
    writer = _writer(lower, members, nested)
    written, fault = [], (path, "no object is valid against the schema")
    for shape in shapes:
        missing = _missing(lower, shape, writer)
        if missing is None:
            _note_left_out(lower, shape, writer, path)
            written.append(objects.rule(lower, shape, path, writer))
        else:
            fault = missing
    if not written:
        raise SchemaError(fault[0], "", fault[1])
    name = written[0]
    if len(written) > 1:
        name = lower.text.name("v")
        lower.text.rule(name, written)
    return name, members


def _writer(lower: Lowering, members: Members, nested: MemberWriter) -> MemberWriter:
    match lower.spelling:
        case Tags() as tags:
            return TagMembers(lower, tags, members)
        case Keywords():
            return keyword_members(lower)
        case _:
            return nested


def _members(lower: Lowering, shapes: list[ObjectShape]) -> Members:
    """Per name, the types that its value has in any of the shapes."""
    named: dict[str, set[Kind]] = defaultdict(set)
    others: set[Kind] = set()
    for shape in shapes:
        for slot in shape.slots:
            named[slot.key] |= _kinds(lower, slot.goal)
        for table in shape.conditions:
            for key, classes in zip(table.keys, table.classes, strict=True):
                named[key] = named[key].union(*(_kinds(lower, each) for each in classes))
        for other in shape.others:
            for each in (other.goal, *(goal for _, goal in other.witness)):
                others |= _kinds(lower, each)
    for shape in shapes:
        own = {slot.key for slot in shape.slots} | {key for table in shape.conditions for key in table.keys}
        for key in named:
            if key not in own and any(other.names.contains(key) for other in shape.others):
                named[key] |= others
    return Members({key: frozenset(kinds) for key, kinds in sorted(named.items())}, frozenset(others))


def _kinds(lower: Lowering, goal: GoalId) -> set[Kind]:
    values = lower.algebra.reader.scalars(goal)
    there: dict[Kind, bool] = {
        "string": not strings_empty(values.strings.upper),
        "number": lower.has_numbers(values),
        "boolean": values.true or values.false,
        "null": values.null,
        "array": bool(lower.algebra.arrays(goal)),
        "object": bool(lower.algebra.objects(goal)),
    }
    return {kind for kind, on in there.items() if on}


def _missing(lower: Lowering, shape: ObjectShape, writer: MemberWriter) -> tuple[str, str] | None:
    """Why the shape has no text: the path and a sentence; None when it has some."""
    for slot in shape.slots:
        if slot.required and not writer.exists(slot.key, slot.goal):
            return lower.goals.path(slot.goal), f"the required {slot.key!r} {CANNOT}"
    for table in shape.conditions:
        if guards(writer, table, 0).final() is False:
            return "", f"one of {', '.join(map(repr, table.keys))} {CANNOT}"
    others = [other for other in shape.others if writer.others_exist(other.names, other.goal)]
    there = sum(writer.exists(slot.key, slot.goal) for slot in shape.slots)
    if (shape.witnesses or shape.least > there) and not others and not shape.conditions:
        return "", f"members that are needed {CANNOT[4:]}"
    return None


def _note_left_out(lower: Lowering, shape: ObjectShape, writer: MemberWriter, path: str) -> None:
    for slot in shape.slots:
        if lower.exists(slot.goal) and not writer.exists(slot.key, slot.goal):
            lower.narrowings[Residue(path, "properties", f"{slot.key!r} {CANNOT}")] = None
