"""What would end the engine's process is refused, with a reason."""

from __future__ import annotations

import itertools
import json
from typing import Any

import llguidance
import pytest

from schemas import SchemaError, compile_schema
from schemas.byte_vocabulary import byte_tokenizer
from schemas.engine import LIMITS, grammar_of


def _references(length: int) -> dict[str, Any]:
    link = {"type": "object", "required": ["x"], "additionalProperties": False}
    names = itertools.pairwise(f"d{n}" for n in range(length + 1))
    links = {name: link | {"properties": {"x": {"$ref": f"#/$defs/{after}"}}} for name, after in names}
    return {"$ref": "#/$defs/d0", "$defs": links | {f"d{length}": {"type": "integer"}}}


def _prefix(length: int) -> dict[str, Any]:
    return {"type": "array", "prefixItems": [{"type": "integer", "minimum": n} for n in range(length)], "items": False}


@pytest.mark.parametrize("schema", [_references(2_000), _prefix(3_500)], ids=["references", "prefixItems"])
def test_rules_in_a_long_chain_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="deep"):
        compile_schema(schema)


@pytest.mark.parametrize("schema", [_references(300), _prefix(900)], ids=["references", "prefixItems"])
def test_shorter_chains_are_taken(schema: dict[str, Any]) -> None:
    assert compile_schema(schema).guarantee == "exact"


def test_an_object_of_very_many_properties_is_read_to_its_end() -> None:
    names = [f"k{n}" for n in range(2_400)]
    compiled = compile_schema({"properties": {name: {"type": "integer"} for name in names}, "type": "object"})
    matcher = llguidance.LLMatcher(byte_tokenizer(), grammar_of(compiled.grammar), log_level=0, limits=LIMITS)
    matcher.compute_bitmask()
    text = json.dumps({names[-1]: 1, names[0]: 2}).encode()
    assert matcher.try_consume_tokens(list(text)) == len(text), matcher.get_error()
    assert matcher.is_accepting()
