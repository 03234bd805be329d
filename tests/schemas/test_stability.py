"""The same grammar from the same schema in every process, and a compiled schema that survives pickling."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import subprocess
import sys
from typing import Any

import pytest

from loadtest.exactness.spellings import shuffled
from schemas import SchemaError, compile, compile_schema
from schemas.cache import Cache
from tests.schemas.test_peer_failures import CASES

PROGRAM = """
import hashlib, json, sys
from schemas import compile_schema
for schema in json.load(sys.stdin):
    for undeclared in ("allow", "forbid"):
        compiled = compile_schema(schema, undeclared=undeclared)
        print(hashlib.sha256(compiled.grammar.encode()).hexdigest(), compiled.residue)
"""


def grammars(hash_seed: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([schema for schema, _, _ in CASES.values()]),
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert len(ran.stdout.splitlines()) == 2 * len(CASES)
    return ran.stdout


def test_every_process_makes_the_same_grammars() -> None:
    assert grammars("0") == grammars("1") == grammars("77")


@pytest.mark.parametrize("name", CASES)
def test_descriptions_and_key_order_compile_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "_CACHE", Cache(8))
    schema = CASES[name][0]
    described = shuffled(schema, random.Random(name)) | {"title": "T", "description": "D", "x-vendor": [1]}
    assert compile_schema(described).grammar is compile_schema(schema).grammar


@pytest.mark.parametrize("name", CASES)
def test_pickled_and_back(name: str) -> None:
    schema, allowed, never = CASES[name]
    compiled = compile_schema(schema)
    compiled.validate(allowed[0])
    again = pickle.loads(pickle.dumps(compiled))
    assert again.grammar == compiled.grammar
    assert again.guarantee == compiled.guarantee
    assert again.residue == compiled.residue
    assert [value for value in allowed if again.validate(value)] == []
    # Formats are asserted by the grammar; to the validator they are annotations, as 2020-12 has it.
    if "format" not in json.dumps(schema):
        assert [value for value in never if not again.validate(value)] == []


@pytest.mark.parametrize("name", CASES)
def test_the_schema_is_left_as_it_was(name: str) -> None:
    schema = copy.deepcopy(CASES[name][0])
    compile_schema(schema, undeclared="forbid")
    assert schema == CASES[name][0]


@pytest.mark.parametrize(
    ("schema", "shortest"), [({"type": "integer"}, 1), ({"const": [1]}, 3), ({"type": "object"}, 2)]
)
def test_minimal_length(schema: dict[str, Any], shortest: int) -> None:
    assert compile_schema(schema).minimal_length == shortest


@pytest.mark.parametrize("name", CASES)
def test_minimal_length_is_that_of_the_shortest_allowed_or_less(name: str) -> None:
    schema, allowed, _ = CASES[name]
    shortest = min(len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()) for value in allowed)
    assert 1 <= compile_schema(schema).minimal_length <= shortest


def test_an_error_is_pickled_whole() -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema({"properties": {"a": {"$ref": "#/$defs/b"}}})
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.path, again.keyword, again.reason) == ("/properties/a", "$ref", caught.value.reason)


def test_documents_that_differ_in_meaning_do_not_share_a_grammar() -> None:
    first = compile_schema({"const": 1})
    assert compile_schema({"const": True}).grammar != first.grammar
    assert compile_schema({"const": "1"}).grammar != first.grammar
    assert compile_schema({"enum": [0]}).grammar != compile_schema({"enum": [False]}).grammar
    assert compile_schema({"const": 1}, undeclared="forbid").grammar == first.grammar
    opened = compile_schema({"type": "object", "properties": {"a": {}}})
    assert compile_schema({"type": "object", "properties": {"a": {}}}, undeclared="forbid").grammar != opened.grammar
