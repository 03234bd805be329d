"""Which repeated keys a grammar must hold apart: those that the schema declares for that very object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

Json: TypeAlias = Any

_OLD = re.compile(r"draft-0[467]")


class Pairs(list[tuple[str, Json]]):
    """An object's members in the order and number in which they were written."""


def repeated_keys(tree: Json) -> list[str]:
    """Keys that come twice in one object, wherever, each once."""
    return sorted({key for pairs, _ in _objects(tree, [], {}) for key in _twice(pairs)})


def repeated_declared_keys(tree: Json, schema: Json) -> list[str]:
    """Those of ``repeated_keys`` that a subschema which surely applies to their object has under ``properties``.

    The branches of ``anyOf``, ``oneOf`` and the like are left out: where another branch lets the key be a free one, a
    repeated one does no harm. References other than local pointers are not followed.
    """
    found: set[str] = set()
    for pairs, nodes in _objects(tree, [schema], schema):
        twice = _twice(pairs)
        if twice:
            found.update(key for node in nodes for key in twice & set(_keyword(node, "properties")))
    return sorted(found)


def _twice(pairs: Pairs) -> set[str]:
    seen: set[str] = set()
    return {key for key, _ in pairs if key in seen or seen.add(key)}  # type: ignore[func-returns-value]


def _objects(tree: Json, schemas: Iterable[Json], root: Json) -> Iterator[tuple[Pairs, list[dict[str, Json]]]]:
    if isinstance(tree, Pairs):
        nodes = _in_place(schemas, root)
        yield tree, nodes
        for key, item in tree:
            yield from _objects(item, [s for node in nodes for s in _of_member(node, key)], root)
    elif isinstance(tree, list):
        nodes = _in_place(schemas, root)
        for index, item in enumerate(tree):
            yield from _objects(item, [s for node in nodes for s in _of_item(node, index)], root)


def _in_place(schemas: Iterable[Json], root: Json) -> list[dict[str, Json]]:
    """The subschemas and all that they apply to the same value without a condition."""
    # Up to draft 7 what stands beside a $ref does not count.
    alone = isinstance(root, dict) and _OLD.search(str(root.get("$schema"))) is not None
    found: dict[int, dict[str, Json]] = {}
    queue = list(schemas)
    followed: set[int] = set()
    while queue:
        node = queue.pop()
        if not isinstance(node, dict) or id(node) in followed:
            continue
        followed.add(id(node))
        references = [node.get(keyword) for keyword in ("$ref", "$dynamicRef", "$recursiveRef")]
        if alone and isinstance(references[0], str):
            queue.append(_target(root, references[0]))
            continue
        found[id(node)] = node
        queue.extend(node.get("allOf") or ())
        queue.extend(_target(root, reference) for reference in references if isinstance(reference, str))
    return list(found.values())


def _target(root: Json, reference: str) -> Json:
    if reference != "#" and not reference.startswith("#/"):
        return None
    node = root
    for step in reference.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and step.isdigit() and int(step) < len(node):
            node = node[int(step)]
        else:
            node = node.get(step) if isinstance(node, dict) else None
    return node


def _of_member(node: dict[str, Json], key: str) -> Iterator[Json]:
    if key in _keyword(node, "properties"):
        yield node["properties"][key]
    for pattern, schema in _keyword(node, "patternProperties").items():
        if _matches(pattern, key):
            yield schema
    yield node.get("additionalProperties")
    yield node.get("unevaluatedProperties")


def _of_item(node: dict[str, Json], index: int) -> Iterator[Json]:
    for keyword in ("items", "prefixItems"):
        if isinstance(tuple_ := node.get(keyword), list) and index < len(tuple_):
            yield tuple_[index]
    for keyword in ("items", "additionalItems", "unevaluatedItems"):
        yield node.get(keyword)


def _matches(pattern: str, key: str) -> bool:
    try:
        return re.search(pattern, key) is not None
    except re.error:
        return True


def _keyword(node: dict[str, Json], keyword: str) -> dict[str, Json]:
    value = node.get(keyword)
    return value if isinstance(value, dict) else {}
