"""ECMA-262 patterns against jsonschema-rs, which has the last word on every value."""

from __future__ import annotations

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from schemas.errors import TooComplex
from schemas.strings import Language, PatternError
from tests.schemas.strings.strategies import patterns, texts


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(patterns, st.lists(texts, min_size=6, max_size=12))
def test_random_patterns_with_assertions_anywhere(pattern: str, strings: list[str]) -> None:
    try:
        judge = jsonschema_rs.validator_for({"pattern": pattern}, offline=True)
        language = Language.pattern(pattern)
    except (jsonschema_rs.ValidationError, TooComplex):
        assume(False)
    for text in strings:
        assert language.contains(text) == judge.is_valid(text), text


CASES = [
    # anchors and alternation
    ("^dev|alpha|rc$", ["dev1", "xalpha", "rc", "src"], ["xdev", "rcx"]),
    ("a^b", [], ["ab", "a\nb", ""]),
    ("a$b|c", ["c"], ["ab"]),
    ("(^|,)foo(,|$)", ["foo", "foo,", "a,foo", "a,foo,b"], ["afoo", "foob"]),
    ("^a$", ["a"], ["a\n", "\na", "aa"]),
    ("(?m)^a$", ["b\na\nc", "a"], ["ba"]),
    ("", ["", "a"], []),
    # classes and escapes
    (r"^[\w.-]+$", ["a.b-c_1"], ["a b", "é"]),
    (r"^\s$", [" ", "\u00a0", "\ufeff", "\u2028", "\u1680"], ["\x85", "\u180e", "\x1c"]),
    ("^.$", ["a", "😀", "\x85"], ["\n", "\r", "\u2028", "\u2029", ""]),
    (r"^\u{1F600}|\x41\u0042|\cA$", ["😀", "AB", "\x01"], ["A"]),
    (r"^[\-\/\_\@\%\#\ ]$", ["-", "/", "_", "@", "%", "#", " "], ["\\"]),
    ("^[[a]]$", ["[]", "a]"], ["a", "[a]"]),
    ("^[[:alpha:]]$", [":]", "a]"], ["a", "b"]),
    ("^[a&&b]$", ["a", "&", "b"], ["c"]),
    ("^[^^]$", ["a"], ["^"]),
    ("]}", ["]}"], ["]"]),
    (r"^\p{Lu}\p{Script=Greek}\P{L}$", ["Aα1", "ÉΩ-"], ["aα1", "Aa1"]),
    (r"^[\p{L}\p{Nd}]+$", ["Größe1", "日本"], ["a b"]),
    # quantifiers
    ("^a{2,3}?$", ["aa", "aaa"], ["a", "aaaa"]),
    ("^(?:ab){0}$", [""], ["ab"]),
    ("^(?:a?)*?$", ["", "aaa"], ["b"]),
    ("^a{0,2}{3}$", ["a{3}", "{3}"], ["aaa"]),
    # flags and groups
    ("(?i)^abc$", ["ABC", "aBc"], ["ab"]),
    ("^(?i:a)b$", ["Ab", "ab"], ["AB"]),
    ("(?i)^k$", ["K", "\u212a"], []),
    ("(?<name>a)(?P<other>b)", ["ab"], ["a"]),
    ("(?x) a b # comment", ["ab"], ["a b"]),
    (r"\Aa\z", ["a"], ["ab"]),
    # word boundaries
    (r"\bfoo\b", ["foo", "a foo!", "-foo-"], ["afoo", "foo1"]),
    (r"^a\Bb$", ["ab"], []),
    (r"\B", [""], ["a"]),
    (r"\<ab", ["ab", "-ab"], ["cab"]),
    (r"ab\>", ["ab", "ab-"], ["abc"]),
    # looking around
    (r"^(?!.*--)[a-z-]+$", ["a-b"], ["a--b"]),
    (r"^(?=.*\d)(?=.*[a-z]).{3,}$", ["a1b"], ["abc", "123", "a1"]),
    (r"(?<=a)b", ["ab", "xab"], ["b", "bb"]),
    (r"(?<!ab)c$", ["c", "ac", "abbc"], ["abc"]),
    (r"^((?!mode).)*$", ["", "mod", "Mode"], ["mode", "a mode b"]),
    (r"^([^,]+(,|$)){3,}$", ["a,b,c", "a,b,c,d"], ["a,b", "a,,b"]),
    (r"^(?:(?!ab)[abc])*ab$", ["ab", "ccab"], ["abab"]),
    (r"^(?!(?=a)b|c)", ["a", "b", ""], ["c"]),
]


