"""``$ref`` and its kin: what they find, and what is refused, naming the reference."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.document import Document, load
from schemas.document.size import survey
from schemas.errors import SchemaError
from schemas.limits import Limits
from tests.schemas.document.evaluate import is_valid


def holds(schema: Any, *, valid: list[Any], invalid: list[Any]) -> Document:
    document = load(schema)
    assert [value for value in valid if not is_valid(document, value)] == []
    assert [value for value in invalid if is_valid(document, value)] == []
    return document


@pytest.mark.parametrize(
    ("reference", "named"),
    [
        ("http://example.com/other.json", "http://example.com/other.json"),
        ("other.json", "other.json"),
        ("other.json#/definitions/x", "other.json"),
        ("/$defs/N", "/$defs/N"),
        ("#/$defs/Missing", "#/$defs/Missing"),
        ("#nowhere", "nowhere"),
        ("#/$defs/N/type", "#/$defs/N/type"),
        ("file:///etc/passwd", "file:///etc/passwd"),
    ],
)
def test_a_reference_that_cannot_be_resolved_is_refused_by_name(reference: str, named: str) -> None:
    with pytest.raises(SchemaError) as caught:
        load({"properties": {"a/b": {"$ref": reference}}, "$defs": {"N": {"type": "integer"}}})
    assert caught.value.path == "/properties/a~1b"
    assert caught.value.keyword == "$ref"
    assert named in caught.value.reason


def test_the_spelling_without_a_hash_is_explained() -> None:
    with pytest.raises(SchemaError, match=r"'#/\$defs/N'"):
        load({"$ref": "/$defs/N", "$defs": {"N": {"type": "integer"}}})


@pytest.mark.parametrize("reference", [5, None, {"$ref": "#"}, ["#"]])
def test_a_reference_must_be_a_string(reference: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        load({"$ref": reference})
    assert caught.value.keyword == "$ref"


def test_unreachable_references_do_not_matter() -> None:
    holds({"$defs": {"unused": {"$ref": "http://example.com/"}}, "type": "integer"}, valid=[1], invalid=["a"])


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"$ref": "#"}, ""),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"$ref": "#/$defs/n"}}}, "/$defs/n"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "/$defs/b"),
        ({"allOf": [{"$ref": "#"}]}, "/allOf/0"),
        ({"anyOf": [{"type": "string"}, {"$ref": "#"}]}, "/anyOf/1"),
        ({"not": {"$ref": "#"}}, "/not"),
        ({"if": {"$ref": "#"}, "then": True}, "/if"),
        ({"dependentSchemas": {"a": {"$ref": "#"}}}, "/dependentSchemas/a"),
        ({"properties": {"a": {"oneOf": [{"$ref": "#/properties/a"}]}}}, "/properties/a/oneOf/0"),
    ],
)
def test_a_cycle_that_consumes_nothing_is_refused(schema: Any, path: str) -> None:
    with pytest.raises(SchemaError) as caught:
        load(schema)
    assert caught.value.path == path


def test_recursion_through_members_and_items_is_fine() -> None:
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}
    document = holds(tree, valid=[{"children": [{"children": []}]}], invalid=[{"children": [{"children": 1}]}])
    assert len(document.nodes) == 2


def test_a_pointer_may_go_anywhere() -> None:
    schema = {
        "properties": {
            "a": {"type": "integer"},
            "b": {"$ref": "#/properties/a"},
            "c": {"$ref": "#/x-shared/0/the%20one~1two~0"},
            "d": {"$ref": "#/properties/b"},
        },
        "x-shared": [{"the one/two~": {"type": "string"}}],
    }
    holds(schema, valid=[{"a": 1, "b": 2, "c": "x", "d": 3}], invalid=[{"b": "x"}, {"c": 1}, {"d": "x"}])


def test_reference_siblings_count_since_2019_only() -> None:
    schema = {"$ref": "#/definitions/a", "maximum": 5, "definitions": {"a": {"type": "integer"}}}
    holds(schema, valid=[5], invalid=[6, "x"])
    for draft in ("04", "06", "07"):
        holds({"$schema": f"http://json-schema.org/draft-{draft}/schema#", **schema}, valid=[6], invalid=["x"])


def test_definitions_with_an_id_may_be_pointed_to_from_the_root() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema",
        "definitions": {
            "account": {
                "id": "schema/account",
                "definitions": {"mail": {"type": "string"}},
                "properties": {"mail": {"$ref": "#/definitions/account/definitions/mail"}},
            }
        },
        "properties": {"account": {"$ref": "#/definitions/account"}},
    }
    holds(schema, valid=[{"account": {"mail": "x"}}], invalid=[{"account": {"mail": 1}}])


DRAFT7 = {"$schema": "http://json-schema.org/draft-07/schema#"}


@pytest.mark.parametrize(
    ("draft", "named", "reference"),
    [
        ({}, {"$anchor": "x"}, "#x"),
        ({}, {"$dynamicAnchor": "x"}, "#x"),
        ({}, {"$id": "http://e.x/i"}, "http://e.x/i"),
        ({}, {"$id": "http://e.x/i"}, "http://e.x/i#/type"),
        (DRAFT7, {"$id": "#x"}, "#x"),
    ],
)
def test_a_reference_to_one_of_two_of_the_same_name_is_refused(
    draft: dict[str, Any], named: dict[str, Any], reference: str
) -> None:
    """jsonschema-rs takes the last of them, other readers take the first."""
    same = {**draft, "definitions": {"a": {**named, "type": "integer"}, "b": {**named, "type": "integer"}}}
    holds({**same, "items": {"$ref": reference.removesuffix("/type")}}, valid=[[1]], invalid=[["a"]])
    other = {**draft, "definitions": {"a": {**named, "type": "integer"}, "b": {**named, "type": "string"}}}
    load(other)
    with pytest.raises(SchemaError, match="ambiguous") as caught:
        load({**other, "items": {"$ref": reference}})
    assert (caught.value.path, caught.value.keyword) == ("/items", "$ref")


def test_meta_schemas_are_at_hand_whole() -> None:
    for uri in (
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ):
        schema = {"properties": {"s": {"$ref": uri}}}
        nested = {"s": {"properties": {"x": {"items": {"type": "nonsense"}}}}}
        holds(schema, valid=[{"s": {"properties": {"x": {"items": {"type": "string"}}}}}], invalid=[nested])


def test_dynamic_references_are_resolved_per_use() -> None:
    """A generic list, used twice with different items: the node table has two specialised copies of it."""
    schema = {
        "$id": "http://example.com/root",
        "properties": {"numbers": {"$ref": "numbers"}, "strings": {"$ref": "strings"}},
        "$defs": {
            "list": {
                "$id": "list",
                "type": "array",
                "items": {"$dynamicRef": "#item"},
                "$defs": {"any": {"$dynamicAnchor": "item"}},
            },
            "numbers": {
                "$id": "numbers",
                "$ref": "list",
                "$defs": {"item": {"$dynamicAnchor": "item", "type": "number"}},
            },
            "strings": {
                "$id": "strings",
                "$ref": "list",
                "$defs": {"item": {"$dynamicAnchor": "item", "type": "string"}},
            },
        },
    }
    document = holds(schema, valid=[{"numbers": [1], "strings": ["a"]}], invalid=[{"numbers": ["a"]}, {"strings": [1]}])
    assert sum(node.path == "/$defs/list" for node in document.nodes) == 2


def test_an_embedded_resource_has_its_own_draft() -> None:
    schema = {
        "properties": {"old": {"$ref": "http://example.com/old"}},
        "$defs": {
            "old": {
                "$id": "http://example.com/old",
                "$schema": "http://json-schema.org/draft-07/schema#",
                "items": [{"type": "integer"}],
                "additionalItems": False,
                "prefixItems": [{"type": "string"}],
            }
        },
    }
    holds(schema, valid=[{"old": [1]}], invalid=[{"old": ["a"]}, {"old": [1, 2]}])


@pytest.mark.parametrize(
    ("base", "reference", "expected"),
    [
        ("http://a/b/c/d;p?q", "g", ("http://a/b/c/g", "")),
        ("http://a/b/c/d;p?q", "./g", ("http://a/b/c/g", "")),
        ("http://a/b/c/d;p?q", "../../../g", ("http://a/g", "")),
        ("http://a/b/c/d;p?q", "/g", ("http://a/g", "")),
        ("http://a/b/c/d;p?q", "//g", ("http://g", "")),
        ("http://a/b/c/d;p?q", "?y", ("http://a/b/c/d;p?y", "")),
        ("http://a/b/c/d;p?q", "#s%20t", ("http://a/b/c/d;p?q", "s t")),
        ("http://a/b/c/d;p?q", "..", ("http://a/b/", "")),
        ("http://a/b/c/d;p?q", "g:h", ("g:h", "")),
        ("http://a", "b", ("http://a/b", "")),
        ("urn:uuid:deadbeef", "#x", ("urn:uuid:deadbeef", "x")),
        ("", "a/b.json#c", ("a/b.json", "c")),
    ],
)
def test_references_are_resolved_as_rfc_3986_says(base: str, reference: str, expected: tuple[str, str]) -> None:
    from schemas.document.uri import resolve

    assert resolve(base, reference) == expected


@pytest.mark.parametrize(
    "schema",
    [
        {
            "$id": "https://example.com/a",
            "$ref": "#/x/y/properties/z",
            "x": {"y": {"properties": {"z": {"items": {}}}}},
        },
        {"properties": {"a": {"$ref": "#/properties/b/items/0"}, "b": {"items": [{"type": "null"}]}}},
        {"$schema": "http://json-schema.org/draft-04/schema#", "id": "x", "definitions": {"~/": {"$ref": "#"}}},
        {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "http://json-schema.org/draft-07/schema#"}], "$defs": {"a": False}},
    ],
)
def test_without_names_inside_a_scan_finds_nothing_more(schema: dict[str, Any]) -> None:
    assert not survey(schema, Limits()).names_places
    named = schema | {"x-named": {"$anchor": "unused", "id": "unused"}}
    assert survey(named, Limits()).names_places
    assert load(named) == load(schema)


@pytest.mark.parametrize(
    "name",
    [
        {"$id": "b"},
        {"id": "b"},
        {"$anchor": "b"},
        {"$dynamicAnchor": "b"},
        {"$schema": "b", "id": {}},
        {"$schema": "b"},
    ],
)
def test_what_names_a_subschema_is_seen(name: dict[str, Any]) -> None:
    assert survey({"$defs": {"a": {"not": name}}}, Limits()).names_places


def test_the_draft_of_the_root_once_more_is_nothing() -> None:
    draft = {"$schema": "http://json-schema.org/draft-04/schema#"}
    assert not survey({**draft, "$defs": {"a": draft}}, Limits()).names_places
