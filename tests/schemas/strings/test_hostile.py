"""Hostile patterns end in an answer, in `TooComplex` or in a superset: never in a hang, a crash or an empty hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_

import pytest

from schemas.errors import TooComplex
from schemas.strings import Language
from tests.schemas.strings.lexer import matcher

_pattern, _length = Language.pattern, Language.length

HOSTILE: dict[str, Callable[[], Language]] = {
    "nested stars": lambda: _pattern("^(((((a*)*)*)*)*)*b$"),
    "ambiguous alternatives": lambda: _pattern("^((a|a)*){1,50}b$"),
    "catastrophic backtracking": lambda: _pattern("(x+x+)+y"),
    "3,000 alternatives": lambda: _pattern("|".join(f"w{n * 7919 % 100_003}" for n in range(3_000))),
    "an unanchored count": lambda: _pattern("[a-z]{1,129}"),
    "a large count": lambda: _pattern("^[a-z]{1,100000}$") & _length(5_000, None),
    "a huge length": lambda: _pattern("^a") & _length(0, 10**9),
    "a huge minimum": lambda: _pattern("^a+b?$") & _length(10**9, None),
    "counts of counts": lambda: _pattern("^((a{1,1000}){1,1000}){1,1000}$"),
    "counts with gaps": lambda: _pattern("^((aa){5,7}b){1000}$"),
    "exponentially many states": lambda: _pattern("^.*a.{40}$"),
    "and more of them": lambda: _pattern("^.*a.{18}$") & _pattern("^.*b.{17}$") & _pattern("^[^b]*$"),
    "16 look-aheads": lambda: _pattern("".join(f"(?=.*{char})" for char in "abcdefghijklmnop")),
    "16 negative look-aheads": lambda: _pattern("".join(f"(?!.*{char}{char})" for char in "abcdefghijklmnop")),
    "a wide look-behind": lambda: _pattern("(?<!a.{30})b$"),
    "30 searches": lambda: reduce(and_, [_pattern(one + two) for one in "abcdef" for two in "ghijk"]),
    "2,000 excluded names": lambda: ~Language.literals(f"name_{n * 7919}" for n in range(2_000)),
    "a long literal": lambda: Language.literals(["ab" * 5_000]),
    "optional chains": lambda: _pattern("^" + "(a?)" * 60 + "a" * 60 + "$"),
    "words and a length": lambda: _pattern(r"^(?:\S+\s+){0,99}\S+$") & _length(0, 500),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_languages_are_answered(name: str) -> None:
    language = HOSTILE[name]()
    try:
        empty = language.is_empty()
    except TooComplex:
        empty = False
    if empty:
        return
    found, reason = language.affordable()
    matcher(found.terminal())
    assert (found == Language.ALL) <= (reason is not None)
    try:
        member = language.shortest()
    except TooComplex:
        return
    assert member is not None
    assert language.contains(member)
    assert found.contains(member)


def test_the_same_question_has_the_same_answer_whatever_was_asked_before() -> None:
    def ask() -> tuple[str, str | None]:
        language = _pattern("^.*a.{18}$") & _pattern("^.*b.{17}$") & _pattern("^[^b]*$")
        try:
            return str(language.shortest()), None
        except TooComplex as error:
            return "", error.reason

    first = ask()
    _pattern("^.*a.{18}$").enumerate(10)
    assert ask() == first
