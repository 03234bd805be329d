"""Arrays to rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.compiled import Residue
from schemas.goals import GoalId
from schemas.lowering.distinct import distinct_items
from schemas.lowering.text import Text
from schemas.machine import Machine
from schemas.shapes import ArrayShape

if TYPE_CHECKING:
    from schemas.lowering.values import Lowering


def rule(lower: Lowering, shape: ArrayShape, path: str) -> str:
    """The name of the rule of a shape that has values."""
    known = lower.shape_rules.get(shape)
    if known is not None:
        return known
    name = lower.text.name("a")
    lower.shape_rules[shape] = name
    lower.note_all(shape.residue)
    if shape.unique is not None:
        values = distinct_items(lower, shape)
        if values is not None:
            _selection(lower, name, shape, values)
            return name
        lower.note(shape.unique)
    machine = None if lower.flatly else lower.lengths.machine(shape)
    if machine is not None:
        _machine(lower, name, machine)
        return name
    if shape.contains:
        lower.note(Residue(path, "contains", "counting the matches would need too many states"))
    _sequence(lower, name, shape)
    return name


def _sequence(lower: Lowering, name: str, shape: ArrayShape) -> None:
    """``[``, the prefix item by item, then a counted repetition, ``]``."""
    text, comma = lower.text, lower.comma()
    prefix, most = list(shape.prefix), shape.most
    for index, goal in enumerate(prefix):
        if not lower.exists(goal):
            prefix, most = prefix[:index], index
            break
    has_rest = lower.exists(shape.rest) and (most is None or most > len(prefix))
    tail = _tail(lower, shape, len(prefix), most) if has_rest else '"]"'
    end = tail if prefix else None
    for index in range(len(prefix) - 1, 0, -1):
        step = text.name("p")
        after = end
        alternatives = [f"{comma} {lower.symbol(prefix[index])} {after}"]
        if shape.least <= index:
            alternatives.append('"]"')
        text.rule(step, alternatives)
        end = step
    alternatives = ['"[" "]"'] if shape.least == 0 else []
    if prefix:
        alternatives.append(f'"[" {lower.symbol(prefix[0])} {end}')
    elif has_rest:
        item = lower.symbol(shape.rest)
        low = max(shape.least, 1) - 1
        alternatives.append(
            f'"[" {item} {_repeated(text, f"{comma} {item}", low, None if most is None else most - 1)}"]"'
        )
    text.rule(name, alternatives)


def _tail(lower: Lowering, shape: ArrayShape, done: int, most: int | None) -> str:
    low = max(shape.least - done, 0)
    high = None if most is None else most - done
    return f'{_repeated(lower.text, f"{lower.comma()} {lower.symbol(shape.rest)}", low, high)}"]"'


def _repeated(text: Text, symbols: str, low: int, high: int | None) -> str:
    """``symbols`` from ``low`` to ``high`` times, a space behind it; nothing for zero times."""
    if high == 0:
        return ""
    if high is None:
        return f"({symbols})* " if low == 0 else f"({symbols}){{{low},}} "
    return f"({symbols}){{{low},{high}}} "


def _machine(lower: Lowering, name: str, machine: Machine) -> None:
    """A rule per live state; dead ones (from which no end can be reached) are left out."""
    text, comma = lower.text, lower.comma()
    live = _live(lower, machine)
    names = {state: text.name("s") for state in range(1, len(machine.steps)) if state in live}
    for state in (0, *names):
        steps = _by_goal(lower, machine, state, live)
        alternatives = ['"]"'] if machine.final[state] else []
        for goal, target in steps:
            item = f"{lower.symbol(goal)} {names[target]}"
            alternatives.append(item if state == 0 else f"{comma} {item}")
        if state == 0:
            text.rule(name, [f'"[" {alternative}' for alternative in alternatives])
        else:
            text.rule(names[state], alternatives)


def _by_goal(lower: Lowering, machine: Machine, state: int, live: set[int]) -> list[tuple[GoalId, int]]:
    return [(goal, target) for goal, target in machine.steps[state] if target in live and lower.exists(goal)]


def _live(lower: Lowering, machine: Machine) -> set[int]:
    before: dict[int, list[int]] = {}
    for state, steps in enumerate(machine.steps):
        for goal, target in steps:
            if lower.exists(goal):
                before.setdefault(target, []).append(state)
    waiting = [state for state, final in enumerate(machine.final) if final]
    live = set(waiting)
    while waiting:
        for state in before.get(waiting.pop(), ()):
            if state not in live:
                live.add(state)
                waiting.append(state)
    return live


def _selection(lower: Lowering, name: str, shape: ArrayShape, values: list[GoalId]) -> None:
    """Each of finitely many values at most once, in any order: a bit of the parameter per value."""
    text, comma = lower.text, lower.comma()
    count = len(values)
    most = count if shape.most is None else min(shape.most, count)
    step, rest = text.name("u"), text.name("w")
    alternatives = ['"[" "]"'] if shape.least == 0 else []
    if most:
        alternatives.append(f'"[" {step}::0')
        text.rule(
            step,
            [f"{lower.symbol(value)} {rest}::set_bit({i}) %if bit_clear({i})" for i, value in enumerate(values)],
            parametric=True,
        )
        text.rule(
            rest,
            [
                f'"]" %if bit_count_ge([0:{count}], {max(shape.least, 1)})',
                f"{comma} {step}::_ %if bit_count_lt([0:{count}], {most})",
            ],
            parametric=True,
        )
    text.rule(name, alternatives)
