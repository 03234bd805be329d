"""Subschemas that say the same become one node: generators write the same definition out at every use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from schemas.node import Node, NodeId, node_of

_KINDS = (
    dict.fromkeys(("items", "contains", "unevaluated_items", "additional_properties", "property_names"), "one")
    | dict.fromkeys(("unevaluated_properties", "not_", "if_", "then_", "else_"), "one")
    | dict.fromkeys(("refs", "prefix_items", "all_of", "any_of", "one_of"), "many")
    | dict.fromkeys(("properties", "pattern_properties", "dependent_schemas"), "named")
)
"""What the fields with children are: one, many, or many with a name each."""
_VALUES = frozenset({"enum", "const"})
"""JSON values: 1 and true are equal to Python, so they are compared as texts."""


def shared(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """What the first node leads to, breadth first, with one node, the first, for all that are equal in everything but
    their path, and none for those that are a single reference.

    Nodes are looked at from the leaves up. Where a reference leads back into what is being looked at, its target is
    equal only to itself.
    """
    alike: list[NodeId] = list(range(len(nodes)))
    """Per node the one of its equals that was looked at first."""
    first: dict[NodeId, NodeId] = {}
    """Per such a one the first of them all."""
    known: dict[tuple[Any, ...], NodeId] = {}
    seen, done = [False] * len(nodes), [False] * len(nodes)
    pending: list[NodeId] = [0]
    while pending:
        number = pending[-1]
        said = vars(nodes[number])
        if not seen[number]:
            seen[number] = True
            if not said.keys().isdisjoint(_KINDS):
                pending.extend([child for child in _children(said) if not seen[child]])
                continue
        pending.pop()
        if done[number]:
            continue
        done[number] = True
        if len(said) == 2 and "refs" in said and len(said["refs"]) == 1 and done[said["refs"][0]]:
            alike[number] = alike[said["refs"][0]]
            continue
        found = alike[number] = known.setdefault(_comparable(said, alike.__getitem__), number)
        first[found] = min(number, first.get(found, number))
    return _reached(nodes, [first[each] for each in alike])


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
