"""What a tool's parameters become: an object schema, exactly ``{}`` where nothing is declared, or a refusal."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from decoding import Tool, ToolChoice, argument_schema, tool_choice_from_wire, tool_from_wire
from decoding.tools import declares_nothing
from schemas import SchemaError, compile_schema
from tests.decoding.support import accepts, wire

NOTHING: list[Any] = [
    {},
    {"type": "object"},
    {"type": "object", "properties": {}},
    {"type": "object", "properties": {}, "additionalProperties": False, "required": []},
    {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {}}}},
    {"allOf": [{"type": "object"}, {"description": "nothing"}]},
    {"anyOf": [{"type": "object"}, {"type": "null"}]},
    {"type": ["object", "null"], "title": "Args", "unevaluatedProperties": False},
]

SOMETHING: list[Any] = [
    {"properties": {"a": {}}},
    {"required": ["a"]},
    {"patternProperties": {"^x": {}}},
    {"additionalProperties": True},
    {"additionalProperties": {"type": "string"}},
    {"minProperties": 1},
    {"type": "object", "unevaluatedProperties": {"type": "integer"}},
    {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {}}}}},
    {"allOf": [{"type": "object"}, {"anyOf": [{"$ref": "#/$defs/A"}]}], "$defs": {"A": {"required": ["a"]}}},
    {"if": {"properties": {"a": {}}}},
    {"not": {"required": ["a"]}},
    {"dependentRequired": {"a": ["b"]}},
    {"dependentSchemas": {"a": {}}},
    {"enum": [{}, {"a": 1}]},
    {"propertyNames": {"maxLength": 3}},
    {"$ref": "https://example.com/schema"},
    {"$ref": "#/$defs/missing"},
    {"type": "string"},
]


@pytest.mark.parametrize("schema", NOTHING, ids=str)
def test_declares_nothing(schema: dict[str, Any]) -> None:
    assert declares_nothing(schema)
    grammar = compile_schema(argument_schema(schema)).grammar
    assert accepts(grammar, "{}")
    assert not any(accepts(grammar, text) for text in ("{ }", '{"a":1}', "null", ""))


@pytest.mark.parametrize("schema", SOMETHING, ids=str)
def test_declares_something(schema: dict[str, Any]) -> None:
    assert not declares_nothing(schema)


def test_no_parameters_are_no_arguments() -> None:
    for tool in (wire("a"), {"type": "function", "function": {"name": "a"}}):
        grammar = tool_from_wire(tool).compiled.grammar
        assert accepts(grammar, "{}")
        assert not any(accepts(grammar, text) for text in ("{ }", '{"a":1}', "null", ""))


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"properties": {"a": {"type": "integer"}}}, ['{"a":1}', "{}"], ["1", "null", '"a"', "[]"]),
        ({"type": ["object", "null", "string"], "properties": {"a": {}}}, ['{"a":1}'], ["null", '"a"']),
        (
            {"anyOf": [{"type": "string"}, {"properties": {"a": {}}, "required": ["a"]}]},
            ['{"a":1}'],
            ['"a"', "1", "{}"],
        ),
        ({"enum": [1, {"a": 1}, "x"]}, ['{"a":1}'], ["1", '"x"']),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "$ref": "#/definitions/A",
                "definitions": {"A": {"anyOf": [{"type": "integer"}, {"properties": {"a": {"type": "integer"}}}]}},
            },
            ['{"a":1}', "{}"],
            ["1", '{"a":"x"}'],
        ),
        ({"additionalProperties": {"type": "integer"}}, ["{}", '{"a":1}'], ["1", '{"a":"x"}']),
    ],
    ids=str,
)
def test_the_root_is_intersected_with_object(schema: dict[str, Any], good: list[str], bad: list[str]) -> None:
    grammar = compile_schema(argument_schema(schema)).grammar
    assert all(accepts(grammar, text) for text in good)
    assert not any(accepts(grammar, text) for text in bad)


def test_a_root_that_refers_to_itself() -> None:
    """Only the root has to be an object: what refers to it keeps its own meaning."""
    schema = {"anyOf": [{"type": "integer"}, {"properties": {"next": {"$ref": "#"}}, "required": ["next"]}]}
    narrowed = argument_schema(schema)
    validator = jsonschema_rs.validator_for(narrowed, offline=True)
    assert validator.is_valid({"next": 1})
    assert validator.is_valid({"next": {"next": 1}})
    assert not validator.is_valid(1)
    grammar = compile_schema(narrowed).grammar
    assert accepts(grammar, '{"next":1}')
    assert not accepts(grammar, "1")


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": ["null", "array"]}, False], ids=str)
def test_nothing_left_is_refused(schema: Any) -> None:
    with pytest.raises(SchemaError):
        argument_schema(schema)


@pytest.mark.parametrize(
    "schema", [{"$ref": "#"}, {"$ref": "#/$defs/n", "$defs": {"n": {"$ref": "#/$defs/n"}}}, {"type": 3}], ids=str
)
def test_a_faulty_schema_that_declares_nothing_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        compile_schema(argument_schema(schema))


def test_deep_schemas_are_no_accident() -> None:
    arrays: dict[str, Any] = {"type": "string"}
    branches: dict[str, Any] = {"type": "object"}
    for _ in range(10_000):
        arrays, branches = {"type": "array", "items": arrays}, {"allOf": [branches]}
    for deep in ({"properties": {"a": arrays}}, branches):
        assert argument_schema(deep)["type"] == "object"
        with pytest.raises(SchemaError, match="limit"):
            tool_from_wire({"type": "function", "function": {"name": "deep", "parameters": deep}})


def test_nothing_left_behind_a_reference_is_refused() -> None:
    with pytest.raises(SchemaError):
        compile_schema(argument_schema({"$ref": "#/$defs/A", "$defs": {"A": {"type": "string"}}}))


def test_undeclared_keys() -> None:
    tool = wire("a", {"x": {"type": "integer"}})
    assert not accepts(tool_from_wire(tool).compiled.grammar, '{"x":1,"y":2}')
    assert accepts(tool_from_wire(tool, undeclared="allow").compiled.grammar, '{"x":1,"y":2}')


def test_names() -> None:
    compiled = compile_schema({"type": "object"})
    for name in ("", "a b", 'a"b', "a\nb", "é", "x" * 257):
        with pytest.raises(ValueError, match="tool name"):
            Tool(name, "", {}, None, compiled)


def test_tool_choice_from_wire() -> None:
    assert tool_choice_from_wire(None) == ToolChoice("auto")
    assert tool_choice_from_wire("required") == ToolChoice("required")
    named = {"type": "function", "function": {"name": "f"}}
    assert tool_choice_from_wire(named) == ToolChoice("required", ("f",), once=True)
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named]}}
    assert tool_choice_from_wire(allowed) == ToolChoice("auto", ("f",))
    with pytest.raises(ValueError, match="tool_choice"):
        tool_choice_from_wire({"type": "other"})
