"""Shapes that are read off a formula are those that solving it comes to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schemas.algebra import Algebra
from schemas.arrays import ArrayState
from schemas.document import load
from schemas.formula import At, Count, Every, Formula, From, Has, Member, Region, conjunction
from schemas.goals import ANYTHING, NOTHING, Goals
from schemas.limits import Limits
from schemas.objects import ObjectState
from schemas.plain import plain_arrays, plain_objects
from schemas.shapes import ObjectShape
from schemas.solving import cases
from schemas.stringset import StringSet

SCHEMA = {"allOf": [{"type": "string"}, {"type": "integer"}, {"enum": ["a", 1]}, {"required": ["x"]}]}

KEYS = st.sampled_from("abcd")
GOALS = st.sampled_from([NOTHING, ANYTHING, 2, 3, 4, 5])
LITERALS = st.one_of(
    st.builds(Has, KEYS),
    st.builds(Member, KEYS, GOALS),
    st.builds(lambda names, goal: Every(Region(names=names), goal), st.frozensets(KEYS), GOALS),
)
ARRAY_LITERALS = st.one_of(
    st.builds(From, st.just(0), GOALS),
    st.builds(Count, st.integers(0, 3), st.none() | st.integers(0, 3)),
)


def _algebra() -> Algebra:
    goals = Goals(load(SCHEMA, Limits()), Limits())
    atoms = [goals.atom(node) for node in goals.nodes[0].all_of]
    assert atoms == [2, 3, 4, 5]
    return Algebra(goals)


def _solved(algebra: Algebra, formula: Formula) -> list[ObjectShape]:
    return [shape for s in cases(formula, ObjectState(algebra), algebra.goals, 10) for shape in s.shapes()]


@given(st.lists(LITERALS, max_size=8))
def test_read_off_as_solved(literals: list[Formula]) -> None:
    algebra = _algebra()
    formula = conjunction(literals)
    assert plain_objects(algebra, formula) == tuple(_solved(algebra, formula))


def test_what_is_not_plain_is_left_to_solving() -> None:
    algebra = _algebra()
    pattern = Every(Region(within=StringSet.literals(["a"])), 2)
    assert plain_objects(algebra, pattern) is None
    assert plain_objects(algebra, conjunction((Has("a"), pattern))) is None


@given(st.lists(ARRAY_LITERALS, max_size=5))
def test_arrays_read_off_as_solved(literals: list[Formula]) -> None:
    algebra = _algebra()
    formula = conjunction(literals)
    solved = [shape for s in cases(formula, ArrayState(algebra), algebra.goals, 10) for shape in s.shapes()]
    assert plain_arrays(algebra, formula) in (None, tuple(solved))


def test_arrays_with_a_place_of_their_own_are_left_to_solving() -> None:
    algebra = _algebra()
    assert plain_arrays(algebra, From(0, 2)) is not None
    assert plain_arrays(algebra, conjunction((From(0, 2), Count(1, 3)))) is not None
    assert plain_arrays(algebra, From(1, 2)) is None
    assert plain_arrays(algebra, conjunction((From(0, 2), At(0, 3)))) is None
