"""A key that equals for schemas which differ only in annotations or in the order of members."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from operator import attrgetter
from typing import Any

from schemas.document.loader import Document
from schemas.node import Node, NodeId

_ONE = (
    *("items", "contains", "unevaluated_items", "additional_properties", "property_names", "unevaluated_properties"),
    *("not_", "if_", "then_", "else_"),
)
_MANY = ("refs", "prefix_items", "all_of", "any_of", "one_of")
_NAMED = ("properties", "pattern_properties", "dependent_schemas")
_SPECIAL = ("types", "enum", "const", "required", "dependent_required")
_PLAIN = tuple(f.name for f in fields(Node) if f.name not in {*_ONE, *_MANY, *_NAMED, *_SPECIAL})

_one, _many, _named, _plain = (attrgetter(*names) for names in (_ONE, _MANY, _NAMED, _PLAIN))
_NO_ONE = (None,) * len(_ONE)
_NO_MANY = ((),) * len(_MANY)


def canonical(document: Document) -> str:
    """SHA-256, as hex, of the nodes in an order that does not depend on the order of members.

    Paths are part of the key, because errors and residue name them.
    """
    number: dict[NodeId, int] = {document.root: 0}
    order = [document.root]

    def renumbered(child: NodeId) -> int:
        known = number.get(child)
        if known is None:
            known = number[child] = len(order)
            order.append(child)
        return known

    digest = hashlib.sha256()
    for node_id in order:  # grows while it is walked
        node = document.nodes[node_id]
        parts: list[Any] = [_plain(node)]
        many, one = _many(node), _one(node)
        if many != _NO_MANY:
            parts.append([[renumbered(child) for child in children] for children in many])
        if one != _NO_ONE:
            parts.append([-1 if child is None else renumbered(child) for child in one])
        for name, members in zip(_NAMED, _named(node), strict=True):
            if members:
                parts.append((name, [(key, renumbered(child)) for key, child in sorted(members)]))
        parts.append(node.types and sorted(node.types))
        parts.append(None if node.enum is None else sorted(map(_text, node.enum)))
        parts.append(None if node.const is None else _text(node.const[0]))
        parts.append(sorted(node.required))
        parts.append(sorted((name, sorted(names)) for name, names in node.dependent_required))
        digest.update(repr(parts).encode(errors="surrogatepass"))
    return digest.hexdigest()


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
