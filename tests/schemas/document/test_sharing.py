"""Equal subschemas become one node, others do not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from schemas.document import load, resources
from schemas.node import NodeId
from tests.schemas.document.evaluate import evaluate

SHARED = Path(os.environ.get("STRICTCALL_SHARED", Path(__file__).parents[3].parent / "shared"))
SUITE = SHARED / "json-schema-test-suite" / "tests" / "draft2020-12"


def members(schema: Any) -> dict[str, NodeId]:
    document = load(schema)
    return dict(document.nodes[document.root].properties)


def test_equal_subschemas_are_one_node_the_first() -> None:
    deep = {"type": "object", "properties": {"x": {"minimum": 1}, "y": {"items": {"type": "string"}}}}
    found = members(
        {
            "properties": {"a": deep, "b": {"description": "again", **deep}, "c": {"$ref": "#/$defs/d"}},
            "$defs": {"d": deep},
        }
    )
    assert found["a"] == found["b"] == found["c"] == 1


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"const": 1}, {"const": True}),
        ({"enum": [0]}, {"enum": [False]}),
        ({"const": [1]}, {"const": [1.5]}),
        ({"minimum": 1}, {"exclusiveMinimum": 1}),
        ({"minLength": 1}, {"minItems": 1}),
        ({"properties": {"x": {"type": "null"}}}, {"properties": {"y": {"type": "null"}}}),
        ({"allOf": [{"type": "null"}]}, {"anyOf": [{"type": "null"}]}),
        ({"prefixItems": [{"type": "null"}, {}]}, {"prefixItems": [{}, {"type": "null"}]}),
        ({"enum": []}, {}),
    ],
)
def test_different_subschemas_stay_two(left: Any, right: Any) -> None:
    found = members({"properties": {"a": left, "b": right}})
    assert found["a"] != found["b"]


def test_recursion_stays() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}
    document = load(tree)
    assert dict(document.nodes[0].properties)["left"] == dict(document.nodes[0].properties)["right"]
    assert evaluate(document, document.root, {"left": {"right": {}}}).valid
    assert not evaluate(document, document.root, {"left": {"right": 1}}).valid


def test_a_reference_that_leads_forward_or_back_is_its_target() -> None:
    found = members(
        {
            "properties": {"a": {"properties": {"x": {"minimum": 1}}}, "b": {"$ref": "#/properties/a/properties/x"}},
            "patternProperties": {"c": {"$ref": "#/properties/b"}},
            "additionalProperties": {"minimum": 1},
        }
    )
    document = load({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}})
    assert found == {"a": 1, "b": 2}
    assert [node.path for node in document.nodes] == ["", "/$defs/a"]
    assert document.nodes[1].items == 1


def test_recursive_subschemas_are_compared_as_deep_as_they_differ() -> None:
    def chain(last: str, name: str) -> dict[str, Any]:
        """Three that refer to each other in a ring; one of them says something of its own."""
        ring = {f"{name}{n}": {"items": {"$ref": f"#/$defs/{name}{(n + 1) % 3}"}} for n in range(3)}
        ring[f"{name}2"] |= {"maxItems": 1, "description": last} if last else {}
        return ring

    definitions = chain("x", "a") | chain("y", "b") | chain("", "c")
    found = members({"properties": {name: {"$ref": f"#/$defs/{name}"} for name in definitions}, "$defs": definitions})
    assert [found[f"a{n}"] for n in range(3)] == [found[f"b{n}"] for n in range(3)]
    assert len(set(found.values())) == 4


def test_a_long_chain_of_references_and_a_long_ring_end_soon() -> None:
    chain: dict[str, Any] = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(5_000)}
    assert len(load({"items": {"$ref": "#/$defs/d0"}, "$defs": chain | {"d5000": {"type": "null"}}}).nodes) == 2
    ring: dict[str, Any] = {f"d{n}": {"items": {"$ref": f"#/$defs/d{(n + 1) % 2000}"}} for n in range(2_000)}
    ring["d7"] |= {"maxItems": 2}
    assert len(load({"$ref": "#/$defs/d0", "$defs": ring}).nodes) == 2_000


def test_equal_texts_make_no_other_nodes_than_equal_subschemas(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the texts find is a part of what is joined anyway, the paths included."""
    if not SUITE.exists():
        pytest.skip(f"{SUITE} is absent: set STRICTCALL_SHARED to the folder that has the test suite")
    groups = [group for name in sorted(SUITE.glob("*.json")) for group in json.loads(name.read_text())]
    schemas = [group["schema"] for group in groups if "localhost" not in json.dumps(group["schema"])]
    schemas.append({"properties": {name: {"items": {"items": {"type": "null"}}} for name in "abc"}})
    documents = [load(schema) for schema in schemas]
    monkeypatch.setattr(resources, "MAX_TEXT", 0)
    assert [load(schema) for schema in schemas] == documents
    assert len(documents) > 300
