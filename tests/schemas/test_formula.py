"""The complement of a formula holds exactly where the formula does not."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.formula import (
    And,
    At,
    Count,
    Every,
    Formula,
    From,
    Has,
    Lacks,
    Matching,
    Member,
    Or,
    Region,
    Some,
    conjunction,
    disjunction,
    negate,
)

KEYS = ["a", "b", "c"]


def satisfies(value: int, goal: int) -> bool:
    """Values are 0 to 3; a goal is a set of them, as four bits."""
    return bool(goal >> value & 1)


def complement(goal: int) -> int:
    return 15 ^ goal


def holds(formula: Formula, value: Any) -> bool:
    match formula:
        case bool():
            return formula
        case And(parts):
            return all(holds(part, value) for part in parts)
        case Or(parts):
            return any(holds(part, value) for part in parts)
        case Has(key):
            return key in value
        case Lacks(key):
            return key not in value
        case Member(key, goal):
            return key not in value or satisfies(value[key], goal)
        case Every(region, goal):
            return all(satisfies(v, goal) for k, v in value.items() if k in region)
        case Some(region, goal):
            return any(satisfies(v, goal) for k, v in value.items() if k in region)
        case At(index, goal):
            return len(value) <= index or satisfies(value[index], goal)
        case From(index, goal):
            return all(satisfies(v, goal) for v in value[index:])
        case Matching(index, goal, least, most):
            count = sum(satisfies(v, goal) for v in value[index:])
            return least <= count and (most is None or count <= most)
        case Count(least, most):
            return least <= len(value) and (most is None or len(value) <= most)
    raise AssertionError(formula)


goal_sets = st.integers(0, 15)
regions = st.builds(lambda names: Region(names=frozenset(names)), st.sets(st.sampled_from(KEYS)))
counts = st.builds(
    lambda low, more: Count(low, None if more is None else low + more), st.integers(0, 3), st.none() | st.integers(0, 2)
)
object_literals: st.SearchStrategy[Formula] = st.one_of(
    st.builds(Has, st.sampled_from(KEYS)),
    st.builds(Lacks, st.sampled_from(KEYS)),
    st.builds(Member, st.sampled_from(KEYS), goal_sets),
    st.builds(Every, regions, goal_sets),
    st.builds(Some, regions, goal_sets),
    counts,
)
array_literals: st.SearchStrategy[Formula] = st.one_of(
    st.builds(At, st.integers(0, 2), goal_sets),
    st.builds(From, st.integers(0, 2), goal_sets),
    st.builds(
        lambda index, goal, low, more: Matching(index, goal, low, None if more is None else low + more),
        st.integers(0, 2),
        goal_sets,
        st.integers(0, 2),
        st.none() | st.integers(0, 2),
    ),
    counts,
)


def formulas(literals: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    return st.recursive(
        st.booleans() | literals,
        lambda inner: st.lists(inner, max_size=3).flatmap(
            lambda parts: st.sampled_from([conjunction(parts), disjunction(parts)])
        ),
        max_leaves=8,
    )


@given(formulas(object_literals), st.dictionaries(st.sampled_from(KEYS), st.integers(0, 3)))
def test_complements_of_object_formulas(formula: Formula, value: dict[str, int]) -> None:
    assert holds(negate(formula, complement), value) is not holds(formula, value)


@given(formulas(array_literals), st.lists(st.integers(0, 3), max_size=4))
def test_complements_of_array_formulas(formula: Formula, value: list[int]) -> None:
    assert holds(negate(formula, complement), value) is not holds(formula, value)
