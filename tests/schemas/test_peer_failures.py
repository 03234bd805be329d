"""Group (a) and the schema rows of groups (f) and (g) of the peers' failure list: the kind of fault, not its input."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from schemas import SchemaError, compile_schema
from tests.schemas.acceptance import Grammar, exhausted, walk_faults

CASES: dict[str, tuple[Any, list[Any], list[Any]]] = {
    # name: (schema, values allowed, values never allowed)
    "a1 required beside anyOf": (
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "modifier": {"type": "integer"}},
            "additionalProperties": False,
            "anyOf": [{"required": ["modifier"]}],
        },
        [{"modifier": 1}, {"a": "x", "modifier": 1}, {"modifier": 1, "a": "x"}],
        [{}, {"a": "x"}, {"modifier": "x"}, {"a": 1, "modifier": 1}, {"modifier": 1, "b": 1}, 1, []],
    ),
    "a1 properties beside oneOf": (
        {
            "properties": {"k": {"enum": ["x", "y"]}},
            "required": ["k"],
            "oneOf": [
                {"properties": {"k": {"const": "x"}, "n": {"type": "integer"}}, "required": ["n"]},
                {"properties": {"k": {"const": "y"}, "s": {"type": "string"}}, "required": ["s"]},
            ],
            "type": "object",
        },
        [{"k": "x", "n": 1}, {"n": 1, "k": "x"}, {"s": "", "k": "y"}, {"k": "y", "s": "a", "n": "free"}],
        [{"k": "x"}, {"k": "y", "n": 1}, {"k": "x", "s": ""}, {"k": "z", "n": 1}, {"n": 1}],
    ),
    "a1 items beside allOf": (
        {"type": "array", "items": {"type": "integer"}, "allOf": [{"minItems": 1}, {"maxItems": 2}]},
        [[1], [1, 2]],
        [[], [1, 2, 3], ["x"]],
    ),
    "a2 allOf of a $ref and an object": (
        {
            "allOf": [
                {"$ref": "#/$defs/B"},
                {"type": "object", "properties": {"y": {"type": "integer"}}, "required": ["y"]},
            ],
            "$defs": {
                "B": {
                    "type": "object",
                    "properties": {"x": {"type": "integer", "minimum": 10}},
                    "required": ["x"],
                }
            },
        },
        [{"x": 10, "y": 1}, {"y": 1, "x": 11}, {"x": 10, "z": None, "y": -1}],
        [{"x": 9, "y": 1}, {"x": 10}, {"y": 1}, {"x": 10, "y": "1"}],
    ),
    "a3 pattern and maxLength": (
        {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3},
        ["a", "abc"],
        ["", "abcd", "abcdefgh", "A", "ab1", 3],
    ),
    "a3 pattern and minLength": (
        {"type": "string", "pattern": "^a*b*$", "minLength": 2},
        ["ab", "bb"],
        ["a", "", "ba"],
    ),
    "a3 format and maxLength": (
        {"type": "string", "format": "date", "maxLength": 10},
        ["2024-02-29"],
        ["2023-02-29", "2024-2-29", "x"],
    ),
    "a3 format that is too long": (
        {"anyOf": [{"type": "null"}, {"type": "string", "format": "date-time", "maxLength": 20}]},
        [None, "2024-02-29T00:00:00Z"],
        ["2024-02-29T00:00:00+01:00"],
    ),
    "a5 list of types with a pattern": (
        {"type": ["string", "null"], "pattern": "^[a-z]+$", "maxLength": 3},
        [None, "abc"],
        ["abcd", "", "A", 1],
    ),
    "a9 required without properties": (
        {"type": "object", "required": ["a"]},
        [{"a": None}, {"a": [1, {}]}, {"b": 1, "a": 2}],
        [{}, {"b": 1}],
    ),
    "a9 array without items": ({"type": "array"}, [[], [1, "x", {}], [[[]]]], [{}, 1]),
    "a11 propertyNames and additionalProperties": (
        {
            "type": "object",
            "propertyNames": {"pattern": "^a$|^b$"},
            "additionalProperties": {"type": "integer"},
        },
        [{}, {"a": 1}, {"b": 2, "a": 1}],
        [{"c": 1}, {"a": "x"}, {"ab": 1}],
    ),
    "a13 patternProperties, closed": (
        {"type": "object", "patternProperties": {"^score$": {"type": "integer"}}, "additionalProperties": False},
        [{}, {"score": 1}],
        [{"score": "x"}, {"other": 1}, {"scores": 1}],
    ),
    "a13 overlapping patternProperties": (
        {
            "type": "object",
            "patternProperties": {"a": {"type": "integer"}, "b": {"minimum": 3}},
            "additionalProperties": {"type": "string"},
        },
        [{"a": 1}, {"ab": 3}, {"b": "free"}, {"c": "x"}, {"xaxb": 4, "b": 3.5}],
        [{"ab": 2}, {"ab": "x"}, {"b": 1}, {"c": 1}],
    ),
    "a14 uniqueItems": (
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        [[], [1], [1, 2, 3]],
        [[1, 1], [1, 2, 1], [1, 1.0]],
    ),
    "a14 uniqueItems over an enum": (
        {"type": "array", "items": {"enum": ["a", "b", 1]}, "uniqueItems": True},
        [[], ["b", "a"], [1, "a", "b"]],
        [["a", "a"], [1, "a", 1], ["c"]],
    ),
    "a14 multipleOf": (
        {"type": "number", "multipleOf": 0.5},
        [0, 1, -1.5, 2.5, 100],
        [0.25, 1.3, -0.1],
    ),
    "a14 multipleOf with bounds": (
        {"type": "integer", "multipleOf": 7, "minimum": -20, "maximum": 20},
        [-14, -7, 0, 7, 14],
        [-21, 1, 21, 20],
    ),
    "a14 contains": (
        {"type": "array", "contains": {"const": 1}, "minContains": 2, "maxContains": 2, "items": {"type": "integer"}},
        [[1, 1], [2, 1, 3, 1]],
        [[], [1], [1, 1, 1], ["x", 1, 1]],
    ),
    "a21 a property that is forbidden": (
        {"type": "object", "properties": {"x": {"not": {}}, "y": {}}},
        [{}, {"y": 1}, {"z": 1}],
        [{"x": 1}, {"x": None, "y": 1}],
    ),
    "a23 $defs reachable from a member": (
        {
            "type": "object",
            "properties": {"p": {"$ref": "#/$defs/P"}},
            "$defs": {"P": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}}, "N": {"type": "integer"}},
        },
        [{}, {"p": {}}, {"p": {"n": 1}}],
        [{"p": 1}, {"p": {"n": "x"}}],
    ),
    "a25 real dates": (
        {"type": "string", "format": "date"},
        ["2024-02-29", "2025-12-31", "0001-01-01"],
        ["2025-02-31", "2023-02-29", "2025-13-01", "2025-04-31", "1900-02-29"],
    ),
    "a26 declared property out of order": (
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {}},
            "additionalProperties": {"type": "string"},
        },
        [{"b": 1, "a": 1}, {"c": "x", "a": 1}, {"a": 1, "c": "x", "b": None}],
        [{"b": 1, "a": "x"}, {"c": "x", "a": "y"}, {"c": 1}],
    ),
    "a27 minItems": ({"type": "array", "minItems": 1}, [[1], [[], {}]], [[], {}]),
    "a29 $ref inside anyOf": (
        {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "$defs": {"A": {"type": "string", "maxLength": 2}}},
        [None, "", "ab"],
        ["abc", 1],
    ),
    "a30 a string of digits stays a string": (
        {"type": "object", "properties": {"zip": {"type": "string"}}},
        [{"zip": "007"}, {"zip": "1e5"}, {"zip": "true"}],
        [{"zip": 7}, {"zip": True}],
    ),
    "a19 e-mail with a look-ahead, in items": (
        {"properties": {"to": {"type": "array", "items": {"type": "string", "pattern": "^(?!\\.).+@.+$"}}}},
        [{"to": []}, {"to": ["a@b", "é@x"]}],
        [{"to": [".a@b"]}, {"to": ["ab"]}, {"to": "a@b"}],
    ),
    "a19 maxLength of 2000 and more": (
        {"type": "string", "maxLength": 2000},
        ["", "x" * 2000, "é" * 2000, "😀" * 2000, "\n" * 2000],
        ["x" * 2001, "😀" * 2001],
    ),
    "a19 empty object": ({"type": "object", "properties": {}, "additionalProperties": False}, [{}], [{"a": 1}, []]),
    "a19 unanchored, \\S": ({"type": "string", "pattern": "\\S\\d"}, ["a1", "  x9 "], ["", " 1", "ab"]),
    "g1 an empty alternative": ({"type": "string", "pattern": "^(|.*)$"}, ["", "x", "é"], ["a\nb", 1]),
    "g6b a bounded repeat above 128": (
        {"type": "string", "pattern": "^[^\\n\\r]{1,129}$"},
        ["x", "x" * 129, "é" * 129],
        ["", "x" * 130, "\n", "x\r"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_row(name: str) -> None:
    schema, allowed, never = CASES[name]
    grammar = Grammar(schema)
    assert [value for value in allowed if not grammar.allows(value)] == []
    assert [value for value in never if grammar.allows(value)] == []


@pytest.mark.parametrize("name", CASES)
def test_row_walks(name: str) -> None:
    assert walk_faults(compile_schema(CASES[name][0]), 30) == []


def test_a1_contradiction_is_refused() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "additionalProperties": False,
        "anyOf": [{"required": ["modifier"]}],
    }
    with pytest.raises(SchemaError, match="unsatisfiable"):
        compile_schema(schema)


@pytest.mark.parametrize(
    "text", ["two\nlines", 'a "quote"', "back\\slash", "tab\tand nul\x00", "é", "😀", "\x7f\u2028"]
)
def test_a6_length_bound_strings_escape(text: str) -> None:
    grammar = Grammar({"type": "string", "minLength": 1, "maxLength": 200})
    assert grammar.allows(text)
    assert grammar.takes(json.dumps(text, ensure_ascii=False))


def test_a6_length_counts_code_points() -> None:
    grammar = Grammar({"type": "string", "minLength": 2, "maxLength": 2})
    assert grammar.takes('"😀😀"')
    assert not grammar.takes('"😀"')
    assert grammar.takes('"\\n\\n"')
    assert not grammar.takes('"\\n"')
    assert not grammar.takes('"\\ud83d"')
    assert not grammar.takes('"\\ud83d\\ud83d"')


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": "string", "maxLength": 5}, {}, {"pattern": "a|\\s"}])
def test_a7_never_a_raw_control_character(schema: dict[str, Any]) -> None:
    grammar = Grammar(schema)
    for code in range(0x20):
        assert not grammar.takes(b'"' + bytes([code]) + b'"'), hex(code)
        assert not grammar.takes(b'"a' + bytes([code]) + b'"'), hex(code)


@pytest.mark.parametrize(
    "reference",
    ["/$defs/N", "https://example.org/other.json", "other.json#/x", "#/$defs/Missing", "#missing", "urn:x:y"],
)
@pytest.mark.parametrize("inside", [False, True])
def test_a10_an_unresolved_reference_is_refused_by_name(reference: str, inside: bool) -> None:
    leaf = {"$ref": reference}
    schema: dict[str, Any] = {"properties": {"p": leaf}} if inside else leaf
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema | {"$defs": {"N": {"type": "integer"}}})
    assert caught.value.keyword == "$ref"
    assert caught.value.path.startswith("/properties/p" if inside else "")
    assert reference in caught.value.reason


def test_a15_numbers_end() -> None:
    for schema in ({}, {"type": "number"}, {"type": "integer"}):
        origin = Grammar(schema).origin
        for prefix, more in (("1", "0"), ("1", "1"), ("-1", "0")):
            assert exhausted(origin, prefix, more) < 400
    origin = Grammar({"type": "number"}).origin
    for prefix in ("0.", "0.0", "1.", "123.4"):
        assert exhausted(origin, prefix, "1") < 1200
        assert exhausted(origin, prefix, "0") < 1200
    assert exhausted(origin, "1e", "0") < 20
    assert exhausted(origin, "1e1", "1") < 20


@pytest.mark.parametrize("schema", [{"type": "number"}, {}, {"type": ["number", "string"]}])
@pytest.mark.parametrize(
    "text",
    ["1.e2", "1.", ".5", "01", "-01", "+1", "1e", "1e+", "--1", "NaN", "Infinity", "0x1", "1e999", "-1e400", "1,0"],
)
def test_a25_numbers_are_strict_json(schema: dict[str, Any], text: str) -> None:
    assert not Grammar(schema).takes(text)


@pytest.mark.parametrize(
    "text", ["0", "-0", "1.0", "1e2", "1E+2", "-1.5e-3", "123456789012345678901234567890", "1e308"]
)
def test_a25_every_usual_number_is_taken(text: str) -> None:
    assert Grammar({"type": "number"}).allows(json.loads(text))


def test_a21_not_nothing_as_root_is_refused() -> None:
    with pytest.raises(SchemaError, match="unsatisfiable"):
        compile_schema({"not": {}})


@pytest.mark.parametrize("dialect", [None, "http://json-schema.org/draft-07/schema#"])
def test_a22_tuples_of_draft_07(dialect: str | None) -> None:
    schema: dict[str, Any] = {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "minItems": 2}
    grammar = Grammar(schema | ({"$schema": dialect} if dialect else {}))
    assert grammar.allows(["a", 1])
    assert grammar.allows(["a", 1, None])
    assert not grammar.allows([1, "a"])
    assert not grammar.allows(["a"])


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/n", "$defs": {"n": {"$ref": "#/$defs/n"}}},
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {
            "anyOf": [{"$ref": "#/$defs/a"}],
            "$defs": {"a": {"oneOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}},
        },
        {"not": {"$ref": "#"}},
    ],
)
def test_g3_a_reference_to_itself_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        compile_schema(schema)


def test_g3_recursion_that_needs_an_endless_value_is_refused() -> None:
    with pytest.raises(SchemaError, match="unsatisfiable"):
        compile_schema({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]})


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": ["string", "array"]}},
        {"properties": {"a": {"type": ["string", "array"]}}, "required": ["a"], "additionalProperties": False},
        {"type": "object", "patternProperties": {"^a": {"type": ["string", "array"]}}, "minProperties": 1},
        {"type": "object", "propertyNames": {"maxLength": 3}},
        {"enum": [{"a": "x"}, {"a": ["x", 1]}]},
    ],
)
def test_f3_white_space_may_be_left_out_and_does_not_go_on(schema: dict[str, Any]) -> None:
    grammar = Grammar(schema)
    for text in ('{"a":"x"}', '{"a": "x"}', '{"a":["x",1]}', '{"a": ["x", 1]}'):
        assert grammar.takes(text), text
    loose = (
        '{"a":  "x"}',
        '{ "a":"x"}',
        '{"a" :"x"}',
        '{"a":\n"x"}',
        '{"a":"x" }',
        '{"a":"x"}\n',
        ' {"a":"x"}',
        '\n{"a":"x"}',
    )
    for text in (*loose, '{"a":[ "x",1]}', '{"a":["x" ,1]}', '{"a":["x",  1]}', '{"a":["x",1 ]}', '{"a":["x",\t1]}'):
        assert not grammar.takes(text), text


@pytest.mark.parametrize("length", [127, 128, 129, 255, 256, 1000])
def test_g6b_bounded_repeats(length: int) -> None:
    grammar = Grammar({"type": "string", "pattern": f"^[^\\n\\r]{{1,{length}}}$"})
    rng = random.Random(length)
    text = "".join(rng.choice('aé"\\ 😀') for _ in range(length))
    assert grammar.allows(text)
    assert not grammar.allows(text + "x")


def test_wish_any_key_order() -> None:
    names = [f"field_{i}" for i in range(40)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "required": names[:20],
        "additionalProperties": False,
    }
    grammar = Grammar(schema)
    rng = random.Random(1)
    for _ in range(20):
        chosen = names[:20] + rng.sample(names[20:], rng.randrange(21))
        rng.shuffle(chosen)
        assert grammar.allows(dict.fromkeys(chosen, 1))
        assert not grammar.allows(dict.fromkeys([n for n in chosen if n != "field_3"], 1))
    assert not grammar.takes('{"field_0":1,"field_0":1}')
