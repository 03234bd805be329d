"""Grammars that are not tried in the engine before they are handed out are far from what it refuses."""

from __future__ import annotations

import gzip
import itertools
import json
from typing import Any

import llguidance
import pytest

from schemas import SchemaError, compile, compile_schema
from schemas.byte_vocabulary import byte_tokenizer
from schemas.cache import Cache
from schemas.engine import grammar_of
from tests.schemas.acceptance import SHARED

FUEL = 100_000
"""A tenth of what llguidance spends on the lexer of a grammar before it refuses it."""


def _schemas() -> list[dict[str, Any]]:
    path = SHARED / "maskbench" / "dev.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt") as lines:
        return [json.loads(line)["schema"] for line in itertools.islice(lines, 7, None, 120)]


def test_an_untried_grammar_takes_less_than_a_tenth_of_the_fuel(monkeypatch: pytest.MonkeyPatch) -> None:
    schemas = _schemas()
    if not schemas:
        pytest.skip("MaskBench is not beside the repository")
    tried: list[str] = []
    monkeypatch.setattr(compile, "engine_error", lambda grammar: tried.append(grammar))
    monkeypatch.setattr(compile, "_CACHE", Cache(8))
    untried = 0
    limits = llguidance.LLParserLimits(initial_lexer_fuel=FUEL)
    for schema in schemas:
        try:
            grammar = compile_schema(schema).grammar
        except SchemaError:
            continue
        if grammar not in tried:
            untried += 1
            matcher = llguidance.LLMatcher(byte_tokenizer(), grammar_of(grammar), log_level=0, limits=limits)
            assert not matcher.is_error(), matcher.get_error()
            matcher.compute_bitmask()
            assert not matcher.is_error(), matcher.get_error()
    assert untried > 30
