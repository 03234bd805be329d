"""Sets of assignments as bit vectors, against sets of tuples."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from schemas.assignments import Space, kept

SIZES = st.lists(st.integers(1, 3), min_size=1, max_size=4)


@st.composite
def spaces_and_sets(draw: st.DrawFn) -> tuple[Space, int, set[tuple[int, ...]]]:
    space = Space(draw(SIZES))
    found = draw(st.integers(0, space.every))
    return space, found, read(space, found)


def read(space: Space, found: int) -> set[tuple[int, ...]]:
    everything = product(*map(range, space.sizes))
    return {assignment for number, assignment in enumerate(everything) if found >> number & 1}


@given(spaces_and_sets(), st.data())
def test_where_and_moved(given_set: tuple[Space, int, set[tuple[int, ...]]], data: st.DataObject) -> None:
    space, found, members = given_set
    at = data.draw(st.integers(0, len(space.sizes) - 1))
    digits = data.draw(st.sets(st.integers(0, space.sizes[at] - 1), min_size=1))
    assert read(space, found & space.where(at, digits)) == {m for m in members if m[at] in digits}
    digit = min(digits)
    assert read(space, space.moved(found, at, digit)) == {(*m[:at], 0, *m[at + 1 :]) for m in members if m[at] == digit}


@given(spaces_and_sets())
def test_tails(given_set: tuple[Space, int, set[tuple[int, ...]]]) -> None:
    space, found, members = given_set
    rest = Space(space.sizes[1:])
    for digit, tail in enumerate(space.tails(found, 0)):
        assert read(rest, tail) == {m[1:] for m in members if m[0] == digit}


@given(spaces_and_sets(), st.data())
def test_kept(given_set: tuple[Space, int, set[tuple[int, ...]]], data: st.DataObject) -> None:
    space, found, members = given_set
    chosen = st.none() | st.integers(0, 2)
    digits = [
        data.draw(st.lists(chosen.filter(lambda d, size=size: d is None or d < size), min_size=1, max_size=3))
        for size in space.sizes
    ]
    smaller = Space([len(each) for each in digits])
    expected = {
        numbers
        for numbers in product(*map(range, smaller.sizes))
        if tuple(digits[at][number] for at, number in enumerate(numbers)) in members
    }
    assert read(smaller, kept(space, found, digits)) == expected


def test_a_place_without_digits() -> None:
    space = Space([2, 0])
    assert space.every == 0
    assert space.where(0, (1,)) == 0
