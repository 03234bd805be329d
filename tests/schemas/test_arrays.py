"""Arrays: prefixes, counts, contains and finite uniqueness."""

from __future__ import annotations

import itertools
import json
from typing import Any

import jsonschema_rs
import pytest

from tests.schemas.acceptance import Grammar, walk_faults

SCHEMAS: list[dict[str, Any]] = [
    {"prefixItems": [{"const": 1}, {"type": "string"}], "items": {"const": 2}},
    {"prefixItems": [{"const": 1}, False]},
    {"prefixItems": [{"const": 1}], "items": False, "minItems": 1},
    {"items": {"enum": [1, 2]}, "minItems": 1, "maxItems": 2},
    {"items": False},
    {"contains": {"const": 1}},
    {"contains": {"const": 1}, "minContains": 2, "maxContains": 2},
    {"contains": {"const": 1}, "minContains": 0, "maxContains": 1},
    {"contains": {"type": "integer"}, "maxContains": 2, "maxItems": 3, "prefixItems": [{"type": "string"}]},
    {
        "allOf": [{"contains": {"const": 1}}, {"contains": {"const": 2}}, {"contains": {"type": "string"}}],
        "maxItems": 3,
    },
    {"not": {"items": {"const": 1}}},
    {"not": {"contains": {"const": 1}}},
    {"items": {"enum": [1, 2, "a"]}, "uniqueItems": True},
    {"items": {"enum": [1, 1.0, 2]}, "uniqueItems": True, "minItems": 2},
    {"oneOf": [{"items": {"enum": [1, 2]}}, {"items": {"enum": [2, "a"]}}]},
    {"prefixItems": [{"const": 1}], "anyOf": [{"prefixItems": [True, {"const": 2}]}, True], "unevaluatedItems": False},
    {"contains": {"const": 1}, "unevaluatedItems": {"const": "a"}},
    {"enum": [[], [1], [1, [2]]]},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: json.dumps(schema)[:60])
def test_all_short_arrays(schema: dict[str, Any]) -> None:
    schema = {"type": "array", **schema}
    grammar, judge = Grammar(schema), jsonschema_rs.validator_for(schema)
    assert grammar.compiled.guarantee == "exact"
    for length in range(5):
        for value in itertools.product([1, 2, "a"], repeat=length):
            assert grammar.takes(json.dumps(value, separators=(",", ":"))) is judge.is_valid(list(value)), value
    assert walk_faults(grammar.compiled, 10) == []


def test_large_counts_stay_small() -> None:
    grammar = Grammar({"type": "array", "minItems": 3, "maxItems": 10**9, "items": {"type": "null"}})
    assert len(grammar.compiled.grammar) < 1000
    assert grammar.takes("[null,null,null,null]")
    assert not grammar.takes("[null,null]")


def test_uniqueness_of_free_items_is_residue() -> None:
    compiled = Grammar({"type": "array", "items": {"type": "string"}, "uniqueItems": True}).compiled
    assert [(r.path, r.keyword) for r in compiled.residue] == [("", "uniqueItems")]
    assert Grammar({"type": "array", "uniqueItems": True, "maxItems": 1}).compiled.residue == []


@pytest.mark.parametrize(
    "schema", [{"maxItems": 1000}, {"minItems": 800, "maxItems": 1000, "prefixItems": [{"const": 5}]}]
)
def test_matches_that_make_rules_too_deep_are_checked(schema: dict[str, Any]) -> None:
    counted = {"type": "array", "items": {"enum": [5, 6]}, "contains": {"const": 5}, "maxContains": 2, **schema}
    grammar = Grammar({"properties": {"a": {"items": counted}}, "required": ["a"], "type": "object"})
    assert [(r.path, r.keyword) for r in grammar.compiled.residue] == [("/properties/a/items", "contains")]
    fits = [5, *[6] * 899]
    assert grammar.allows({"a": [fits, [*fits[:899], 5]]})
    assert not grammar.allows({"a": [[5, 5, *fits]]})
    assert not grammar.takes(json.dumps({"a": [[5] * 1001]}, separators=(",", ":")))
