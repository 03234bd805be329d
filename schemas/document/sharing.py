"""Subschemas that say the same become one node: generators write the same definition out at every use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from schemas.document.loader import Document
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
    known: dict[tuple[Any, ...], Class] = {}
    for number in reversed(range(len(nodes))):
        said = vars(nodes[number])
        if len(said) == 2 and "refs" in said and len(said["refs"]) == 1 and classes[said["refs"][0]] >= 0:
            classes[number] = classes[said["refs"][0]]
            continue
        found = known.setdefault(_comparable(said, classes.__getitem__), len(first))
        if found == len(first):
            first.append(number)
        first[found] = number
        classes[number] = found
    return replace(document, nodes=_joined(nodes, classes, first))


def _joined(nodes: Sequence[Node], classes: Sequence[Class], first: Sequence[NodeId]) -> tuple[Node, ...]:
    joined = list(nodes)
    for number in first:
        said = vars(nodes[number])
        changed = {
            name: _renamed(_KINDS[name], said[name], lambda child: first[classes[child]])
            for name in said.keys() & _KINDS.keys()
        }
        if changed:
            joined[number] = node_of(said | changed)
    return tuple(joined)


def _comparable(said: dict[str, Any], renamed: Callable[[NodeId], int]) -> tuple[Any, ...]:
    """All but the path, with children as their classes."""
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
