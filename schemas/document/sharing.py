"""Subschemas that say the same become one node: generators write the same definition out at every use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from schemas.node import Node, NodeId, node_of

_KINDS = (
    dict.fromkeys(("items", "contains", "unevaluated_items", "additional_properties", "property_names"), "one")
    | dict.fromkeys(("unevaluated_properties", "not_", "if_", "then_", "else_"), "one")
    | dict.fromkeys(("refs", "prefix_items", "all_of", "any_of", "one_of"), "many")
    | dict.fromkeys(("properties", "pattern_properties", "dependent_schemas", "dependencies"), "named")
)
"""What the fields with children are: one, many, or many with a name each."""
_VALUES = frozenset({"enum", "const"})
"""JSON values: 1 and true are equal to Python, so they are compared as texts."""


MAX_ROUNDS = 12
"""A subschema that refers to itself may go this deep until it differs from another one."""


def shared(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """What the first node leads to, breadth first, with one node, the first, for all that are equal in everything but
    their path, and none for those that are a single reference."""
    target = _targets(nodes)
    alike = _alike(nodes, target)
    first: dict[NodeId, NodeId] = {}
    for number, each in alike.items():
        first[each] = min(number, first.get(each, number))
    return _reached(nodes, [first[alike[each]] if each in alike else each for each in target])


def _targets(nodes: Sequence[Node]) -> list[NodeId]:
    """Per node itself, or where it is a single reference what that leads to; none goes round in a circle."""
    targets = [-1] * len(nodes)
    for start in range(len(nodes)):
        way = [start]
        while targets[way[-1]] < 0:
            said = vars(nodes[way[-1]])
            if len(said) != 2 or "refs" not in said or len(said["refs"]) != 1:
                targets[way[-1]] = way[-1]
            else:
                way.append(said["refs"][0])
        for each in way:
            targets[each] = targets[way[-1]]
    return targets


def _alike(nodes: Sequence[Node], target: Sequence[NodeId]) -> dict[NodeId, NodeId]:
    """Per node that the first one leads to, one that is the same for all of its equals: the largest sets in which all
    say the same and have children in the same sets.

    Nodes are looked at from the leaves up. Those that lead into a cycle wait until all others are known.
    """
    alike: dict[NodeId, NodeId] = {}
    children: dict[NodeId, list[NodeId]] = {}
    cyclic: dict[NodeId, None] = {}
    known: dict[tuple[Any, ...], NodeId] = {}
    pending: list[NodeId] = [target[0]]
    while pending:
        number = pending[-1]
        said = vars(nodes[number])
        if number not in children:
            below = children[number] = [target[child] for child in _children(said)]
            unseen = [child for child in below if child not in children]
            if unseen:
                pending.extend(unseen)
                continue
        pending.pop()
        if number in alike or number in cyclic:
            continue
        if all(map(alike.__contains__, children[number])):
            alike[number] = known.setdefault(_comparable(said, lambda child: alike[target[child]]), number)
        else:
            cyclic[number] = None
    groups: dict[tuple[Any, ...], list[NodeId]] = {}
    for number in cyclic:
        key = _comparable(vars(nodes[number]), lambda child: alike.get(target[child], -1))
        groups.setdefault(key, []).append(number)
    alike.update(_refined(list(groups.values()), children, alike))
    return alike


def _refined(
    groups: list[list[NodeId]], children: Mapping[NodeId, list[NodeId]], known: Mapping[NodeId, NodeId]
) -> dict[NodeId, NodeId]:
    """As :func:`_alike`, for groups of nodes that are equal but for their children: they are split until the children
    are equal, too (Moore 1956). All stay apart where that takes too long."""
    alike = {number: group[0] for group in groups for number in group}
    several = [group for group in groups if len(group) > 1]
    for _ in range(MAX_ROUNDS):
        split: list[list[NodeId]] = []
        for group in several:
            parts: dict[tuple[NodeId, ...], list[NodeId]] = {}
            for number in group:
                below = tuple([known[child] if child in known else alike[child] for child in children[number]])
                parts.setdefault(below, []).append(number)
            split.extend(parts.values())
            for part in parts.values():
                alike.update(dict.fromkeys(part, part[0]))
        if len(split) == len(several):
            return alike
        several = [group for group in split if len(group) > 1]
    return {number: number for number in alike}


def _children(said: dict[str, Any]) -> list[NodeId]:
    found: list[NodeId] = []
    for name, value in said.items():
        kind = _KINDS.get(name)
        if kind == "one":
            found.append(value)
        elif kind == "many":
            found.extend(value)
        elif kind == "named":
            found.extend([child for _, child in value])
    return found


def _reached(nodes: Sequence[Node], first: Sequence[NodeId]) -> tuple[Node, ...]:
    """The nodes that the root leads to, when each stands for those that ``first`` has it for."""
    order: list[NodeId] = [first[0]]
    numbers: dict[NodeId, NodeId] = {first[0]: 0}
    reached: list[Node] = []

    def renamed(child: NodeId) -> NodeId:
        known = numbers.get(first[child])
        if known is None:
            known = numbers[first[child]] = len(order)
            order.append(first[child])
        return known

    for each in order:  # grows while it is walked
        said: dict[str, Any] = {}
        for name, value in vars(nodes[each]).items():
            kind = _KINDS.get(name)
            said[name] = value if kind is None else _renamed(kind, value, renamed)
        reached.append(node_of(said))
    return tuple(reached)


def _comparable(said: dict[str, Any], renamed: Callable[[NodeId], int]) -> tuple[Any, ...]:
    """All but the path, with other names for the children."""
    found: list[Any] = []
    for name, value in said.items():
        kind = _KINDS.get(name)
        if kind is not None:
            found.append(name)
            found.append(_renamed(kind, value, renamed))
        elif name != "path":
            found.append(name)
            found.append(repr(value) if name in _VALUES else value)
    return tuple(found)


def _renamed(kind: str, value: Any, renamed: Callable[[NodeId], int]) -> Any:
    if kind == "one":
        return renamed(value)
    if kind == "many":
        return tuple(map(renamed, value))
    return tuple([(key, renamed(child)) for key, child in value])
