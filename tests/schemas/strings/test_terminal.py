"""The terminals: exactly the JSON spellings of the members, checked in llguidance itself."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.errors import TooComplex
from schemas.strings import Language
from tests.schemas.strings.lexer import accepts, matcher, spelled, spellings
from tests.schemas.strings.strategies import patterns, plain_patterns

_slow = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
_randoms = st.randoms(use_true_random=False)
_texts = st.text(alphabet='ab1_-"\\/\n\t\x00\x7fé€\u2028😀', max_size=6)


@_slow
@given(plain_patterns, st.lists(_texts, min_size=6, max_size=10), _randoms)
def test_a_plain_terminal_accepts_every_spelling_of_members_and_of_no_other_string(
    pattern: str, texts: list[str], rng: random.Random
) -> None:
    language = Language.pattern(f"^(?:{pattern})$")
    start = matcher(language.terminal())
    for text in [*texts, language.shortest() or "", language.sample(rng)]:
        assert accepts(start, spelled(text, rng)) == language.contains(text), text


@_slow
@given(
    patterns,
    plain_patterns,
    st.lists(_texts, min_size=6, max_size=10),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_intersection_complement_and_length_mean_on_texts_what_they_mean_on_strings(
    one: str, other: str, texts: list[str], low: int, rng: random.Random
) -> None:
    try:
        language = (Language.pattern(one) - Language.pattern(f"^(?:{other})$")) & Language.length(low, low + 4)
        if language.is_empty():
            return
    except TooComplex:
        return
    start = matcher(language.terminal())
    for text in [*texts, language.shortest() or "", language.sample(rng)]:
        assert accepts(start, spelled(text, rng)) == language.contains(text), text


def test_all_strings_accept_what_json_dumps_writes() -> None:
    start = matcher(Language.ALL.terminal())
    text = "".join(map(chr, [*range(0x250), 0x2028, 0x2029, 0xFEFF, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF]))
    assert accepts(start, json.dumps(text))
    assert accepts(start, json.dumps(text, ensure_ascii=False))


@pytest.mark.parametrize(
    "text",
    [
        '"\n"',
        '"\x00"',
        '"\x1f"',
        '"\\ud800"',
        '"\\udc00"',
        '"\\ud800\\u0041"',
        '"\\ud83d\\ud83d"',
        '"\\u004"',
        '"\\x41"',
        '"\\a"',
        '"a',
        'a"',
        '""a',
        "'a'",
        '"\\u0041"',
    ],
)
def test_no_other_text_is_a_string(text: str) -> None:
    assert not accepts(matcher(Language.ALL.terminal()), text)


@pytest.mark.parametrize("char", ["a", "/", '"', "\\", "\n", "\x00", "\x7f", "é", "\u2028", "😀"])
def test_a_character_has_all_of_its_spellings_or_none(char: str) -> None:
    only = matcher(Language.literals([char]).terminal())
    but = matcher((Language.length(1, 1) - Language.literals([char])).terminal())
    for spelling in spellings(char):
        assert accepts(only, f'"{spelling}"')
        assert not accepts(but, f'"{spelling}"')


@pytest.mark.parametrize(
    "code", [0x80, 0xFF, 0x100, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x103FF, 0x10400, 0x10FFFF]
)
def test_escapes_at_the_edges_of_a_range(code: int) -> None:
    below, above = Language.pattern(f"^[\\0-\\u{{{code:x}}}]$"), Language.pattern(f"^[\\u{{{code:x}}}-\\u{{10ffff}}]$")
    for language in (below, above):
        start = matcher(language.terminal())
        for near in (code - 1, code, code + 1):
            if not 0xD800 <= near <= 0xDFFF and near <= 0x10FFFF:
                for spelling in spellings(chr(near)):
                    assert accepts(start, f'"{spelling}"') == language.contains(chr(near)), hex(near)


def test_a_body_has_no_quotes() -> None:
    start = matcher(f'"<" {Language.pattern("^a+$").body()} ">"')
    assert accepts(start, "<aa>")
    assert not accepts(start, '<"aa">')


def test_the_empty_language_has_no_terminal() -> None:
    with pytest.raises(ValueError, match="empty"):
        Language.NONE.terminal()


def test_a_bound_beyond_any_answer_is_left_out() -> None:
    assert Language.length(0, 10**9).terminal() == Language.ALL.terminal()


def test_terminals_are_the_same_in_any_order_of_building() -> None:
    one, two, three = (Language.pattern(text) for text in ("^a", "b$", "c"))
    assert ((one | two) & three).terminal() == (three & (two | one)).terminal()
    assert Language.literals(["b", "a"]).terminal() == Language.literals(["a", "b", "a"]).terminal()


def test_a_length_beside_a_pattern_counts_the_pattern_s_characters() -> None:
    language = Language.pattern("^[a-z]+(?:-[a-z]+)*$") & Language.length(3, 9)
    text = language.terminal()
    assert "[\\x2da-z]{3,9}" in text
    assert "u(?:" not in text  # no escapes
    start = matcher(text)
    assert [accepts(start, f'"{word}"') for word in ("ab", "a-b", "abc-def-g", "abc-def-gh", "ab--cd", "é-b")] == [
        False,
        True,
        True,
        False,
        False,
        False,
    ]
