"""Objects to rules: members in any order, each name once, by a parametric rule with a bit per member."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.compiled import Residue
from schemas.lowering.plan import Plan, plan_of
from schemas.lowering.text import Condition, all_of, any_of, bits, joined, when
from schemas.shapes import ObjectShape

if TYPE_CHECKING:
    from schemas.lowering.members import MemberWriter
    from schemas.lowering.values import Lowering


def rule(lower: Lowering, shape: ObjectShape, path: str, writer: MemberWriter) -> str:
    """The name of the rule of a shape that has values, members written by ``writer``."""
    name = lower.text.upcoming("o")
    known = writer.rules.setdefault(shape, name)  # one look: to hash a shape takes long
    if known is not name:
        return known
    lower.text.name("o")
    lower.note_all(shape.residue)
    plan = plan_of(lower, shape, path, writer)
    if not (plan.guards or plan.known or plan.free or shape.witnesses):
        _only_others(lower, name, plan, path, writer)
    else:
        _any_order(lower, name, shape, plan, path, writer)
    return name


def _only_others(lower: Lowering, name: str, plan: Plan, path: str, writer: MemberWriter) -> None:
    """No declared members: a plain repetition."""
    alternatives = [joined(writer.empty)] if plan.least == 0 else []
    if plan.others and plan.most != 0:
        members = [writer.other(other.names, other.goal, path) for other in plan.others]
        member = members[0]
        if len(members) > 1:
            member = lower.text.name("k")
            lower.text.rule(member, members)
        low = max(plan.least, 1) - 1
        high = "" if plan.most is None else str(plan.most - 1)
        times = "*" if not low and not high else f"{{{low},{high}}}"
        repeated = "" if high == "0" else f"({joined(writer.separator(), member)}){times}"
        alternatives.append(joined(writer.opening, member, repeated, writer.closing))
    lower.text.rule(name, alternatives)


def _any_order(lower: Lowering, name: str, shape: ObjectShape, plan: Plan, path: str, writer: MemberWriter) -> None:
    """``m`` wants a member, ``t`` what comes after one: the parameter says which members there were."""
    text = lower.text
    member, after = text.name("m"), text.name("t")
    _required(writer, plan, after)
    _optional(writer, plan, after)
    _others(writer, plan, after, path)
    _free(writer, plan, after)
    _conditional(writer, shape, plan, after)
    final = _final(plan)
    alternatives = [joined(writer.empty)] if _holds_empty(shape, plan) else []
    if plan.members:
        alternatives.append(joined(writer.opening, _beginning(lower, writer, shape, plan, path, member, after)))
        text.rule(member, plan.members, parametric=True)
        ends = [
            when(joined(writer.closing), final),
            when(joined(writer.separator(), f"{member}::_"), any_of(plan.more)),
        ]
        text.rule(after, [end for end in ends if end is not None], parametric=True)
    text.rule(name, alternatives)


def _required(writer: MemberWriter, plan: Plan, after: str) -> None:
    for index, slot in enumerate(plan.required):
        member = writer.member(slot.key, slot.goal)
        plan.members.append(f"{member} {after}::set_bit({index}) %if bit_clear({index})")
    if plan.required:
        plan.more.append(_not_full(0, len(plan.required)))


def _optional(writer: MemberWriter, plan: Plan, after: str) -> None:
    low, high = len(plan.required), plan.known + plan.counted
    room: Condition = True
    if plan.most is not None:
        spare = plan.most - plan.needed
        if spare <= 0:
            return
        if spare < high - low or plan.counted:
            room = f"bit_count_lt({bits(low, high)}, {spare})"
    for index, slot in enumerate(plan.optional, low):
        condition = f"bit_clear({index})" if room is True else all_of((f"bit_clear({index})", room))
        member = writer.member(slot.key, slot.goal)
        plan.members.append(f"{member} {after}::set_bit({index}) %if {condition}")
    if plan.optional:
        plan.more.append(all_of((_not_full(low, plan.known), room)))


def _not_full(low: int, high: int) -> Condition:
    return f"bit_clear({low})" if high - low == 1 else f"not(is_ones({bits(low, high)}))"


def _others(writer: MemberWriter, plan: Plan, after: str, path: str) -> None:
    if not plan.others:
        return
    required, high = len(plan.required), plan.known + plan.counted
    room: Condition = True
    if plan.most is not None:
        spare = plan.most - plan.needed
        room = False if spare <= 0 else f"bit_count_lt({bits(required, high)}, {spare})"
    for other in plan.others:
        head = f"{writer.other(other.names, other.goal, path)} {after}"
        for bit in range(plan.known, high):
            earlier: Condition = f"bit_set({bit - 1})" if bit > plan.known else True
            member = when(f"{head}::set_bit({bit})", all_of((f"bit_clear({bit})", earlier, room)))
            plan.members.extend([] if member is None else [member])
        if plan.most is None:
            full: Condition = f"bit_set({high - 1})" if plan.counted else True
            member = when(f"{head}::_", full)
            plan.members.extend([] if member is None else [member])
        for mask, goal in other.witness:
            if writer.others_exist(other.names, goal):
                unseen = all_of(
                    f"bit_clear({bit})" for bit in range(*plan.witnesses) if mask >> (bit - plan.witnesses[0]) & 1
                )
                witness = f"{writer.other(other.names, goal, path)} {after}"
                plan.members.append(f"{witness}::bit_or(0x{mask << plan.witnesses[0]:x}) %if {unseen}")
    plan.more.append(room)
    if plan.witnesses[1] > plan.witnesses[0]:
        plan.more.append(_not_full(*plan.witnesses))


def _free(writer: MemberWriter, plan: Plan, after: str) -> None:
    if not plan.free:
        return
    counted = plan.counter[1] > plan.counter[0]
    room: Condition = f"lt({bits(*plan.counter)}, {len(plan.free)})" if counted else True
    update = f"incr({bits(*plan.counter)})" if counted else "_"
    for slot in plan.free:
        member = when(f"{writer.member(slot.key, slot.goal)} {after}::{update}", room)
        plan.members.extend([] if member is None else [member])
    plan.more.append(room)


def _conditional(writer: MemberWriter, shape: ObjectShape, plan: Plan, after: str) -> None:
    for table, guards in zip(shape.conditions, plan.guards, strict=True):
        for index, (key, classes) in enumerate(zip(table.keys, table.classes, strict=True)):
            for value, goal in enumerate(classes, 1):
                condition = guards.add(index, value) if writer.exists(key, goal) else False
                update = f"bit_or(0x{value << guards.fields[index].low:x})"
                if condition is not False:
                    member = f"{writer.member(key, goal)} {after}::{update} %if {condition}"
                    plan.members.append(member)
                    plan.more.append(condition)


def _final(plan: Plan) -> Condition:
    parts: list[Condition] = []
    if plan.required:
        parts.append(f"is_ones({bits(0, len(plan.required))})" if len(plan.required) > 1 else "bit_set(0)")
    if plan.least > plan.needed:
        parts.append(f"bit_count_ge({plan.all}, {plan.least})")
    if plan.witnesses[1] > plan.witnesses[0]:
        parts.append(f"is_ones({bits(*plan.witnesses)})")
    parts.extend(guards.final() for guards in plan.guards)
    return all_of(parts)


def _holds_empty(shape: ObjectShape, plan: Plan) -> bool:
    if plan.required or plan.least or shape.witnesses or any(slot.required for slot in plan.free):
        return False
    return all(guards.accepts_empty for guards in plan.guards)


def _beginning(
    lower: Lowering, writer: MemberWriter, shape: ObjectShape, plan: Plan, path: str, member: str, after: str
) -> str:
    for bit, slot in enumerate(plan.required):
        if slot.key == shape.first:
            why = f"{slot.key!r} comes first: the alternatives are too many to follow all at once"
            lower.narrowings[Residue(path, "anyOf", why)] = None
            return f"{writer.member(slot.key, slot.goal)} {after}::0x{1 << bit:x}"
    return f"{member}::0"
