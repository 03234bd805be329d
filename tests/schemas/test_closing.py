"""``undeclared="forbid"`` closes objects that declare properties, cluster by cluster, and never widens."""

from __future__ import annotations

from typing import Any

import pytest

from schemas import compile_schema
from tests.schemas.acceptance import Grammar

OBJECT: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}


def closed(schema: dict[str, Any]) -> Grammar:
    return Grammar(schema, undeclared="forbid")


CASES: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    ("declared", OBJECT, ["{}", '{"a":1}'], ['{"b":1}', '{"a":1,"b":1}']),
    ("nothing declared", {"type": "object"}, ['{"b":1}'], []),
    ("said otherwise", OBJECT | {"additionalProperties": {"type": "null"}}, ['{"b":null}'], ['{"b":1}']),
    ("required only", OBJECT | {"required": ["b"]}, ['{"b":[1]}', '{"a":1,"b":0}'], ['{"a":1}', '{"b":1,"c":1}']),
    ("nested", {"properties": {"o": OBJECT}, "type": "object"}, ['{"o":{"a":1}}'], ['{"o":{"b":1}}', '{"p":1}']),
    ("in items", {"type": "array", "items": OBJECT}, ['[{"a":1}]'], ['[{"b":1}]']),
    (
        "allOf together",
        {"type": "object", "allOf": [OBJECT, {"properties": {"b": {"type": "null"}}}]},
        ['{"a":1,"b":null}'],
        ['{"c":1}'],
    ),
    (
        "$ref together",
        {"$ref": "#/$defs/x", "properties": {"b": {"type": "null"}}, "$defs": {"x": OBJECT}},
        ['{"a":1,"b":null}'],
        ['{"c":1}'],
    ),
    (
        "anyOf: names of the branches that hold",
        {"type": "object", "anyOf": [OBJECT | {"required": ["a"]}, {"properties": {"b": {"type": "null"}}}]},
        ['{"a":1}', '{"b":null}', '{"a":1,"b":null}'],
        ['{"c":1}', '{"b":1}'],
    ),
    (
        "a free branch stays free",
        {"anyOf": [OBJECT | {"required": ["a"]}, {"type": "object", "required": ["free"]}]},
        ['{"a":1}', '{"free":1,"x":2}'],
        ['{"a":1,"x":2}'],
    ),
    ("pattern", OBJECT | {"patternProperties": {"^x-": True}}, ['{"a":1,"x-b":0}'], ['{"b":0}']),
    (
        "what is excluded is read as written",
        OBJECT | {"not": {"properties": {"a": {"const": 1}}}},
        ['{"a":2}'],
        ['{"a":1}', '{"b":1}'],
    ),
    (
        "recursive",
        {"properties": {"next": {"$ref": "#"}, "v": {"type": "integer"}}, "type": "object"},
        ['{"next":{"v":1}}'],
        ['{"next":{"w":1}}'],
    ),
    ("demands more than it declares", OBJECT | {"minProperties": 2}, ['{"a":1,"b":2}'], ['{"a":1}']),
    ("nothing would be left", OBJECT | {"enum": [{"b": 1}]}, ['{"b":1}'], ["{}"]),
]


@pytest.mark.parametrize(("schema", "good", "bad"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_closing(schema: dict[str, Any], good: list[str], bad: list[str]) -> None:
    grammar = closed(schema)
    assert [text for text in good if not grammar.takes(text)] == []
    assert [text for text in bad if grammar.takes(text)] == []


def test_the_default_is_the_schema_as_written() -> None:
    assert Grammar(OBJECT).takes('{"b":1}')


ALL_CLOSED: list[tuple[str, dict[str, Any], bool]] = [
    ("with members of other types", OBJECT | {"required": ["a"]}, True),
    ("nested", {"properties": {"o": OBJECT, "s": {"type": "string"}}, "type": "object"}, True),
    ("nothing to close", {"type": "object"}, True),
    ("demands more than it declares", OBJECT | {"minProperties": 2}, False),
    ("nested, demands more", {"properties": {"o": OBJECT | {"minProperties": 2}}}, False),
    ("a branch that declares nothing", {"anyOf": [OBJECT, {"required": ["free"]}]}, False),
    ("a pattern makes room", {"allOf": [OBJECT, {"patternProperties": {"^x": {}}, "minProperties": 9}]}, True),
]


@pytest.mark.parametrize(("schema", "all_closed"), [c[1:] for c in ALL_CLOSED], ids=[c[0] for c in ALL_CLOSED])
def test_whether_all_is_closed_is_said(schema: dict[str, Any], all_closed: bool) -> None:
    assert compile_schema(schema, undeclared="forbid").closed is all_closed
    assert not compile_schema(schema).closed
