"""Objects: any order of members, each declared name once, and every condition between members."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema_rs
import pytest

from tests.schemas.acceptance import Grammar, walk_faults


def compact(pairs: list[tuple[str, Any]]) -> str:
    return "{" + ",".join(f"{json.dumps(key)}:{json.dumps(value)}" for key, value in pairs) + "}"


def test_members_in_any_order_and_once() -> None:
    grammar = Grammar({"properties": {"a": {"type": "integer"}, "b": {}, "c": {"const": "x"}}, "required": ["a"]})
    members: list[tuple[str, Any]] = [("a", 1), ("b", None), ("c", "x")]
    for order in itertools.permutations(members):
        assert grammar.takes(compact(list(order)))
    assert not grammar.takes('{"a":1,"a":2}')
    assert not grammar.takes('{"a":1,"b":2,"b":2}')
    assert not grammar.takes('{"b":1}')


def test_white_space_is_one_optional_space_behind_comma_and_colon() -> None:
    grammar = Grammar({"type": "object", "required": ["a", "b"], "additionalProperties": {"type": "array"}})
    assert grammar.takes('{"a": [1, 2], "b":[1,2]}')
    for text in ('{ "a":[],"b":[]}', '{"a" :[],"b":[]}', '{"a":[],"b":[] }', '{"a":  [],"b":[]}', ' {"a":[],"b":[]}'):
        assert not grammar.takes(text)


CONDITIONS: list[dict[str, Any]] = [
    {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"required": ["c"]}]},
    {"dependentRequired": {"a": ["b", "c"], "b": ["d"]}},
    {"not": {"required": ["a", "b"]}},
    {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"not": {"required": ["c"]}}},
    {"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"required": ["b"]}},
    {"oneOf": [{"properties": {"a": {"const": n}}, "required": ["a", key]} for n, key in ((1, "b"), (2, "c"))]},
    {"dependentSchemas": {"a": {"properties": {"b": {"const": 2}}, "maxProperties": 2}}},
    {"minProperties": 1, "maxProperties": 2, "required": ["a"]},
    {"maxProperties": 2, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"not": {"minProperties": 2}},
    {"not": {"properties": {"a": {"const": 1}, "b": {"const": 1}}}},
    {"propertyNames": {"enum": ["a", "c"]}},
    {"propertyNames": {"not": {"const": "b"}}, "patternProperties": {"^[ab]$": {"const": 1}}},
    {"unevaluatedProperties": False, "anyOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": True}}]},
    {"enum": [{"a": 1}, {"a": 1, "b": 2}, {}]},
]


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: json.dumps(condition)[:60])
def test_conditions_between_members(condition: dict[str, Any], closed: bool) -> None:
    """All objects over four names and two values, in a random order each."""
    schema = {"type": "object", **condition}
    if closed:
        schema["properties"] = {key: {"enum": [1, 2]} for key in "abcd"}
        schema["additionalProperties"] = False
    grammar, judge, rng = Grammar(schema), jsonschema_rs.validator_for(schema), random.Random(0)
    for values in itertools.product([None, 1, 2], repeat=4):
        pairs = [(key, value) for key, value in zip("abcd", values, strict=True) if value is not None]
        rng.shuffle(pairs)
        valid = judge.is_valid(dict(pairs))
        taken = grammar.takes(compact(pairs))
        assert taken is valid or (taken and grammar.compiled.residue), pairs
    assert walk_faults(grammar.compiled, 20) == []


def test_conditions_need_no_residue_on_closed_objects() -> None:
    for condition in CONDITIONS:
        schema = {
            "type": "object",
            "properties": dict.fromkeys("abcd", True),
            "additionalProperties": False,
            **condition,
        }
        assert Grammar(schema).compiled.guarantee == "exact", condition


def test_independent_choices_do_not_multiply() -> None:
    choices = [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(12)]
    grammar = Grammar({"type": "object", "allOf": choices})
    assert grammar.compiled.guarantee == "exact"
    assert len(grammar.compiled.grammar) < 10_000
    whole = [(f"{'ab'[i % 2]}{i}", i) for i in range(12)]
    assert grammar.takes(compact(whole))
    assert not grammar.takes(compact(whole[:-1]))


def test_more_members_than_bits() -> None:
    names = [f"p{i}" for i in range(150)]
    grammar = Grammar(
        {
            "properties": {name: {"type": "integer"} for name in names},
            "additionalProperties": False,
            "required": names[::3],
        }
    )
    assert [(r.keyword, r.path) for r in grammar.compiled.residue] == [("properties", "")]
    pairs = [(name, 1) for name in names]
    random.Random(1).shuffle(pairs)
    assert grammar.takes(compact(pairs))
    assert not grammar.takes(compact([pair for pair in pairs if pair[0] != "p3"]))
    assert not grammar.takes(compact([*pairs, ("q", 1)]))


def test_more_required_members_than_bits_are_checked() -> None:
    names = [f"p{i}" for i in range(70)]
    grammar = Grammar({"type": "object", "required": names})
    assert [(r.keyword, r.path) for r in grammar.compiled.residue] == [("required", "")]
    assert grammar.allows(dict.fromkeys(reversed(names), 0))
    assert not grammar.allows(dict.fromkeys(names[:-1], 0))


def test_repeated_free_names_that_could_matter_are_residue() -> None:
    assert [r.keyword for r in Grammar({"type": "object", "minProperties": 2}).compiled.residue] == ["minProperties"]
    assert Grammar({"type": "object", "minProperties": 1}).compiled.residue == []
    assert Grammar({"type": "object", "maxProperties": 3}).compiled.residue == []
    one_free = {"required": ["a"], "minProperties": 2, "type": "object"}
    assert Grammar(one_free).compiled.residue == []


def test_unions_of_very_many_objects_put_the_discriminator_first() -> None:
    branches = [
        {
            "properties": {"kind": {"const": f"k{i}"}, **{f"f{i}_{j}": {"type": "string"} for j in range(25)}},
            "required": ["kind"],
            "additionalProperties": False,
        }
        for i in range(100)
    ]
    grammar = Grammar({"type": "object", "anyOf": branches})
    assert grammar.compiled.guarantee == "exact"
    assert [n.keyword for n in grammar.compiled.narrowings[:1]] == ["anyOf"]
    assert grammar.takes('{"kind":"k7","f7_3":"x"}')
    assert not grammar.takes('{"kind":"k7","f8_3":"x"}')


def test_names_shared_by_declared_and_free_members_of_a_union() -> None:
    """The lexer takes the longest match: a declared name must not swallow the colon that a free one leaves apart."""
    schema = {
        "anyOf": [
            {"properties": {"c": {"type": "object"}}, "type": "object", "required": ["x"]},
            {"required": ["b"], "type": "object"},
        ]
    }
    assert Grammar(schema).takes('{"c":2,"b":1}')
