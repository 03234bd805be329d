"""Schemas that real generators and MCP servers emit: every one compiles, closed or open, and exact but for two things
that no grammar holds: items of free values that differ, and more than 64 members each at most once."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any, Literal

import pytest

from loadtest.exactness.judge import Judge
from loadtest.exactness.spellings import shuffled
from schemas.sample import hints_of, sample
from server.lint import subjects_of
from tests.schemas.acceptance import SHARED, Grammar, shared, walk_faults


@cache
def subjects() -> dict[str, Any]:
    """Schema by ``file:tool``; empty where the shared folder is absent."""
    found: dict[str, Any] = {}
    for path in sorted((SHARED / "schemas").rglob("*.json")):
        for subject in subjects_of(json.loads(path.read_text())):
            found[f"{path.stem}:{subject.name}"] = subject.schema
    return found


def test_the_folder_has_schemas() -> None:
    shared("schemas")
    assert len(subjects()) > 50


@pytest.mark.parametrize("undeclared", ["allow", "forbid"])
@pytest.mark.parametrize("name", subjects())
def test_compiles_exactly_and_walks_are_valid(name: str, undeclared: Literal["allow", "forbid"]) -> None:
    schema = subjects()[name]
    grammar = Grammar(schema, undeclared=undeclared)
    unique = '"uniqueItems": true' in json.dumps(schema)
    wide = len(schema.get("properties", {})) > 64
    fair = {keyword for keyword, fits in (("uniqueItems", unique), ("properties", wide)) if fits}
    assert {entry.keyword for entry in grammar.compiled.residue} <= fair
    assert wide == any(entry.keyword == "properties" for entry in grammar.compiled.residue)
    assert walk_faults(grammar.compiled, 6) == []


@pytest.mark.parametrize("name", subjects())
def test_what_closed_gives_open_takes_in_any_order(name: str) -> None:
    schema = subjects()[name]
    closed, opened = Grammar(schema, undeclared="forbid"), Grammar(schema)
    rng = random.Random(name)
    judge = Judge(schema)
    texts = sample(closed.compiled.grammar, 3, hints=hints_of(schema))
    # Of more than 64 members the optional ones may repeat, and a random walk rarely ends before its budget does.
    assert texts or len(schema.get("properties", {})) > 64
    for text in texts:
        value = json.loads(text)
        if not judge.faults(value):
            assert opened.takes(text)
            assert closed.allows(shuffled(value, rng))
            assert opened.allows(shuffled(value, rng))
