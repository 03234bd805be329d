"""Random number sets, each with the JSON Schema that says the same, and spellings of numbers near them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from schemas.errors import TooComplex
from schemas.numbers import NumberSet

BOUNDS: list[int | float] = [
    *(0, 1, -1, 2, 7, 10, 99, 100, 1000, -1000, 0.1, -0.1, 0.5, 1.5, 0.25, 3.14159, 1e-6, 1e-7, 1e6, 1e22, 1e30, 1e300),
    *(2**53, 2**53 - 1, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 10**25, 10**30, 5e-324, 1.7976931348623157e308),
    *(0.1234567890123456, 123456789.12345678, 0.30000000000000004, 999999.9999999999),
]
STEPS: list[int | float] = [
    *(1, 2, 3, 4, 5, 6, 7, 10, 12, 25, 60, 77, 100, 256, 1000, 10**9),
    *(0.1, 0.01, 0.001, 1e-8, 0.5, 0.25, 0.05, 0.2, 1.5, 2.5, 0.3, 0.125),
]
unhurried = settings(deadline=None, max_examples=150)
"""No time limit for one example: the machine may be busy."""
Case = tuple[NumberSet, dict[str, Any]]


def _lower(bound: int | float, is_open: bool) -> Case:
    return NumberSet.interval(bound, is_open, None, False), {"exclusiveMinimum" if is_open else "minimum": bound}


def _upper(bound: int | float, is_open: bool) -> Case:
    return NumberSet.interval(None, False, bound, is_open), {"exclusiveMaximum" if is_open else "maximum": bound}


def _not(case: Case) -> Case:
    return ~case[0], {"not": case[1]}


def _both(a: Case, b: Case) -> Case:
    return a[0] & b[0], {"allOf": [a[1], b[1]]}


def _any(a: Case, b: Case) -> Case:
    return a[0] | b[0], {"anyOf": [a[1], b[1]]}


bounds = st.sampled_from(BOUNDS)
atoms = st.one_of(
    st.builds(_lower, bounds, st.booleans()),
    st.builds(_upper, bounds, st.booleans()),
    st.sampled_from(STEPS).map(lambda q: (NumberSet.multiples(q), {"multipleOf": q})),
    st.just((NumberSet.INTEGERS, {"type": "integer"})),
    st.lists(bounds, min_size=1, max_size=4).map(lambda v: (NumberSet.values(v), {"enum": v})),
)
cases: st.SearchStrategy[Case] = st.recursive(
    atoms,
    lambda inner: st.one_of(inner.map(_not), st.builds(_both, inner, inner), st.builds(_any, inner, inner)),
    max_leaves=4,
)


def _shown(value: int | float) -> st.SearchStrategy[str]:
    text = json.dumps(value)
    forms = [text, text + ".0" if text.lstrip("-").isdigit() else text + "0", "-" + text.lstrip("-")]
    return st.sampled_from(forms)


_near = st.builds(lambda v, k, q: v + k * q, bounds, st.integers(-3, 3), st.sampled_from(STEPS))
_digits = st.from_regex(r"\A-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,3})?\Z").map(str.strip)
texts: st.SearchStrategy[str] = st.one_of(
    _near.filter(lambda v: v not in (float("inf"), float("-inf"))).flatmap(_shown),
    st.builds(lambda q, k: q * k, st.sampled_from(STEPS), st.integers(-1000, 1000)).flatmap(_shown),
    st.floats(allow_nan=False, allow_infinity=False).map(json.dumps),
    st.integers(-(10**20), 10**20).map(str),
    _digits,
    st.sampled_from(["-0", "-0.0", "0.0", "0e0", "00", "01", "1.", "1.e2", ".5", "+1", "1e", "1e+", "- 1", "1e400"]),
)


def spelled(numbers: NumberSet) -> NumberSet:
    """The set, or its superset where the set itself is too complex to spell."""
    try:
        numbers.rule()
    except TooComplex:
        return numbers.superset()
    return numbers
