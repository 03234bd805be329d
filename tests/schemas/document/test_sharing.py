"""Equal subschemas become one node, others do not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from schemas.document import load, shared
from schemas.node import NodeId
from tests.schemas.document.evaluate import evaluate

SHARED = Path(os.environ.get("STRICTCALL_SHARED", Path(__file__).parents[3].parent / "shared"))
SUITE = SHARED / "json-schema-test-suite" / "tests" / "draft2020-12"


def members(schema: Any) -> dict[str, NodeId]:
    document = shared(load(schema))
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
    document = shared(load(tree))
    assert dict(document.nodes[0].properties)["left"] == dict(document.nodes[0].properties)["right"]
    assert evaluate(document, document.root, {"left": {"right": {}}}).valid
    assert not evaluate(document, document.root, {"left": {"right": 1}}).valid


def test_verdicts_stay_as_they_were() -> None:
    if not SUITE.exists():
        pytest.skip(f"{SUITE} is absent: set STRICTCALL_SHARED to the folder that has the test suite")
    checked = 0
    for name in (
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "ref",
        "properties",
        "items",
        "if-then-else",
        "unevaluatedProperties",
    ):
        for case in json.loads((SUITE / f"{name}.json").read_text()):
            if "localhost" in json.dumps(case["schema"]):
                continue
            document = load(case["schema"])
            joined = shared(document)
            for test in case["tests"]:
                checked += 1
                verdict = evaluate(document, document.root, test["data"]).valid
                assert evaluate(joined, joined.root, test["data"]).valid == verdict, (name, case["description"], test)
    assert checked > 200
