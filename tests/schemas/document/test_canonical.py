"""The canonical key: annotations and the order of members do not change it, anything else does."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from schemas.document import load

BASE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "kind": {"enum": ["a", "b", {"x": 1, "y": [1, 2]}]},
        "child": {"$ref": "#/$defs/child"},
    },
    "required": ["name", "kind"],
    "$defs": {"child": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
}


def key(schema: Any) -> str:
    return load(schema).key


def shuffled(value: Any, rng: random.Random) -> Any:
    if isinstance(value, list):
        return [shuffled(child, rng) for child in value]
    if not isinstance(value, dict):
        return value
    items = [(name, shuffled(child, rng)) for name, child in value.items()]
    rng.shuffle(items)
    return dict(items)


@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_members_does_not_matter(seed: int) -> None:
    assert key(shuffled(BASE, random.Random(seed))) == key(BASE)


def test_annotations_do_not_matter() -> None:
    noisy = json.loads(json.dumps(BASE))
    noisy |= {"title": "t", "description": "d", "$comment": "c", "default": {}, "examples": [1], "x-vendor": [1]}
    noisy["properties"]["name"] |= {"description": "the name", "deprecated": True, "readOnly": True}
    noisy["$defs"]["unused"] = {"type": "integer"}
    assert key(noisy) == key(BASE)


def test_the_order_of_required_and_enum_does_not_matter() -> None:
    assert key({"required": ["a", "b"], "enum": [1, 2]}) == key({"required": ["b", "a"], "enum": [2, 1]})


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"type": "string"}, {"type": "integer"}),
        ({"minimum": 1}, {"exclusiveMinimum": 1}),
        ({"const": 1}, {"const": True}),
        ({"const": "1"}, {"const": 1}),
        ({"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}),
        ({"prefixItems": [{"type": "string"}, {}]}, {"prefixItems": [{}, {"type": "string"}]}),
        ({"anyOf": [{"type": "string"}]}, {"oneOf": [{"type": "string"}]}),
        ({"if": {}, "then": {"type": "null"}}, {"if": {}, "else": {"type": "null"}}),
        ({"items": {"type": "string"}}, {"contains": {"type": "string"}}),
        ({}, True),
        (True, False),
        ({"type": "integer"}, {"type": "integer", "$schema": "http://json-schema.org/draft-04/schema#"}),
    ],
)
def test_what_matters_does(a: Any, b: Any) -> None:
    assert key(a) != key(b)
