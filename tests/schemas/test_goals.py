"""Goals are hash-consed: equal sets of the same form have one id."""

from __future__ import annotations

from fractions import Fraction

import pytest

from schemas.document import load
from schemas.errors import SchemaError
from schemas.goals import ANYTHING, NOTHING, Goals, Mode, value_key
from schemas.limits import Limits


def goals(schema: dict[str, object] | bool, **limits: int) -> Goals:
    return Goals(load(schema), Limits(**limits))


def test_boolean_laws_hold_by_identity() -> None:
    table = goals({"properties": {"a": {"type": "string"}, "b": {"minimum": 1}}})
    a, b = table.atom(1), table.atom(2)
    assert table.conjunction([a, b]) == table.conjunction([b, a, b])
    assert table.conjunction([a, table.negate(a)]) == NOTHING
    assert table.disjunction([a, table.negate(a)]) == ANYTHING
    assert table.conjunction([a, ANYTHING]) == a
    assert table.disjunction([a, NOTHING]) == a
    both = table.conjunction([a, b])
    assert table.negate(table.negate(both)) == both
    assert table.negate(both) == table.disjunction([table.negate(a), table.negate(b)])


def test_nodes_that_say_nothing_are_anything() -> None:
    table = goals({"properties": {"a": {}, "b": True, "c": False, "d": {"title": "x"}}})
    assert [table.atom(node) for _, node in table.nodes[0].properties] == [ANYTHING, ANYTHING, NOTHING, ANYTHING]


def test_a_reference_is_the_goal_that_it_refers_to() -> None:
    table = goals({"properties": {"a": {"$ref": "#", "uniqueItems": False}}})
    assert table.nodes[1].refs == (0,)
    assert table.atom(1) == table.atom(0)


def test_what_is_excluded_is_never_closed() -> None:
    table = goals({"properties": {"a": {"type": "string"}}})
    closed = table.atom(0, Mode.CLUSTER)
    assert closed != table.atom(0)
    assert table.negate(closed) == table.negate(table.atom(0))


def test_work_is_bounded() -> None:
    table = goals({"type": "string"}, work_units=10)
    with pytest.raises(SchemaError, match="limit work_units = 10"):
        table.spend(11, "/a")


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (0.1, Fraction(1, 10), True),
        ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1}, True),
        ("1", 1, False),
        ([1, 2], [2, 1], False),
        (10**30, 1e30, True),
    ],
)
def test_equal_values_have_equal_keys(left: object, right: object, equal: bool) -> None:
    assert (value_key(left) == value_key(right)) is equal
