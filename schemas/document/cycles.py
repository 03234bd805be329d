"""Cycles of subschemas that all apply to the same value: such a schema says nothing and would never end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schemas.errors import SchemaError
from schemas.node import Node, NodeId

_IN_PLACE = frozenset({"refs", "all_of", "any_of", "one_of", "not_", "if_", "dependent_schemas", "dependencies"})
"""The fields with subschemas of the same value (``then_`` and ``else_`` are nothing without ``if_``)."""


def _in_place(node: Node) -> Iterator[tuple[str, NodeId]]:
    for target in node.refs:
        yield "$ref", target
    for keyword, targets in (("allOf", node.all_of), ("anyOf", node.any_of), ("oneOf", node.one_of)):
        for target in targets:
            yield keyword, target
    for keyword, child in (("not", node.not_), ("if", node.if_), ("then", node.then_), ("else", node.else_)):
        if child is not None:
            yield keyword, child
    for keyword, members in (("dependentSchemas", node.dependent_schemas), ("dependencies", node.dependencies)):
        for _, target in members:
            yield keyword, target


def refuse_empty_cycles(nodes: Sequence[Node]) -> None:
    """Raise :class:`SchemaError` at a reference (or applicator) that comes back to itself on the same value."""
    done = [vars(node).keys().isdisjoint(_IN_PLACE) for node in nodes]
    for start in range(len(nodes)):
        if done[start]:
            continue
        on_path = {start}
        stack = [(start, _in_place(nodes[start]))]
        while stack:
            node, edges = stack[-1]
            edge = next(edges, None)
            if edge is None:
                stack.pop()
                on_path.discard(node)
                done[node] = True
                continue
            keyword, target = edge
            if target in on_path:
                raise SchemaError(
                    nodes[node].path,
                    keyword,
                    f"refers back to {nodes[target].path or 'the root'} without going into an item or a member",
                )
            if not done[target]:
                on_path.add(target)
                stack.append((target, _in_place(nodes[target])))
