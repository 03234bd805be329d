"""The algebra of number sets."""

from __future__ import annotations

import pickle
import random
from fractions import Fraction
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.numbers import NumberSet
from tests.schemas.numbers.strategies import BOUNDS, STEPS, Case, cases, unhurried

ALL, NONE, INTEGERS = NumberSet.ALL, NumberSet.NONE, NumberSet.INTEGERS

probes = st.one_of(
    st.sampled_from(BOUNDS).map(Fraction),
    st.builds(lambda q, k: Fraction(str(q)) * k, st.sampled_from(STEPS), st.integers(-50, 50)),
    st.builds(Fraction, st.integers(-10000, 10000), st.sampled_from([1, 2, 4, 5, 10, 100, 1000])),
)
sets = cases.map(lambda case: case[0])


@given(sets, sets, probes)
@unhurried
def test_operations_are_pointwise(a: NumberSet, b: NumberSet, value: Fraction) -> None:
    assert (a & b).contains(value) == (a.contains(value) and b.contains(value))
    assert (a | b).contains(value) == (a.contains(value) or b.contains(value))
    assert (~a).contains(value) == (not a.contains(value))
    assert (a - b).contains(value) == (a.contains(value) and not b.contains(value))


@given(sets, sets)
@unhurried
def test_laws(a: NumberSet, b: NumberSet) -> None:
    assert a & b == b & a
    assert a | b == b | a
    assert a & a == a | a == a
    assert (a & ~a).is_empty()
    assert ~ALL == NONE
    assert a & ALL == a | NONE == a
    assert (a - a).is_empty()
    assert ((a & b) - a).is_empty()
    assert (a - (a | b)).is_empty()
    assert hash(a & b) == hash(b & a)


@given(cases, st.one_of(st.integers(-(10**17), 10**17), st.floats(-1e15, 1e15).map(lambda v: round(v, 6))))
@unhurried
def test_membership_is_what_the_validator_says(case: Case, value: int | float) -> None:
    numbers, schema = case
    assert numbers.contains(value) == jsonschema_rs.is_valid(schema, value)


@given(sets)
@unhurried
def test_an_empty_set_has_no_member_and_others_have(numbers: NumberSet) -> None:
    if numbers.is_empty():
        with pytest.raises(ValueError, match="empty"):
            numbers.shortest()
        with pytest.raises(ValueError, match="empty"):
            numbers.sample(random.Random(0))
        assert numbers.enumerate(10) == []
        return
    # The two readings part beyond 2^53 only; the tests of the spelling hold it to both.
    text = numbers.shortest()
    assert numbers.contains(Fraction(text)) or numbers.contains(float(text))
    rng = random.Random(1)
    assert all(numbers.contains(numbers.sample(rng)) for _ in range(10))


@given(sets)
@unhurried
def test_enumeration_is_complete(numbers: NumberSet) -> None:
    numbers = numbers & NumberSet.interval(-20, False, 20, False) & NumberSet.multiples(0.5)
    values = numbers.enumerate(81)
    assert values is not None
    assert values == sorted(set(values))
    assert (numbers - NumberSet.values(values)).is_empty()
    assert all(numbers.contains(value) for value in values)


@given(sets)
@unhurried
def test_a_superset_holds_the_set_and_can_be_spelled(numbers: NumberSet) -> None:
    wide = numbers.superset()
    assert (numbers - wide).is_empty()
    assert wide.rule()


def test_enumeration_of_small_sets() -> None:
    assert (NumberSet.interval(0, False, 5, True) & INTEGERS).enumerate(5) == [0, 1, 2, 3, 4]
    assert (NumberSet.interval(0, False, 5, True) & INTEGERS).enumerate(4) is None
    assert NumberSet.interval(1, False, 1, False).enumerate(1) == [1]
    assert INTEGERS.enumerate(1000) is None
    assert (NumberSet.interval(0, False, 10**30, True) & INTEGERS).enumerate(1000) is None
    assert (NumberSet.multiples(0.1) & NumberSet.interval(0, True, 0.35, False)).enumerate(9) == [
        Fraction(n, 10) for n in (1, 2, 3)
    ]


def test_empty_sets_are_found() -> None:
    assert (NumberSet.interval(0, True, 1, True) & INTEGERS).is_empty()
    assert NumberSet.interval(2, False, 1, False).is_empty()
    assert NumberSet.interval(1, True, 1, False).is_empty()
    assert (NumberSet.multiples(7) & NumberSet.interval(1, False, 6, False)).is_empty()
    assert (NumberSet.multiples(6) - NumberSet.multiples(3)).is_empty()
    assert not (NumberSet.multiples(3) - NumberSet.multiples(6)).is_empty()
    assert (NumberSet.multiples(0.5) & NumberSet.multiples(3) & NumberSet.interval(0, True, 3, True)).is_empty()


def test_equal_sets_have_equal_structure() -> None:
    assert INTEGERS | ~INTEGERS == ALL
    assert NumberSet.multiples(2) & NumberSet.multiples(3) == NumberSet.multiples(6)
    assert (ALL - NumberSet.values([3])) | NumberSet.values([3.0]) == ALL
    assert NumberSet.values([1, 1.0, Fraction(1)]) == NumberSet.values([1])
    assert NumberSet.interval(0, False, 1, False) | NumberSet.interval(1, True, 2, False) == NumberSet.interval(
        0, False, 2, False
    )


def test_big_floats_are_the_integers_that_they_hold() -> None:
    assert NumberSet.values([1e30]).contains(int(1e30))
    assert not NumberSet.values([1e30]).contains(10**30)
    assert NumberSet.values([0.1]).contains(Fraction(1, 10))


def test_there_is_nothing_beyond_the_doubles() -> None:
    assert NumberSet.interval(10**400, False, None, False).is_empty()
    assert NumberSet.values([10**400]).is_empty()
    assert NumberSet.interval(None, False, 10**400, True) == ALL


@pytest.mark.parametrize("step", [0, -1, -0.5])
def test_a_step_is_positive(step: Any) -> None:
    with pytest.raises(ValueError, match="positive"):
        NumberSet.multiples(step)


def test_sets_can_be_pickled() -> None:
    numbers = INTEGERS - NumberSet.multiples(5)
    assert pickle.loads(pickle.dumps(numbers)) == numbers
