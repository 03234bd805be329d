"""A key that equals for schemas which differ only in annotations or in the order of members."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from typing import Any

from schemas.document.loader import Document
from schemas.node import Node, NodeId

_ONE = ("items", "contains", "unevaluated_items", "additional_properties", "property_names", "unevaluated_properties")
_ONE_MORE = ("not_", "if_", "then_", "else_")
_MANY = ("refs", "prefix_items", "all_of", "any_of", "one_of")
_NAMED = ("properties", "pattern_properties", "dependent_schemas")
_PLAIN = tuple(
    f.name
    for f in fields(Node)
    if f.name not in {*_ONE, *_ONE_MORE, *_MANY, *_NAMED, "enum", "const", "required", "dependent_required"}
)


def canonical(document: Document) -> str:
    """SHA-256, as hex, of the nodes in an order that does not depend on the order of members.

    Paths are part of the key, because errors and residue name them.
    """
    number: dict[NodeId, int] = {document.root: 0}
    order = [document.root]
    digest = hashlib.sha256()
    for node_id in order:  # grows while it is walked
        node = document.nodes[node_id]

        def ref(child: NodeId) -> int:
            if child not in number:
                number[child] = len(order)
                order.append(child)
            return number[child]

        children: list[Any] = [[ref(child) for child in getattr(node, name)] for name in _MANY]
        for name in (*_ONE, *_ONE_MORE):
            child = getattr(node, name)
            children.append(None if child is None else ref(child))
        children.extend([(name, ref(child)) for name, child in sorted(getattr(node, name))] for name in _NAMED)
        own = [getattr(node, name) for name in _PLAIN]
        values = (
            None if node.enum is None else sorted(map(_text, node.enum)),
            None if node.const is None else _text(node.const[0]),
            sorted(node.required),
            sorted((name, sorted(names)) for name, names in node.dependent_required),
        )
        digest.update(repr((_plain(own), values, children)).encode())
    return digest.hexdigest()


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _plain(values: list[Any]) -> list[Any]:
    return [sorted(value) if isinstance(value, frozenset) else value for value in values]
