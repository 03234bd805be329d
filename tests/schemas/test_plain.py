"""Shapes that are read off a formula are those that solving it comes to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schemas.algebra import Algebra
from schemas.document import load
from schemas.formula import Every, Formula, Has, Member, Region, conjunction
from schemas.goals import ANYTHING, NOTHING, Goals
from schemas.limits import Limits
from schemas.objects import ObjectState
from schemas.plain import plain_shapes
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
    assert plain_shapes(algebra, formula) == tuple(_solved(algebra, formula))


def test_what_is_not_plain_is_left_to_solving() -> None:
    algebra = _algebra()
    pattern = Every(Region(within=StringSet.literals(["a"])), 2)
    assert plain_shapes(algebra, pattern) is None
    assert plain_shapes(algebra, conjunction((Has("a"), pattern))) is None
