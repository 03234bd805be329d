"""The grammar against the validator: random schemas, random values, random walks; hypothesis shrinks what fails."""

from __future__ import annotations

import json
import random
from typing import Any, Literal

from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from loadtest.exactness.judge import Judge
from loadtest.exactness.spellings import shuffled
from schemas import SchemaError
from tests.schemas.acceptance import Grammar, walk_faults
from tests.schemas.strategies import schemas, values

QUIET = settings(
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    derandomize=True,
)


def compiled(schema: dict[str, Any], undeclared: Literal["allow", "forbid"] = "allow") -> Grammar | None:
    """``None`` where the schema allows no value. References that never end are not what these tests are about."""
    assume(Judge(schema).usable)
    refusal: SchemaError | None = None
    try:
        return Grammar(schema, undeclared=undeclared)
    except SchemaError as error:
        refusal = error
    assume(refusal.keyword not in {"$ref", "$dynamicRef"})
    assert "unsatisfiable" in str(refusal)
    return None


@settings(QUIET, max_examples=150)
@given(schemas(), st.lists(values, min_size=3, max_size=8))
def test_grammar_and_validator_agree_on_values(schema: dict[str, Any], candidates: list[Any]) -> None:
    grammar = compiled(schema)
    judge = Judge(schema)
    for value in candidates:
        faults = judge.faults(value)
        allowed = grammar is not None and grammar.allows(value)
        assert allowed == (not faults), f"{json.dumps(value)}: grammar {allowed}, validator {faults}"


@settings(QUIET, max_examples=100)
@given(schemas(), st.integers(0, 1000))
def test_every_walk_is_valid(schema: dict[str, Any], seed: int) -> None:
    grammar = compiled(schema)
    if grammar is not None:
        assert walk_faults(grammar.compiled, 9, seed) == []


@settings(QUIET, max_examples=60)
@given(schemas(), values, st.integers(0, 1000))
def test_key_order_does_not_matter(schema: dict[str, Any], value: Any, seed: int) -> None:
    grammar = compiled(schema)
    if grammar is not None:
        assert grammar.allows(value) == grammar.allows(shuffled(value, random.Random(seed)))


@settings(QUIET, max_examples=40)
@given(schemas())
def test_closed_is_a_part_of_open(schema: dict[str, Any]) -> None:
    closed = compiled(schema, "forbid")
    if closed is not None:
        assert walk_faults(closed.compiled, 6, judged=schema) == []
