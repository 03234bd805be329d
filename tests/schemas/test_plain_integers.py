"""Draft 4's ``integer`` is a matter of spelling: ``1`` is one, ``1.0`` and ``1e2`` are none, also under ``not``."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from tests.schemas.acceptance import Grammar, walk_faults

INTEGER, NUMBER = {"type": "integer"}, {"type": "number"}
TEXTS = ["1", "1.0", "2", "2.0", "2.5", "5", "5.0", "1e2", "0", "7.0", "null", '"a"']

EXACT: list[dict[str, Any]] = [
    INTEGER,
    {"type": ["integer", "null"]},
    {"type": ["integer", "number"]},
    {"anyOf": [INTEGER, NUMBER]},
    {"anyOf": [INTEGER, {"type": "string"}]},
    {"anyOf": [INTEGER, {"type": "number", "minimum": 5}]},
    {"not": {"not": INTEGER}},
    {"not": {"oneOf": [{}, INTEGER]}},
    {"not": {"enum": [1, 2]}},
    {"enum": [1, 2.5, 5.0]},
    {"enum": [1, 2.5, 5.0], **INTEGER},
    {"type": "integer", "multipleOf": 2},
]
NARROW: list[dict[str, Any]] = [
    {"not": INTEGER},
    {"oneOf": [INTEGER, NUMBER]},
    {"oneOf": [{}, INTEGER]},
    {"not": {"type": "integer", "minimum": 3}},
    {"enum": [1, 2.5, 5.0], "not": INTEGER},
]
"""These have values such as ``1.0`` without ``1``, which the grammar does not write."""


@pytest.mark.parametrize("schema", [*EXACT, *NARROW], ids=json.dumps)
def test_spellings_are_taken_as_the_check_takes_them(schema: dict[str, Any]) -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", **schema}
    grammar, check = Grammar(schema), jsonschema_rs.validator_for(schema)
    assert grammar.compiled.guarantee == "exact"
    whole = {text for text in TEXTS if text[0].isdigit() and json.loads(text) % 1 == 0 and not text.isdigit()}
    for text in TEXTS:
        valid = check.is_valid(json.loads(text))
        if valid and text in whole and not check.is_valid(int(json.loads(text))):
            valid = False  # not written, though valid
        assert grammar.takes(text) is valid, text
    assert walk_faults(grammar.compiled, 6) == []


@pytest.mark.parametrize("schema", [*EXACT, *NARROW], ids=json.dumps)
def test_later_drafts_know_no_such_difference(schema: dict[str, Any]) -> None:
    grammar, check = Grammar(schema), jsonschema_rs.validator_for(schema)
    for text in (text for text in TEXTS if text != "1e2" or "multipleOf" not in schema):
        assert grammar.takes(text) is check.is_valid(json.loads(text)), text
