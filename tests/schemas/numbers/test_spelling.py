"""The spellings of a set against membership, jsonschema-rs and what JSON writers print."""

from __future__ import annotations

import json
import math
import random
import re
from fractions import Fraction
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import TooComplex
from schemas.numbers import NumberSet
from tests.schemas.numbers.spelled import takes
from tests.schemas.numbers.strategies import Case, cases, spelled, texts, unhurried

ALL, INTEGERS = NumberSet.ALL, NumberSet.INTEGERS
JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def interval(lo: Any, hi: Any, *, lo_open: bool = False, hi_open: bool = False) -> NumberSet:
    return NumberSet.interval(lo, lo_open, hi, hi_open)


@given(cases, st.lists(texts, min_size=5, max_size=20))
@unhurried
def test_what_is_spelled_is_valid_in_every_reading(case: Case, found: list[str]) -> None:
    numbers, schema = case
    exact = spelled(numbers)
    for text in found:
        if not takes(exact, text):
            continue
        assert JSON_NUMBER.fullmatch(text)
        value = json.loads(text)
        assert math.isfinite(value)
        assert exact.contains(value), text
        assert exact.contains(Fraction(text)) or abs(value) >= 2**53, text
        if exact == numbers:
            assert jsonschema_rs.is_valid(schema, value), text


@pytest.mark.parametrize(("low", "high"), [(None, 0), (0, None), (None, None), (0, 0), (-3, 3)])
@pytest.mark.parametrize("step", [1, 7, Fraction(1, 4)])
def test_zero_at_the_edge_of_numbers_that_are_no_multiples(low: int | None, high: int | None, step: Any) -> None:
    """Zero is a multiple of everything, with either sign, and stays out where a stretch of the line ends at it."""
    numbers = ~(NumberSet.multiples(step) & interval(low, high))
    for text in ("0", "-0", "0.0", "-0.0"):
        assert not takes(numbers, text), text
    for text in ("0.3", "-0.3"):
        assert takes(numbers, text), text


@given(cases, st.one_of(st.floats(-1e15, 1e15), st.integers(-(10**15), 10**15), st.floats(-2, 2), st.integers(-9, 9)))
@unhurried
def test_what_json_writers_print_for_a_member_is_taken(case: Case, value: int | float) -> None:
    numbers = spelled(case[0])
    if numbers.contains(value) and not _beyond_doubles(numbers, value):
        assert takes(numbers, json.dumps(value))


def _beyond_doubles(numbers: NumberSet, value: int | float) -> bool:
    """A decimal with sixteen digits or more among multiples: its double may be printed otherwise elsewhere."""
    periodic = any(term.step is not None or term.without for region in numbers.regions for term in region.terms)
    return periodic and len(re.sub(r"[-.e]|e.*", "", repr(value)).strip("0")) > 15


@given(cases)
@unhurried
def test_every_set_spells_some_member(case: Case) -> None:
    numbers = spelled(case[0])
    if numbers.is_empty():
        return
    rng = random.Random(0)
    members = [numbers.shortest(), *(_text(numbers.sample(rng)) for _ in range(20))]
    assert any(takes(numbers, text) for text in members)


def _text(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else repr(float(value))


@given(st.floats(allow_nan=False, allow_infinity=False))
@unhurried
def test_every_double_is_spelled_as_python_prints_it(value: float) -> None:
    if abs(value) <= 1.7e308:
        assert takes(ALL, json.dumps(value))
        assert takes(INTEGERS, json.dumps(value)) == value.is_integer()
        if value.is_integer() or abs(value - round(value)) > abs(value) * 2**-49:
            assert takes(~INTEGERS, json.dumps(value)) == (not value.is_integer())


@given(st.integers(-(10**79), 10**79))
@unhurried
def test_every_long_integer_is_spelled(value: int) -> None:
    assert takes(ALL, str(value))
    assert takes(INTEGERS, str(value))
    assert not takes(~INTEGERS, str(value))


@pytest.mark.parametrize("text", ["1e400", "1e309", "1.8e308", "-1e999999", "9" * 400, "0." + "1" * 200])
@pytest.mark.parametrize("numbers", [ALL, INTEGERS, ~INTEGERS, interval(0, None), NumberSet.multiples(0.01)])
def test_overflow_and_endless_digits_are_not_spelled(numbers: NumberSet, text: str) -> None:
    assert not takes(numbers, text)


@pytest.mark.parametrize(
    "text", ["1.e2", "01", "-01", "00", "1.", ".5", "+1", "1e", "1e+", "0x1", "1_0", "", "-", "e5", "NaN"]
)
def test_only_json_numbers_are_spelled(text: str) -> None:
    assert not takes(ALL, text)
    assert not takes(INTEGERS, text)


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-0",
        "0.0",
        "-0.0",
        "1",
        "1.0",
        "1e-07",
        "1e-7",
        "1E+5",
        "1e22",
        "1e+22",
        "1.5e300",
        "0.10",
        "5e-324",
        "2.5E-3",
        "9007199254740993",
        "18446744073709551615",
        "-9223372036854775808",
        "1.7976931348623157e308",
    ],
)
def test_the_usual_spellings(text: str) -> None:
    assert takes(ALL, text)
    assert takes(INTEGERS, text) == (Fraction(text).denominator == 1)


