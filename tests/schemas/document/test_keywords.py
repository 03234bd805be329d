"""Keyword values: drafts normalised, wrong types refused with pointer, keyword and reason."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import jsonschema_rs
import pytest

from schemas.document import load, validator_for
from schemas.errors import SchemaError
from schemas.node import Node
from tests.schemas.acceptance import Grammar
from tests.schemas.document.evaluate import is_valid

DRAFT4 = "http://json-schema.org/draft-04/schema#"
DRAFT7 = "http://json-schema.org/draft-07/schema#"
DRAFT2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT2020 = "https://json-schema.org/draft/2020-12/schema"


def root(schema: Any) -> Node:
    return load(schema).nodes[0]


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("minimum", "a"),
        ("minimum", True),
        ("minimum", None),
        ("exclusiveMinimum", True),
        ("multipleOf", 0),
        ("multipleOf", -1),
        ("minLength", -1),
        ("maxLength", 1.5),
        ("minItems", "1"),
        ("uniqueItems", "true"),
        ("pattern", 3),
        ("format", 3),
        ("type", "foo"),
        ("type", []),
        ("type", ["string", 3]),
        ("type", None),
        ("enum", "a"),
        ("required", "a"),
        ("required", True),
        ("required", ["a", 1]),
        ("properties", []),
        ("patternProperties", None),
        ("additionalProperties", "no"),
        ("items", "string"),
        ("prefixItems", {}),
        ("allOf", {}),
        ("anyOf", []),
        ("not", []),
        ("if", 1),
        ("dependentRequired", {"a": "b"}),
        ("dependencies", {"a": "b"}),
        ("propertyNames", 1),
        ("$schema", 5),
        ("$anchor", 5),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(keyword: str, value: Any) -> None:
    for path, schema in (("", {keyword: value}), ("/properties/x~1y", {"properties": {"x/y": {keyword: value}}})):
        if keyword == "$schema" and path:
            continue
        with pytest.raises(SchemaError) as caught:
            load(schema)
        assert caught.value.path == path
        assert caught.value.keyword.split("/")[0] == keyword
        assert caught.value.reason


def test_a_member_that_is_no_schema_is_named() -> None:
    with pytest.raises(SchemaError) as caught:
        load({"properties": {"a": {"anyOf": [{}, "string"]}}})
    assert (caught.value.path, caught.value.keyword) == ("/properties/a", "anyOf/1")


def test_draft_3_required_is_explained() -> None:
    with pytest.raises(SchemaError, match="draft 3"):
        load({"properties": {"a": {"type": "string", "required": True}}})


@pytest.mark.parametrize("schema", [None, 1, "string", [], [{}]])
def test_a_document_is_an_object_or_a_boolean(schema: Any) -> None:
    with pytest.raises(SchemaError):
        load(schema)


def test_booleans() -> None:
    assert root(True).always is True
    assert root(False).always is False
    assert root({}).always is None


@pytest.mark.parametrize("value", [2, 2.0])
def test_counts_may_be_written_as_floats(value: Any) -> None:
    assert root({"minLength": value}).min_length == 2


def test_numbers_are_what_the_text_says() -> None:
    assert root({"multipleOf": 0.1}).multiple_of == Fraction(1, 10)
    assert root({"minimum": 1e-7}).minimum == Fraction(1, 10**7)
    assert root({"maximum": 10**30}).maximum == 10**30
    assert root({"maximum": 1e30}).maximum == int(1e30)


def test_draft_4_exclusive_bounds() -> None:
    node = root({"$schema": DRAFT4, "minimum": 1, "exclusiveMinimum": True, "maximum": 2, "exclusiveMaximum": False})
    assert (node.minimum, node.exclusive_minimum) == (None, 1)
    assert (node.maximum, node.exclusive_maximum) == (2, None)
    with pytest.raises(SchemaError):
        load({"$schema": DRAFT4, "exclusiveMinimum": True})
    with pytest.raises(SchemaError):
        load({"$schema": DRAFT4, "exclusiveMinimum": 1})


def test_draft_4_integers_are_spelled_plainly() -> None:
    assert root({"$schema": DRAFT4, "type": "integer"}).plain_integers
    assert not root({"$schema": DRAFT7, "type": "integer"}).plain_integers


@pytest.mark.parametrize("dialect", [DRAFT4, DRAFT7, None])
def test_tuples_written_as_items(dialect: str | None) -> None:
    schema: dict[str, Any] = {"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}
    if dialect:
        schema["$schema"] = dialect
    document = load(schema)
    assert len(document.nodes[0].prefix_items) == 2
    judge = validator_for(schema)
    for value, valid in ((["a", 1], True), (["a"], True), ([1, "a"], False), (["a", 1, 2], False)):
        assert is_valid(document, value) is valid
        assert judge.is_valid(value) is valid


def test_additional_items_without_a_tuple_say_nothing() -> None:
    assert root({"$schema": DRAFT7, "additionalItems": False}).items is None
    assert root({"prefixItems": [{}], "additionalItems": False}).items is None


def test_keywords_of_other_drafts_are_annotations() -> None:
    assert root({"$schema": DRAFT4, "const": 1}).const is None
    assert root({"$schema": DRAFT4, "if": False, "then": False}).if_ is None
    assert root({"$schema": DRAFT7, "prefixItems": [False]}).prefix_items == ()
    assert root({"$schema": DRAFT7, "dependentRequired": {"a": ["b"]}}).dependent_required == ()
    assert root({"$schema": DRAFT7, "minContains": 2, "contains": {}}).min_contains is None


def test_dependencies_are_split_in_every_draft() -> None:
    for dialect in (DRAFT4, DRAFT7, "https://json-schema.org/draft/2020-12/schema"):
        node = root({"$schema": dialect, "dependencies": {"a": ["b", "c"], "d": {"required": ["e"]}}})
        assert node.dependent_required == (("a", ("b", "c")),)
        assert [name for name, _ in (*node.dependencies, *node.dependent_schemas)] == ["d"]


@pytest.mark.parametrize("dialect", [DRAFT2019, DRAFT2020])
def test_the_old_dependencies_evaluate_nothing(dialect: str) -> None:
    """As jsonschema-rs reads them; the two drafts do not say."""
    inner = {"a": {"properties": {"a": {}, "b": {}}}}
    shut = {"$schema": dialect, "unevaluatedProperties": False, "properties": {"c": {}}}
    for keyword, takes in (("dependencies", False), ("dependentSchemas", True)):
        schema = {**shut, keyword: inner}
        assert is_valid(load(schema), {"a": 1, "b": 2}) is takes
        assert jsonschema_rs.is_valid(schema, {"a": 1, "b": 2}) is takes
        assert Grammar(schema).takes('{"a":1,"b":2}') is takes
    closed = Grammar({"$schema": dialect, "properties": {"a": {}}, "dependencies": inner}, undeclared="forbid")
    assert [closed.takes(text) for text in ('{"a":1,"b":2}', '{"b":2}', '{"c":3}')] == [True, False, False]


def test_contains_counts_need_contains() -> None:
    node = root({"minContains": 2, "maxContains": 3})
    assert (node.contains, node.min_contains, node.max_contains) == (None, None, None)


def test_contains_evaluates_since_2020_12() -> None:
    assert root({"contains": {}}).contains_evaluates
    assert not root({"$schema": "https://json-schema.org/draft/2019-09/schema", "contains": {}}).contains_evaluates


def test_then_needs_if() -> None:
    node = root({"then": False, "else": False})
    assert (node.if_, node.then_, node.else_) == (None, None, None)


def test_unknown_keywords_are_annotations() -> None:
    assert root({"nullable": True, "x-order": 3, "discriminator": {"propertyName": "t"}}) == Node(path="")


def test_dialects() -> None:
    for uri in ("http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema#"):
        assert root({"$schema": uri, "prefixItems": [False]}).prefix_items == ()
    with pytest.raises(SchemaError) as caught:
        load({"$schema": "http://example.com/dialect", "minimum": 1})
    assert caught.value.keyword == "$schema"


def test_nodes_are_in_a_fixed_order() -> None:
    schema = {"properties": {"b": {"type": "string"}, "a": {"items": {}}}, "anyOf": [{}, {"$ref": "#/properties/a"}]}
    paths = [node.path for node in load(schema).nodes]
    # What refers to another one is no node of its own, and the items are as the first of anyOf.
    assert paths == ["", "/properties/a", "/properties/b", "/anyOf/0"]


def test_the_judge_explains_what_the_root_does_not_reach() -> None:
    with pytest.raises(SchemaError) as caught:
        validator_for({"$defs": {"a": {"type": "foo"}}})
    assert (caught.value.path, caught.value.keyword) == ("/$defs/a", "type")


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("^[[a-z]*]$", ["]", "a]", "[]"], ["a", ""]),
        ("^a]$", ["a]"], ["a"]),
        (r"^\{\{.+}}$", ["{{x}}"], ["{{x}"]),
        ("^{a}$", ["{a}"], ["a"]),
        (r"^\p{L}{2}[{}]]$", ["ab{]", "éa}]"], ["a{]", "ab{"]),
    ],
)
def test_the_judge_takes_brackets_for_themselves(pattern: str, matching: list[str], other: list[str]) -> None:
    for schema, wrap in (
        ({"pattern": pattern}, lambda s: s),
        ({"patternProperties": {pattern: {"type": "null"}}, "additionalProperties": False}, lambda s: {s: None}),
    ):
        judge = validator_for(schema)
        assert all(judge.is_valid(wrap(text)) for text in matching)
        assert not any(judge.is_valid(wrap(text)) for text in other)
