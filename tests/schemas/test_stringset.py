"""String sets answer as the sets of strings that they stand for, whatever form they have."""

from __future__ import annotations

import json

import llguidance
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import SchemaError, compile_schema
from schemas.byte_vocabulary import byte_tokenizer
from schemas.engine import grammar_of
from schemas.strings import Language
from schemas.stringset import StringSet

WORDS = ["", "a", "b", "ab", "ba", "aa", "é", '"', "x y", "/"]

bases = st.one_of(
    st.sets(st.sampled_from(WORDS)).map(StringSet.literals),
    st.sampled_from(["^a", "b", "^[ab]$", "^.{1,2}$"]).map(lambda text: StringSet.of(Language.pattern(text))),
    st.just(StringSet.ALL),
)
operations = st.recursive(
    bases,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] & pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1]),
        inner.map(lambda one: ~one),
    ),
    max_leaves=5,
)


@given(operations, operations)
def test_operations_are_those_of_sets(left: StringSet, right: StringSet) -> None:
    for word in WORDS:
        assert (left & right).contains(word) is (left.contains(word) and right.contains(word))
        assert (left | right).contains(word) is (left.contains(word) or right.contains(word))
        assert (~left).contains(word) is not left.contains(word)


@given(operations)
def test_emptiness_and_enumeration(strings: StringSet) -> None:
    members = [word for word in WORDS if strings.contains(word)]
    if members:
        assert not strings.is_empty()
        shortest = strings.shortest()
        assert shortest is not None
        assert shortest <= min(map(len, members))
    listed = strings.enumerate(20)
    if listed is not None:
        assert set(members) <= set(listed)
        assert all(strings.contains(word) for word in listed)


@given(operations)
def test_terminals_match_exactly_the_members(strings: StringSet) -> None:
    if strings.is_empty():
        return
    grammar = grammar_of(f"start: T\nT: {strings.terminal()}\n")
    origin = llguidance.LLMatcher(byte_tokenizer(), grammar, log_level=0)
    assert not origin.is_error(), origin.get_error()
    for word in WORDS:
        text = list(json.dumps(word, ensure_ascii=False).encode())
        taken = origin.deep_copy()
        matched = taken.try_consume_tokens(text) == len(text) and taken.is_accepting()
        assert matched is strings.contains(word), (word, strings.terminal())


def test_a_format_that_some_read_more_widely_is_empty_with_too_few_characters() -> None:
    mail = Language.named_format("email")
    assert mail is not None
    assert mail.perhaps is not None
    assert StringSet.of(mail & Language.length(0, 2)).is_empty()
    with pytest.raises(SchemaError, match="unsatisfiable"):
        compile_schema({"type": "string", "format": "email", "maxLength": 2})


def test_lone_surrogates_are_in_no_set() -> None:
    assert StringSet.literals(["\ud800", "a"]) == StringSet.literals(["a"])
