"""Easy parts of a language: they are parts of it, there are some where masks need them, and masks are the same."""

from __future__ import annotations

import random

import llguidance
import pytest
from hypothesis import given, settings

from schemas import compile_schema
from schemas.byte_vocabulary import byte_tokenizer
from schemas.engine import grammar_of
from schemas.errors import TooComplex
from schemas.strings import Language
from schemas.strings.automaton import is_empty, sample
from schemas.strings.formats import named
from schemas.strings.formats.easy import SIZES, easy_parts, without_length
from schemas.strings.intersections import intersection
from schemas.strings.membership import matches
from schemas.strings.nodes import Regex
from schemas.strings.pattern import PatternError
from schemas.strings.regex import ALL, complement, length
from schemas.strings.shortcut import shortcuts
from tests.schemas.strings.strategies import patterns

UNANCHORED = [
    r"\d{4}-\d{2}",
    "foo",
    "[a-z]$",
    "^.*foo.*$",
    r"^\S+(?:\s\S+)*$",
    "^/(?:[^/]+/)*x$",
    "^(?:a|b).*c",
    "^[^@]+@[^@]+$",
]


def is_part(part: Regex, whole: Regex) -> bool:
    return is_empty(intersection([part, complement(whole)]))


@pytest.mark.parametrize("pattern", UNANCHORED)
@pytest.mark.parametrize("bounds", [(0, None), (3, 100)])
def test_patterns_that_can_go_on_have_one(pattern: str, bounds: tuple[int, int | None]) -> None:
    node = (Language.pattern(pattern) & Language.length(*bounds)).affordable()[0].regex
    parts = shortcuts(node)
    assert parts
    assert all(part.facts.plain and is_part(part, node) for part in parts)


@pytest.mark.parametrize("pattern", ["^[a-z]+$", "^[A-Z][a-z]*$", r"^\d{3}$", "^abc$"])
def test_simple_ones_need_none(pattern: str) -> None:
    assert shortcuts(Language.pattern(pattern).regex) == ()


def test_nothing_and_everything_need_none() -> None:
    assert shortcuts(ALL) == shortcuts(length(2, 9)) == shortcuts(complement(ALL)) == ()


def test_all_names_but_those_of_a_pattern() -> None:
    node = (~Language.pattern("^name_[a-z]+$") - Language.literals(["id", "name"])).regex
    (part,) = shortcuts(node)
    assert is_part(part, node)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("high", [None, 300, 60, 20])
def test_formats(size: int, high: int | None) -> None:
    name = SIZES[size]
    assert without_length(name).facts.size == size
    whole = named(name)
    assert whole is not None
    parts = shortcuts(intersection([whole, length(0, high)]))
    assert parts or high == 20
    rng = random.Random(7)
    for part in parts:
        assert part.facts.longest is None or part.facts.longest <= (high or 253)
        # Too large for a proof by automaton.
        for count in range(200):
            word = sample(part, rng, length=count)
            assert matches(whole, word), word


def test_other_languages_are_no_formats() -> None:
    assert easy_parts(ALL, 0, None) is None


@given(patterns, patterns)
@settings(max_examples=150, deadline=None)
def test_every_part_is_a_part(pattern: str, other: str) -> None:
    try:
        language = Language.pattern(pattern) & ~Language.pattern(other)
        if language.is_empty():
            return
        node = language.affordable()[0].regex
        for part in shortcuts(node):
            assert is_part(part, node)
    except (PatternError, TooComplex):
        return


def test_the_mask_is_the_same() -> None:
    schema = {"type": "object", "properties": {"date": {"type": "string", "pattern": "[0-9]{2}-[0-9]{2}"}}}
    grammar = compile_schema(schema, undeclared="forbid").grammar
    assert "v1: T2\n  | T3" in grammar
    lines = grammar.splitlines()
    lines.remove("  | T3")
    without = llguidance.LLMatcher(byte_tokenizer(), grammar_of("\n".join(lines)))
    beside = llguidance.LLMatcher(byte_tokenizer(), grammar_of(grammar))
    for byte in '{"date":"a–\\n\ue00012-34x"}'.encode():
        assert beside.compute_bitmask() == without.compute_bitmask()
        assert beside.consume_token(byte)
        assert without.consume_token(byte)
    assert beside.is_accepting()
    assert without.is_accepting()
