"""Subschemas that say the same become one node: generators write the same definition out at every use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from schemas.document.loader import Document
from schemas.node import Node, NodeId, node_of

_ONE = frozenset(
    {"items", "contains", "unevaluated_items", "additional_properties", "property_names", "unevaluated_properties"}
    | {"not_", "if_", "then_", "else_"}
)
_MANY = frozenset({"refs", "prefix_items", "all_of", "any_of", "one_of"})
_NAMED = frozenset({"properties", "pattern_properties", "dependent_schemas"})
_VALUES = frozenset({"enum", "const"})
"""JSON values: 1 and true are equal to Python, so they are compared as texts."""

Class: TypeAlias = int
"""Nodes of one class are equal but for their paths. A negative number is a node (-1 is 0) whose class is not known."""


def shared(document: Document) -> Document:
    """The document with one node, the first, for all that are equal in everything but their path.

    Nodes that no other refers to any more stay in the table. Nodes are looked at from the last to the first; what a
    reference that points backwards leads to is equal only to itself.
    """
    nodes = document.nodes
    classes: list[Class] = [-1 - node for node in range(len(nodes))]
    first: list[NodeId] = []
    known: dict[tuple[tuple[str, Any], ...], Class] = {}
    for number in reversed(range(len(nodes))):
        said = _with_children(nodes[number], classes.__getitem__)
        del said["path"]
        if said.keys() == {"refs"} and len(said["refs"]) == 1 and said["refs"][0] >= 0:
            classes[number] = said["refs"][0]
            continue
        found = known.setdefault(tuple((name, _comparable(name, value)) for name, value in said.items()), len(first))
        if found == len(first):
            first.append(number)
        first[found] = number
        classes[number] = found
    return replace(document, nodes=_joined(nodes, classes, first))


def _joined(nodes: Sequence[Node], classes: Sequence[Class], first: Sequence[NodeId]) -> tuple[Node, ...]:
    def same(node: NodeId) -> NodeId:
        return first[classes[node]]

    return tuple(
        node_of(_with_children(node, same)) if same(number) == number else node for number, node in enumerate(nodes)
    )


def _with_children(node: Node, renamed: Callable[[NodeId], int]) -> dict[str, Any]:
    said = dict(vars(node))
    for name, value in said.items():
        if name in _NAMED:
            said[name] = tuple([(key, renamed(child)) for key, child in value])
        elif name in _ONE:
            said[name] = renamed(value)
        elif name in _MANY:
            said[name] = tuple(map(renamed, value))
    return said


def _comparable(name: str, value: Any) -> Any:
    return repr(value) if name in _VALUES else value
