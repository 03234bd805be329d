"""``$schema`` in a subschema without ``$id``, which all drafts forbid: what some readers heed, the grammar holds."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from schemas import SchemaError, compile_schema
from tests.schemas.acceptance import Grammar

DRAFT4 = "http://json-schema.org/draft-04/schema#"
DRAFT6 = "http://json-schema.org/draft-06/schema#"
DRAFT7 = "http://json-schema.org/draft-07/schema#"
DRAFT2020 = "https://json-schema.org/draft/2020-12/schema"
ROOTS: list[dict[str, Any]] = [{}, *({"$schema": uri} for uri in (DRAFT4, DRAFT6, DRAFT7, DRAFT2020))]
INNER: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"$schema": DRAFT4, "type": "integer"}, [1], [1.0, "a"]),
    ({"$schema": DRAFT4, "items": {"type": "integer"}}, [[1]], [[1.0]]),
    ({"$schema": DRAFT2020, "const": 1}, [1], [2]),
    ({"$schema": DRAFT2020, "prefixItems": [{"type": "string"}]}, [["a"]], [[2]]),
    ({"$schema": DRAFT2020, "$ref": "#/definitions/low", "maximum": 3}, [2], [5, "a"]),
    ({"$schema": DRAFT6, "contains": {"type": "integer"}, "minContains": 0}, [[1]], [["a"]]),
    ({"$schema": "urn:unheard-of", "type": "integer"}, [1], ["a"]),
]


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: str(root.get("$schema")))
@pytest.mark.parametrize(("inner", "valid", "invalid"), INNER, ids=lambda part: json.dumps(part)[:60])
def test_the_grammar_takes_nothing_that_the_check_refuses(
    root: dict[str, Any], inner: dict[str, Any], valid: list[Any], invalid: list[Any]
) -> None:
    schema = {**root, "definitions": {"low": {"type": "integer"}}, "properties": {"a": inner}}
    grammar, check = Grammar(schema), jsonschema_rs.validator_for(schema, offline=True)
    for value in (*valid, *invalid):
        took = grammar.takes(json.dumps({"a": value}, separators=(",", ":")))
        assert took <= check.is_valid({"a": value}), value
        assert took == (value in valid and json.dumps(value) in map(json.dumps, valid)), value


@pytest.mark.parametrize("place", ["#/definitions/x", "#/definitions/x/properties/b"])
def test_a_reference_goes_to_the_draft_that_is_named_there(place: str) -> None:
    inner = {"$schema": DRAFT4, "type": "integer", "properties": {"b": {"type": "integer"}}}
    grammar = Grammar({"$ref": place, "definitions": {"x": inner}})
    assert [grammar.takes(text) for text in ("1", "1.0")] == [True, False]


def test_an_older_draft_inside_a_newer_one_takes_nothing_away() -> None:
    grammar = Grammar({"items": {"$schema": DRAFT7, "dependentRequired": {"x": ["y"]}}})
    assert [grammar.takes(text) for text in ('[{"x":1,"y":2}]', '[{"x":1}]')] == [True, False]


def test_a_draft_that_is_no_string_is_refused_where_it_stands() -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema({"properties": {"a": {"$schema": 5}}})
    assert (caught.value.path, caught.value.keyword) == ("/properties/a", "$schema")
