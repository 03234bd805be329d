"""What the lexer cannot bear is replaced by a superset of it; everything else stays as it is."""

from __future__ import annotations

import random
from functools import reduce
from operator import or_, sub

import pytest

from schemas import SchemaError, compile_schema
from schemas.strings import Language
from schemas.strings.determinise import determinised
from schemas.strings.probe import suspicious
from tests.schemas.acceptance import Grammar
from tests.schemas.strings.lexer import accepts, matcher, spelled

_pattern, _length = Language.pattern, Language.length


def _one_of(*words: str) -> Language:
    """Strings in which exactly one of the words is found."""
    found = [_pattern(word) for word in words]
    return reduce(or_, (reduce(sub, (other for other in found if other is not one), one) for one in found))


BORNE = [
    _pattern(r"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[\W_]).{8,}$"),
    _pattern(r"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z\d@$!%*?&]{8,}$"),
    _pattern(r"^(?!.*--)[a-z0-9-]{1,63}$"),
    _pattern(r"^(?:\S+\s+){0,99}\S+$"),
    _pattern(r"^[^@]+@[^@]+\.[a-z]{2,}$") & _length(3, 254),
    ~Language.literals(f"name_{n}" for n in range(100)) & _length(1, 64),
    _pattern("[a-z]{1,129}"),
]


@pytest.mark.parametrize("language", BORNE)
def test_what_real_schemas_use_stays_exact(language: Language) -> None:
    found, reason = language.affordable()
    assert reason is None
    start = matcher(found.terminal())
    rng = random.Random(1)
    for _ in range(10):
        member = language.sample(rng)
        assert found.contains(member)
        assert accepts(start, spelled(member, rng))
    for text in ("", "a", "a--b", "name_7", "no member\n"):
        assert found.contains(text) == language.contains(text)
        assert accepts(start, spelled(text, rng)) == language.contains(text)


@pytest.mark.parametrize(
    "language",
    [
        # Bearable by letters, not by a vocabulary that has these words as tokens.
        _one_of("customer", "maker", "operator", "admin", "designer"),
        _pattern(r"^(?:\S+\s+){0,99}\S+$") & _length(0, 500),
        _pattern(r"^(.{1,63}\.){1,127}x$") & _pattern(r"^(?:\S+\s+){0,99}\S+$"),
    ],
)
def test_what_would_explode_becomes_a_superset_with_a_reason(language: Language) -> None:
    found, reason = language.affordable()
    assert reason
    rng = random.Random(1)
    for _ in range(10):
        assert found.contains(language.sample(rng))
    assert found.affordable() == (found, None)


def test_a_costly_part_of_a_union_is_seen_whatever_the_shortest_word_of_the_whole() -> None:
    mail = {"oneOf": [{"minLength": 1}, {"format": "email"}, {"pattern": "(a+)+$"}]}
    grammar = Grammar({"type": "string", "oneOf": [mail, {"format": "hostname"}], "minLength": 5})
    walker = grammar.origin.deep_copy()
    for byte in b'"hello world"':
        walker.compute_bitmask()
        assert walker.consume_token(byte), walker.get_error()
    assert walker.is_accepting()


def test_what_turns_out_to_be_empty_is_no_fault() -> None:
    for pattern in (r"^[\w.-]+@[\w.-]+$", r"^(?=.*[A-Z])(?=.*@).{8,200}$"):
        with pytest.raises(SchemaError, match="unsatisfiable"):
            compile_schema({"type": "string", "pattern": pattern, "format": "hostname"})


def test_simple_forms_are_not_measured() -> None:
    simple = ["^[a-z]{1,255}$", "^x-", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}$", "^(a|b)*$", r"^\d{4}-\d\d-\d\d$"]
    assert not any(suspicious(_pattern(text).regex) for text in simple)
    assert not suspicious((~Language.literals(["a", "b"]) & _length(0, 64)).regex)
    assert suspicious((_pattern("a.*b") & _length(0, 64)).regex)
    assert suspicious(_pattern("^.*a.{12}$").regex)


def test_small_automata_are_written_out() -> None:
    language = _pattern(r"^(?!.*--)[a-z-]{1,63}$")
    written = determinised(language.regex)
    assert written != language.regex
    assert len(Language(written).terminal()) < len(language.terminal())
    for text in ("a", "a-b", "a--b", "-", "", "a" * 63, "a" * 64):
        assert Language(written).contains(text) == language.contains(text)
