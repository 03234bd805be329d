"""Documents in an order of their own, so that schemas which differ in the order of members compile to one grammar."""

from __future__ import annotations

import hashlib
from dataclasses import fields, replace
from typing import Any

from schemas.document import Document
from schemas.node import Node, NodeId

_ONE = (
    "items",
    "contains",
    "unevaluated_items",
    "additional_properties",
    "property_names",
    "unevaluated_properties",
    "not_",
    "if_",
    "then_",
    "else_",
)
_MANY = ("refs", "prefix_items", "all_of", "any_of", "one_of")
_NAMED = ("properties", "pattern_properties", "dependent_schemas")
_DEFAULTS = tuple((f.name, f.default) for f in fields(Node))


def ordered(document: Document) -> Document:
    """The same document, members sorted by name and nodes numbered breadth first from the root."""
    number: dict[NodeId, NodeId] = {document.root: 0}
    order = [document.root]
    nodes: list[Node] = []

    def renumber(child: NodeId) -> NodeId:
        if child not in number:
            number[child] = len(order)
            order.append(child)
        return number[child]

    for old in order:  # grows while it is walked
        node = document.nodes[old]
        changes: dict[str, Any] = {}
        for name in _MANY:
            children = getattr(node, name)
            if children:
                changes[name] = tuple(renumber(child) for child in children)
        for name in _ONE:
            child = getattr(node, name)
            if child is not None:
                changes[name] = renumber(child)
        for name in _NAMED:
            members = getattr(node, name)
            if members:
                changes[name] = tuple((key, renumber(child)) for key, child in sorted(members))
        if node.required:
            changes["required"] = tuple(sorted(node.required))
        nodes.append(replace(node, **changes) if changes else node)
    return Document(tuple(nodes), 0)


def key(document: Document) -> str:
    """SHA-256, as hex, of an :func:`ordered` document: equal for schemas that mean the same in the same places."""
    digest = hashlib.sha256()
    for node in document.nodes:
        said = [(name, value) for name, default in _DEFAULTS if (value := getattr(node, name)) is not default]
        digest.update(repr([(name, sorted(v) if isinstance(v, frozenset) else v) for name, v in said]).encode())
    return digest.hexdigest()
