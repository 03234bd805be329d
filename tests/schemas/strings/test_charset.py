"""Sets of characters against Python's sets, and the coarse Unicode classes against the real ones."""

from __future__ import annotations

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.strings.charset import ANY, LAST, CharSet, from_ranges, of
from schemas.strings.unicode_classes import (
    PERHAPS_DIGIT,
    PERHAPS_SPACE,
    PERHAPS_WORD,
    SURE_SPACE,
    WORD,
    ignoring_case,
    unicode_property,
)

_codes = st.integers(0xD7F0, 0xE00F)
_ranges = st.lists(st.tuples(_codes, st.integers(0, 9)).map(lambda pair: (pair[0], pair[0] + pair[1])), max_size=6)


def _members(ranges: list[tuple[int, int]]) -> set[int]:
    return {n for low, high in ranges for n in range(low, high + 1) if not 0xD800 <= n <= 0xDFFF}


def _codes_of(set_: CharSet) -> set[int]:
    return {n for low, high in set_.ranges for n in range(low, high + 1)}


@given(_ranges, _ranges)
def test_operations(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    a, b = from_ranges(one), from_ranges(other)
    assert _codes_of(a) == _members(one)
    assert len(a) == len(_members(one))
    assert _codes_of(a | b) == _members(one) | _members(other)
    assert _codes_of(a & b) == _members(one) & _members(other)
    assert _codes_of(a - b) == _members(one) - _members(other)
    assert ~~a == a
    assert a | ~a == ANY
    assert [a.at(n) for n in range(len(a))] == [chr(n) for n in sorted(_members(one))]
    assert all(chr(n) in a for n in _members(one))


def test_a_lone_surrogate_is_in_no_set() -> None:
    assert "\ud800" not in ANY
    assert not from_ranges([(0xD800, 0xDFFF)])


def test_the_coarse_classes_hold_the_unicode_ones_and_are_exact_for_ascii() -> None:
    ascii_ = from_ranges([(0, 0x7F)])
    word = unicode_property("Alphabetic") | unicode_property("M") | unicode_property("Nd") | unicode_property("Pc")
    word = word | unicode_property("Join_Control")
    assert not word - PERHAPS_WORD
    assert PERHAPS_WORD & ascii_ == WORD
    assert not unicode_property("Nd") - PERHAPS_DIGIT
    assert PERHAPS_DIGIT & ascii_ == of("0123456789")
    space = unicode_property("White_Space")
    assert not space - PERHAPS_SPACE
    assert not SURE_SPACE - space


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("L", "aéα日", "1-"),
        ("Lu", "AÉ", "aé"),
        ("Uppercase_Letter", "A", "a"),
        ("gc=Nd", "1٣", "a"),
        ("Script=Greek", "αΩ", "a"),
        ("sc=Grek", "α", "a"),
        ("scx=Deva", "अ", "a"),
        ("Emoji_Presentation", "😀", "a"),
        ("Any", "a😀", ""),
        ("ASCII", "a", "é"),
    ],
)
def test_unicode_properties(name: str, inside: str, outside: str) -> None:
    found = unicode_property(name)
    assert all(char in found for char in inside)
    assert not any(char in found for char in outside)


@pytest.mark.parametrize("name", ["Nope", "block=Latin", "L}|[a", "", "sc=", "x=L"])
def test_unknown_properties(name: str) -> None:
    with pytest.raises(KeyError):
        unicode_property(name)


def test_case_variants() -> None:
    assert ignoring_case(of("k")) == of("kK\u212a")
    assert ignoring_case(of("s")) == of("sS\u017f")
    assert ignoring_case(of("σ")) == of("σςΣ")
    assert ignoring_case(of("1é")) == of("1éÉ")


@pytest.mark.parametrize("name", ["L", "Lu", "C", "Alphabetic", "Script=Han"])
def test_properties_are_those_of_the_release_that_checks(name: str) -> None:
    """Letters of a newer release would be taken by the grammar and refused by the check."""
    ours = unicode_property(name)
    check = jsonschema_rs.validator_for({"pattern": rf"^\p{{{name}}}$"})
    codes = {code for low, high in (~ours).ranges + ours.ranges for code in (low, high)} | {*range(0, LAST, 5)}
    characters = [chr(code) for code in codes if not 0xD800 <= code <= 0xDFFF]
    assert [hex(ord(char)) for char in characters if (char in ours) != check.is_valid(char)] == []
