"""The same spellings inside llguidance: every form compiles, and takes what the expressions say."""

from __future__ import annotations

import random
from fractions import Fraction

import llguidance
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import TooComplex
from schemas.numbers import NumberSet
from tests.schemas.numbers.spelled import takes
from tests.schemas.numbers.strategies import Case, cases, spelled, texts, unhurried

BYTES = llguidance.LLTokenizer("byte")


def matcher(expression: str, *, in_terminal: bool = False) -> llguidance.LLMatcher:
    name = "NUMBER" if in_terminal else "number"
    grammar = f'start: "[" {name} "]"\n{name}: {expression}\n'
    error = llguidance.LLMatcher.validate_grammar(grammar, BYTES)
    assert not error, error
    return llguidance.LLMatcher(BYTES, grammar)


def consumes(origin: llguidance.LLMatcher, text: str) -> bool:
    copy = origin.deep_copy()
    raw = list(f"[{text}]".encode())
    complete = copy.try_consume_tokens(raw) == len(raw) and copy.is_accepting()
    assert not copy.is_error(), copy.get_error()
    return bool(complete)


@given(cases, st.lists(texts, min_size=10, max_size=30))
@unhurried
def test_rules_take_what_the_expressions_take(case: Case, found: list[str]) -> None:
    numbers = spelled(case[0])
    origin = matcher(numbers.rule())
    for text in found:
        assert consumes(origin, text) == takes(numbers, text), text


@given(cases)
@unhurried
def test_terminals_and_regular_expressions_compile(case: Case) -> None:
    for expression in (NumberSet.terminal, NumberSet.plain_terminal):
        try:
            found = expression(case[0])
        except TooComplex:
            continue
        matcher(found, in_terminal=True)
    try:
        matcher(f"/{case[0].regex()}/", in_terminal=True)
    except TooComplex:
        return


@pytest.mark.parametrize(
    "numbers",
    [
        NumberSet.ALL,
        NumberSet.INTEGERS,
        NumberSet.interval(0.12345678901234567, False, 98765432.123456789, True),
        NumberSet.interval(-(2**53) + 1, False, 2**53 - 1, False) & NumberSet.INTEGERS,
        NumberSet.interval(1e-6, False, 1e6, False),
        NumberSet.multiples(0.01),
        NumberSet.multiples(997),
        NumberSet.multiples(1.5),
        ~NumberSet.INTEGERS,
        NumberSet.INTEGERS - NumberSet.multiples(3),
        NumberSet.interval(1e300, True, None, False),
        NumberSet.values(range(500)),
    ],
    ids=lambda numbers: "",
)
def test_random_walks_end_in_members(numbers: NumberSet) -> None:
    """Following the masks never leads into a dead end or an error, and only to members."""
    origin = matcher(numbers.rule())
    rng = random.Random(0)
    for _ in range(10):
        copy, out = origin.deep_copy(), bytearray()
        while not copy.is_stopped():
            allowed = [token for token in range(256) if copy.compute_logit_bias()[token]]
            if not allowed or (copy.is_accepting() and not allowed):
                break
            closing = ord("]") in allowed
            token = ord("]") if closing and rng.random() < 0.3 else rng.choice(allowed)
            out.append(token)
            assert copy.consume_token(token)
        assert not copy.is_error(), copy.get_error()
        text = out.decode().strip("[]")
        assert numbers.contains(Fraction(text)), text
        assert takes(numbers, text), text


def test_the_empty_set_is_a_grammar_that_takes_nothing() -> None:
    assert NumberSet.NONE.rule() == NumberSet.NONE.terminal()
    with pytest.raises(TooComplex):
        (NumberSet.multiples(3) & NumberSet.interval(10**20, False, None, False)).rule()
