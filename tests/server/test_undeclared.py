"""The search for undeclared keys and the grammar agree: what the grammar writes is never found fault with."""

from __future__ import annotations

import gzip
import itertools
import json
import random
from typing import Any

import pytest

from schemas import SchemaError, compile_schema
from schemas.sample import STYLES, hints_of, matcher, walk
from server import strict_json
from server.undeclared import undeclared_key
from tests.schemas.acceptance import shared


@pytest.mark.parametrize("offset", range(4))
def test_what_a_closed_grammar_writes_is_declared(offset: int) -> None:
    path, tried, rng = shared("maskbench/dev.jsonl.gz"), 0, random.Random(offset)
    with gzip.open(path, "rt") as lines:
        for line in itertools.islice(lines, offset * 9, None, 36):
            schema = json.loads(line)["schema"]
            if len(line) > 20_000 or not isinstance(schema, dict):
                continue
            try:
                compiled = compile_schema(schema, undeclared="forbid")
            except SchemaError:
                continue
            for style in STYLES if compiled.closed else ():
                taken = walk(matcher(compiled.grammar), rng, style, hints=hints_of(schema))
                if taken.ending == "done":
                    tried += 1
                    value = strict_json.readings(taken.text.decode())[0]
                    assert undeclared_key(schema, value) is None, (json.dumps(schema), value)
    assert tried > 200


WORD = {"type": "string"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "not": {"properties": {"a": WORD}, "required": ["a"]}},
        {"type": "object", "oneOf": [{"not": {"properties": {"a": WORD}, "required": ["a"]}}, {}]},
        {"type": "object", "properties": {"a": {}}, "not": {"properties": {"a": {"items": WORD}}}},
        {"type": "object", "properties": {"a": {}}, "not": {"allOf": [{"additionalProperties": WORD}]}},
    ],
)
def test_what_stands_under_not_closes_nothing(schema: dict[str, Any]) -> None:
    assert compile_schema(schema, undeclared="forbid").closed
    assert undeclared_key(schema, {"a": {"b": 1}}) is None
    assert undeclared_key(schema, {"a": [{"b": 1}]}) is None


def test_an_alternative_that_says_nothing_says_nothing_of_what_is_inside() -> None:
    deep = {"properties": {"a": {"properties": {"b": {"properties": {"c": {}}}}}}}
    schema = {"type": "array", "contains": deep, "items": True}
    assert compile_schema(schema, undeclared="forbid").closed
    assert undeclared_key(schema, [{"a": {"b": {"d": 1}}}]) is None
    assert undeclared_key({"items": deep}, [{"a": {"b": {"d": 1}}}]) == "/0/a/b/d"
    assert undeclared_key({"anyOf": [deep, {"properties": {"a": True}}]}, {"a": {"b": {"d": 1}}}) is None
    assert undeclared_key({"anyOf": [deep, {"properties": {"a": True}}]}, {"d": 1}) == "/d"


def test_names_under_not_are_known_and_others_are_found() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "not": {"required": ["b"], "properties": {"c": WORD}}}
    assert [undeclared_key(schema, {name: 1}) for name in "abcd"] == [None, None, None, "/d"]
