"""Languages as sets: operations, questions and members, against Python's own strings."""

from __future__ import annotations

import pickle
import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.errors import TooComplex
from schemas.strings import Language
from tests.schemas.strings.strategies import patterns, plain_patterns, texts

_slow = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
_words = st.sets(st.text(alphabet="abé😀", max_size=4), max_size=8)


@_slow
@given(plain_patterns, texts)
def test_plain_patterns_are_python_patterns(pattern: str, text: str) -> None:
    expected = re.fullmatch(pattern, text, re.ASCII) is not None
    assert Language.pattern(f"^(?:{pattern})$").contains(text) == expected


@_slow
@given(patterns, patterns, st.lists(texts, min_size=5, max_size=10))
def test_operations_are_those_of_sets(one: str, other: str, strings: list[str]) -> None:
    try:
        a, b = Language.pattern(one), Language.pattern(other)
    except TooComplex:
        return
    for text in strings:
        x, y = a.contains(text), b.contains(text)
        assert (a & b).contains(text) == (x and y)
        assert (a | b).contains(text) == (x or y)
        assert (~a).contains(text) == (not x)
        assert (a - b).contains(text) == (x and not y)
    assert a & b == b & a
    assert a | b == b | a


@_slow
@given(patterns, patterns)
def test_emptiness_shortest_and_samples_agree(one: str, other: str) -> None:
    try:
        language = Language.pattern(one) - Language.pattern(other)
        empty, shortest = language.is_empty(), language.shortest()
        draws = [] if empty else [language.sample(random.Random(n)) for n in range(5)]
    except TooComplex:
        return
    assert empty == (shortest is None)
    assert language.intersects(Language.ALL) == (not empty)
    if shortest is None:
        assert language.enumerate(10) == []
        return
    assert all(map(language.contains, [shortest, *draws]))
    assert all(len(draw) >= len(shortest) for draw in draws)


@given(_words, _words)
def test_lists_of_words(one: set[str], other: set[str]) -> None:
    a, b = Language.literals(one), Language.literals(other)
    for language, expected in ((a & b, one & other), (a | b, one | other), (a - b, one - other)):
        found = language.enumerate(20)
        assert found is not None
        assert len(found) == len(set(found))
        assert set(found) == expected
        assert language.is_empty() == (not expected)
        assert [len(word) for word in found] == sorted(len(word) for word in found)
    if one:
        assert a.enumerate(len(one) - 1) is None


@given(st.integers(0, 6), st.integers(0, 6), st.text(max_size=8))
def test_length_counts_code_points(low: int, high: int, text: str) -> None:
    language = Language.length(low, high)
    assert language.contains(text) == (low <= len(text) <= high and not re.search("[\ud800-\udfff]", text))
    assert language.is_empty() == (low > high)


def test_a_string_with_a_lone_surrogate_is_in_no_language() -> None:
    for language in (Language.ALL, ~Language.literals(["a"]), Language.length(1, 1), Language.pattern("^.$")):
        assert not language.contains("\ud800")
    assert Language.literals(["\ud800"]) == Language.NONE


WORDS = ("", "a", "x", "abb", "abbc", "bbbc", "ab", "cdd", "abdd", "xa", "ba", "a bb", "abcdefghij")


def test_languages_are_keys() -> None:
    one, same = Language.pattern("^[ab]$"), Language.pattern("^(?:a|b)$")
    assert one == same
    assert hash(one) == hash(same)
    assert one.key == same.key
    assert pickle.loads(pickle.dumps(one)) == one
    assert ~~one == one
    assert one.key != (~one).key


def test_every_kind_of_expression_can_be_pickled() -> None:
    for pattern in ("", "^$", "^a?b{2,3}c$", "^(?:ab|c)d*$", "^(?!x)[a-z]*$", "^(?=.*a)(?!.*bb)"):
        language = Language.pattern(pattern) & Language.length(0, 9)
        again = pickle.loads(pickle.dumps(language))
        assert again == language
        assert [again.contains(word) for word in WORDS] == [language.contains(word) for word in WORDS]
        assert again.is_empty() or again.terminal() == language.terminal()


@pytest.mark.parametrize(
    ("pattern", "low", "high", "empty"),
    [
        ("^[a-z]{1,100000}$", 5000, None, False),
        ("^[a-z]{1,5000}$", 5001, None, True),
        ("^(ab|cd)*$", 10**9, None, False),
        ("^(ab|cd)*$", 7, 7, True),
        ("^a{3}(b{5}|c{8})$", 9, 10, True),
        ("^a{3}(b{5}|c{8})$", 9, 11, False),
        ("^(a{5,7}b)*$", 10**6, 10**6, False),
        ("foo|bar", 10**9, 10**9, False),
    ],
)
def test_lengths_are_not_unrolled(pattern: str, low: int, high: int | None, empty: bool) -> None:
    assert (Language.pattern(pattern) & Language.length(low, high)).is_empty() == empty


def test_length_and_pattern_become_one_expression_where_that_is_exact() -> None:
    assert Language.pattern("^[a-z]+$") & Language.length(0, 3) == Language.pattern("^[a-z]{1,3}$")
    assert Language.pattern("^a[bc]*d$") & Language.length(3, 9) == Language.pattern("^a[bc]{1,7}d$")
    assert Language.pattern("^[0-9]{4}$") & Language.length(0, 30) == Language.pattern("^[0-9]{4}$")
    assert Language.pattern("^[0-9]{4}$") & Language.length(5, None) == Language.NONE


@pytest.mark.parametrize("pattern", ["^https?://", "^a?b?c*$", "^a?[bc]{2,4}d*$", "^(ab|c)d+$", "^(a|bcd)[ab]*(c|dd)$"])
def test_small_choices_do_not_keep_a_length_apart(pattern: str) -> None:
    language = Language.pattern(pattern) & Language.length(3, 9)
    assert language.regex.facts.plain
    rng = random.Random(1)
    for _ in range(200):
        text = (
            "".join(rng.choices("abcd", k=rng.randrange(11)))
            if rng.random() < 0.5
            else "http://" + "s" * rng.randrange(4)
        )
        assert language.contains(text) == (Language.pattern(pattern).contains(text) and 3 <= len(text) <= 9)
