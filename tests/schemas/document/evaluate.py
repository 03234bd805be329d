"""A plain interpreter of nodes: what a document means, for tests of the document alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jsonschema_rs

from schemas.document import Document
from schemas.node import Node, NodeId
from schemas.numbers.doubles import exact


@dataclass(slots=True)
class Outcome:
    """Whether a value is valid, and which of its members and items a subschema has looked at."""

    valid: bool = True
    members: set[str] = field(default_factory=set)
    items: set[int] = field(default_factory=set)

    def join(self, other: Outcome) -> None:
        self.members |= other.members
        self.items |= other.items


@cache
def _matches(pattern: str) -> Any:
    return jsonschema_rs.validator_for({"pattern": pattern}).is_valid


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if is_number(a) and is_number(b):
        return bool(a == b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


def has_type(value: Any, name: str, plain_integers: bool) -> bool:
    if name == "integer":
        if isinstance(value, float):
            return value.is_integer() and not plain_integers
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return is_number(value)
    kinds = {"null": type(None), "boolean": bool, "string": str, "array": list, "object": dict}
    return isinstance(value, kinds[name])


def is_valid(document: Document, value: Any) -> bool:
    return evaluate(document, document.root, value).valid


def evaluate(document: Document, node_id: NodeId, value: Any) -> Outcome:
    node = document.nodes[node_id]
    if node.always is not None:
        return Outcome(node.always)
    out = Outcome(_own(node, value))
    for child in (*node.refs, *node.all_of):
        _require(out, evaluate(document, child, value))
    if node.any_of:
        found = [o for o in (evaluate(document, c, value) for c in node.any_of) if o.valid]
        out.valid &= bool(found)
        for outcome in found:
            out.join(outcome)
    if node.one_of:
        found = [o for o in (evaluate(document, c, value) for c in node.one_of) if o.valid]
        out.valid &= len(found) == 1
        for outcome in found:
            out.join(outcome)
    if node.not_ is not None:
        out.valid &= not evaluate(document, node.not_, value).valid
    if node.if_ is not None:
        test = evaluate(document, node.if_, value)
        if test.valid:
            out.join(test)
        branch = node.then_ if test.valid else node.else_
        if branch is not None:
            _require(out, evaluate(document, branch, value))
    if isinstance(value, list):
        _array(document, node, value, out)
    if isinstance(value, dict):
        _object(document, node, value, out)
    return out


def _require(out: Outcome, other: Outcome) -> None:
    out.valid &= other.valid
    if other.valid:
        out.join(other)


def _own(node: Node, value: Any) -> bool:
    ok = node.types is None or any(has_type(value, name, node.plain_integers) for name in node.types)
    ok &= node.enum is None or any(same(value, member) for member in node.enum)
    ok &= node.const is None or same(value, node.const[0])
    if is_number(value):
        number = exact(value)
        ok &= node.minimum is None or number >= node.minimum
        ok &= node.maximum is None or number <= node.maximum
        ok &= node.exclusive_minimum is None or number > node.exclusive_minimum
        ok &= node.exclusive_maximum is None or number < node.exclusive_maximum
        ok &= node.multiple_of is None or (number / node.multiple_of).denominator == 1
    if isinstance(value, str):
        ok &= node.min_length is None or len(value) >= node.min_length
        ok &= node.max_length is None or len(value) <= node.max_length
        ok &= node.pattern is None or _matches(node.pattern)(value)
    return ok


def _array(document: Document, node: Node, value: list[Any], out: Outcome) -> None:
    out.valid &= node.min_items is None or len(value) >= node.min_items
    out.valid &= node.max_items is None or len(value) <= node.max_items
    if node.unique_items:
        out.valid &= not any(same(a, b) for i, a in enumerate(value) for b in value[:i])
    for index, item in enumerate(value):
        child = node.prefix_items[index] if index < len(node.prefix_items) else node.items
        if child is not None:
            out.valid &= evaluate(document, child, item).valid
            out.items.add(index)
    if node.contains is not None:
        found = [i for i, item in enumerate(value) if evaluate(document, node.contains, item).valid]
        out.valid &= len(found) >= (1 if node.min_contains is None else node.min_contains)
        out.valid &= node.max_contains is None or len(found) <= node.max_contains
        if node.contains_evaluates:
            out.items.update(found)
    if node.unevaluated_items is not None:
        for index in set(range(len(value))) - out.items:
            out.valid &= evaluate(document, node.unevaluated_items, value[index]).valid
            out.items.add(index)


def _object(document: Document, node: Node, value: dict[str, Any], out: Outcome) -> None:
    out.valid &= all(name in value for name in node.required)
    out.valid &= node.min_properties is None or len(value) >= node.min_properties
    out.valid &= node.max_properties is None or len(value) <= node.max_properties
    properties = dict(node.properties)
    for name, member in value.items():
        children = [properties[name]] if name in properties else []
        children += [child for pattern, child in node.pattern_properties if _matches(pattern)(name)]
        if not children and node.additional_properties is not None:
            children = [node.additional_properties]
        for child in children:
            out.valid &= evaluate(document, child, member).valid
            out.members.add(name)
        if node.property_names is not None:
            out.valid &= evaluate(document, node.property_names, name).valid
    for name, needed in node.dependent_required:
        out.valid &= name not in value or all(other in value for other in needed)
    for name, child in node.dependencies:
        out.valid &= name not in value or evaluate(document, child, value).valid
    for name, child in node.dependent_schemas:
        if name in value:
            _require(out, evaluate(document, child, value))
    if node.unevaluated_properties is not None:
        for name in value.keys() - out.members:
            out.valid &= evaluate(document, node.unevaluated_properties, value[name]).valid
            out.members.add(name)