@pytest.mark.parametrize(("pattern", "members", "others"), CASES)
def test_what_a_pattern_means(pattern: str, members: list[str], others: list[str]) -> None:
    language = Language.pattern(pattern)
    judge = jsonschema_rs.validator_for({"pattern": pattern}, offline=True)
    for text in members:
        assert language.contains(text), text
        assert judge.is_valid(text), text
    for text in others:
        assert not language.contains(text), text
        assert not judge.is_valid(text), text


LENIENT = [
    (r"^[\w-.]$", ["-", ".", "a"], ["+"]),
    ("a{", ["a{"], ["a"]),
    ("^a{,3}$", ["a{,3}"], ["aaa"]),
    (r"^\0$", ["\0"], ["0"]),
    (r"^[\b]$", ["\b"], ["b"]),
    ("^[]$", [], ["", "a"]),
    ("^[^]$", ["a", "\n"], [""]),
    (r"^\ud83d\ude00$", ["😀"], []),
    (r"^[\ud83d\ude00]$", ["😀"], ["\ud83d"]),
]


@pytest.mark.parametrize(("pattern", "members", "others"), LENIENT)
def test_annex_b_of_ecma_262(pattern: str, members: list[str], others: list[str]) -> None:
    language = Language.pattern(pattern)
    assert all(map(language.contains, members))
    assert not any(map(language.contains, others))


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("*a", "nothing to repeat at character 0"),
        ("a**", "a quantifier after a quantifier"),
        ("(a", "a group without an end"),
        ("a)", "unmatched )"),
        ("[a", "a class without an end"),
        ("[z-a]", "a range out of order"),
        ("a{3,1}", "out of order"),
        ("(?>a)", "an unknown kind of group"),
        (r"\p{Nonsense}", "the unknown Unicode property Nonsense"),
        (r"\u{110000}", "a malformed code point escape"),
        (r"\x4", "2 hexadecimal digits"),
        (r"\Q", r"the unknown escape \Q"),
        ("\\", "a backslash without a character"),
        ("(" * 200, "nested more than 100 deep"),
    ],
)
def test_a_malformed_pattern_names_the_fault(pattern: str, fault: str) -> None:
    with pytest.raises(PatternError) as caught:
        Language.pattern(pattern)
    assert fault in caught.value.reason


@pytest.mark.parametrize("pattern", [r"(a)\1", r"(?<n>a)\k<n>", "a" * 100_001])
def test_what_is_not_regular_or_too_long_is_too_complex(pattern: str) -> None:
    with pytest.raises(TooComplex):
        Language.pattern(pattern)


def test_where_readings_differ_only_sure_strings_are_emitted_under_complement_too() -> None:
    # ECMA-262 says that é is no word character, jsonschema-rs says that it is one in a pattern with look-around.
    language = Language.pattern(r"^(?!x)\w+$")
    assert language.contains("a")
    assert not language.contains("é")
    assert not (~language).contains("é")
    assert (~language).contains("x")
    assert ~~language == language
    assert (language | ~language) != Language.ALL
    negated = Language.pattern(r"^(?!x)\W$")
    assert negated.contains("-")
    assert negated.contains("😀")
    assert not negated.contains("é")