@pytest.mark.parametrize(
    ("numbers", "taken", "refused"),
    [
        (interval(0.1, None), ["0.1", "0.10", "1e-1", "0.2"], ["0.09999999999999999999", "0.0999", "0", "9.99e-2"]),
        (
            interval(None, 1, hi_open=True),
            ["0.9999999999999999", "0.5", "-5", "9.999999999999999e-1"],
            ["0.99999999999999999999", "1", "1.0", "1e0", "9.9999999999999999e-1"],
        ),
        (interval(0, None, lo_open=True), ["0.1", "5e-324", "1e-300"], ["0", "0.0", "-0", "1e-400", "0.000"]),
        (interval(0, None), ["0", "-0", "-0.0", "0.0"], ["-1", "-0.1", "-5e-324"]),
        (interval(-1.5, 2.5), ["-1.5", "-1.50", "2.5", "0", "-0.25"], ["-1.51", "2.51", "3", "-2"]),
        (
            interval(2**53 + 1, None),
            ["9007199254740993", "9007199254740994.0"],
            ["9007199254740992", "9007199254740993.0"],
        ),
        (interval(1e300, None), ["1e300", "1e+300", "1.5e308"], ["9.9e299", "1", "1e309"]),
        (interval(None, -1e300), ["-1e300", "-1.5e308"], ["-1e299", "1e300"]),
        (interval(0.2, 0.1), [], ["0.1", "0.15", "0.2"]),
        (
            NumberSet.multiples(0.1),
            ["0.3", "0.30", "1", "1.0", "-0.7", "0", "1e5"],
            ["0.30000000000000004", "0.05", "0.31"],
        ),
        (NumberSet.multiples(1e-8), ["1e-08", "1e-8", "0.00000001", "1.5e-7"], ["1e-09", "1.55e-08"]),
        (
            NumberSet.multiples(1e9),
            ["0", "1000000000", "-3000000000", "1000000000.0"],
            ["1", "1500000000", "100000000"],
        ),
        (NumberSet.multiples(2.5), ["2.5", "5", "7.50", "-2.5", "0"], ["2", "1.25", "2.55"]),
        (NumberSet.multiples(77), ["77", "-154", "0", "77.0"], ["78", "7", "77.5"]),
        (INTEGERS - NumberSet.multiples(5), ["1", "-4", "7.0"], ["0", "5", "-10", "5.0", "1.5"]),
        (~INTEGERS, ["0.5", "3.141592653589793", "1e-7", "-2.25"], ["1", "1.0", "0", "0.99999999999999999999"]),
        (
            NumberSet.values([1e-7, -0.5, 3]),
            ["1e-07", "1e-7", "-0.5", "3", "3.0", "3.000"],
            ["0.5", "2", "30"],
        ),
        (NumberSet.values([10**30]), [str(10**30)], ["1e30"]),
        (NumberSet.values([1e30]), ["1e30", "1e+30"], [str(10**30)]),
        (NumberSet.values([2**53 + 1]), ["9007199254740993"], ["9007199254740993.0", "9007199254740992"]),
    ],
)
def test_cases(numbers: NumberSet, taken: list[str], refused: list[str]) -> None:
    assert [text for text in taken if not takes(numbers, text)] == []
    assert [text for text in refused if takes(numbers, text)] == []


def test_plain_integers_have_no_point_and_no_exponent() -> None:
    for text, taken in (("5", True), ("-5", True), ("5.0", False), ("5e0", False), ("0", True), ("1e22", False)):
        assert takes(INTEGERS, text, plain=True) is taken
    teens = interval(9.5, 19) & NumberSet.multiples(3)
    assert [n for n in range(100) if takes(teens, str(n), plain=True)] == [12, 15, 18]


def test_multiples_are_spelled_or_too_complex() -> None:
    for step in (123457, 1e-30, 0.77, 0.9):
        numbers = NumberSet.multiples(step)
        with pytest.raises(TooComplex):
            numbers.rule()
        assert numbers.superset().rule()
    assert takes(NumberSet.multiples(123457) & interval(0, 10**7), str(123457 * 80))


@pytest.mark.parametrize("step", [0.01, 0.1, 0.3, 0.07, 0.25, 0.125, 1.1, 2.5, 1e-4, 1.5, 3, 7, 12, 256, 999])
def test_multiples_agree_with_the_validator(step: float) -> None:
    """Sums such as 0.1 + 0.2 included: what the validator calls no multiple is not spelled."""
    numbers, rng = NumberSet.multiples(step), random.Random(0)
    judge = jsonschema_rs.validator_for({"multipleOf": step})
    try:
        numbers.rule()
    except TooComplex:
        numbers = numbers.superset()
    agreed = 0
    for _ in range(1000):
        value = rng.choice(
            [step * rng.randrange(1000), rng.randrange(-(10**6), 10**6), rng.uniform(-100, 100), 0.1 + 0.2]
        )
        text = json.dumps(rng.choice([value, round(value, 3)]))
        if judge.is_valid(json.loads(text)):
            agreed += 1
            assert takes(numbers, text), text
        elif numbers == NumberSet.multiples(step):
            assert not takes(numbers, text), text
    assert agreed > 100
