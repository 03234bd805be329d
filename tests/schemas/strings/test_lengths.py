"""Progressions of lengths: every length that they promise occurs."""

from __future__ import annotations

from hypothesis import given, settings

from schemas.strings import Language
from schemas.strings.lengths import may_hold_length
from tests.schemas.strings.strategies import plain_patterns


@settings(max_examples=150, deadline=None)
@given(plain_patterns)
def test_a_promised_length_occurs(pattern: str) -> None:
    language = Language.pattern(f"^(?:{pattern})$")
    for length in range(12):
        if may_hold_length(language.regex, length, length):
            exact = language & Language.length(length, length)
            word = exact.shortest()
            assert word is not None
            assert len(word) == length
            assert language.contains(word)


def test_wide_repetitions_are_found() -> None:
    for pattern, low, high in (("^(a{5,7}b)*$", 10**6, 10**6), ("^(ab)*c$", 10**6 + 1, 10**6 + 1), ("a", 9**9, None)):
        assert may_hold_length(Language.pattern(pattern).regex, low, high)
    assert not may_hold_length(Language.pattern("^(ab)*$").regex, 7, 7)
