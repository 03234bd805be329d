"""Which bit of an object's parameter means what: llguidance's parametric rules have 64 of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schemas.compiled import Residue
from schemas.lowering.guards import Guards, width
from schemas.lowering.text import Condition, bits
from schemas.shapes import Conditions, ObjectShape, Others, Slot

if TYPE_CHECKING:
    from schemas.lowering.members import MemberWriter
    from schemas.lowering.values import Lowering

PARAMETER_BITS = 64
MAX_COUNTED = 24
"""Undeclared members that are counted one by one, a bit each."""


@dataclass(slots=True)
class Plan:
    """Which bit of the parameter means what. Ranges are (low, high), high not included."""

    required: list[Slot]
    optional: list[Slot]
    free: list[Slot]
    """Members that found no bit: they may repeat, and then the last one counts."""
    others: list[Others]
    counted: int = 0
    """Bits for undeclared members, behind those of the optional ones."""
    witnesses: tuple[int, int] = (0, 0)
    counter: tuple[int, int] = (0, 0)
    """How many of the free members there were, where the parameter has room for that: no more than they are."""
    guards: list[Guards] = field(default_factory=list)
    least: int = 0
    most: int | None = None
    members: list[str] = field(default_factory=list)
    more: list[Condition] = field(default_factory=list)

    @property
    def known(self) -> int:
        return len(self.required) + len(self.optional)

    @property
    def needed(self) -> int:
        """Members that must come: the required ones and the witness."""
        return len(self.required) + self.witnesses[1] - self.witnesses[0]

    @property
    def all(self) -> str:
        return bits(0, max(self.known + self.counted, self.witnesses[1]))


def plan_of(lower: Lowering, shape: ObjectShape, path: str, writer: MemberWriter) -> Plan:
    """Bits for the members of a shape that has values; what finds no room is noted as residue."""
    conditional = {key for table in shape.conditions for key in table.keys}
    required: list[Slot] = []
    optional: list[Slot] = []
    for slot in shape.slots:
        if slot.key not in conditional and writer.exists(slot.key, slot.goal):
            (required if slot.required else optional).append(slot)
    plan = Plan(
        required=required,
        optional=optional,
        free=[],
        others=[other for other in shape.others if writer.others_exist(other.names, other.goal)],
        least=shape.least,
        most=shape.most,
    )
    _spill(lower, plan, shape, path)
    if plan.free and (plan.least or plan.most is not None):
        _forget_counts(lower, plan, path, f"of more than {PARAMETER_BITS} members")
    if shape.witnesses > 1 and (plan.least or plan.most is not None):
        _forget_counts(lower, plan, path, "beside conditions on undeclared members")
    if plan.others and (plan.least or plan.most is not None):
        _count_others(lower, plan, shape, path)
    low = plan.known + plan.counted
    if shape.witnesses:
        plan.witnesses = (low, low + shape.witnesses)
        low += shape.witnesses
        lower.note(
            Residue(path, "additionalProperties", "a repeated undeclared member could replace the one that counts")
        )
    if plan.counter[1]:
        plan.counter = (low, low + plan.counter[1])
        low = plan.counter[1]
    for table in shape.conditions:
        plan.guards.append(guards(writer, table, low))
        low += width(table)
    return plan


def guards(writer: MemberWriter, table: Conditions, low: int) -> Guards:
    """What the members of ``table`` may still become; ``low``: the first free bit."""
    return Guards(table, lambda i, value: writer.exists(table.keys[i], table.classes[i][value - 1]), low)


def _spill(lower: Lowering, plan: Plan, shape: ObjectShape, path: str) -> None:
    """Take bits away from the last optional members, then from the last required ones, until the parameter has room."""
    room = PARAMETER_BITS - shape.witnesses - sum(map(width, shape.conditions))
    if plan.known <= room:
        return
    counter = plan.known.bit_length()
    if len(plan.required) + counter <= room:
        plan.counter = (0, counter)
        room -= counter
    for group in (plan.optional, plan.required):
        spare = max(0, len(group) - max(0, plan.known - room))
        plan.free.extend(group[spare:])
        del group[spare:]
    forced = [slot.key for slot in plan.free if slot.required]
    if forced:
        reason = f"of more than {room} required members the last are not held: {_listed(forced)}"
        lower.note(Residue(path, "required", reason))
    spilled = [slot.key for slot in plan.free if not slot.required]
    if spilled:
        reason = f"of more than {room} members the last are not kept from being repeated: {_listed(spilled)}"
        lower.note(Residue(path, "properties", reason))


def _listed(keys: list[str]) -> str:
    return ", ".join(map(repr, keys[:5])) + (", …" if len(keys) > 5 else "")


def _forget_counts(lower: Lowering, plan: Plan, path: str, why: str) -> None:
    for keyword, bound in (("minProperties", plan.least or None), ("maxProperties", plan.most)):
        if bound is not None:
            lower.note(Residue(path, keyword, f"the number {why} cannot be held"))
    plan.least, plan.most, plan.counted = 0, None, 0


def _count_others(lower: Lowering, plan: Plan, shape: ObjectShape, path: str) -> None:
    """Give undeclared members bits of their own, to be set one after the other."""
    required = len(plan.required) + shape.witnesses
    needed = max(plan.least - required, 0 if plan.most is None else plan.most - required, 0)
    if needed > min(MAX_COUNTED, PARAMETER_BITS - plan.known - 8) and (
        plan.known or shape.witnesses or shape.conditions
    ):
        _forget_counts(lower, plan, path, "of undeclared members")
        return
    if plan.least - len(plan.required) >= 2:
        lower.note(Residue(path, "minProperties", "undeclared members that repeat a name count once"))
    plan.counted = needed
