"""Random schemas over few names and values: the grammar agrees with jsonschema-rs on random values."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema_rs
import pytest

from schemas import SchemaError
from tests.schemas.acceptance import Grammar

KEYS = ["a", "b", "c", "ab"]
LEAVES: list[Any] = [
    True,
    False,
    {"type": "string"},
    {"type": "integer"},
    {"type": ["string", "number"]},
    {"const": 1},
    {"maximum": 2},
    {"minLength": 2},
    {"pattern": "^a"},
    {"enum": [1, "a", [1], {"a": 1}]},
    {"type": "object"},
    {"multipleOf": 2},
]


class Random:
    """Schemas and values of a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def value(self, depth: int = 0) -> Any:
        rng, roll = self.rng, self.rng.random()
        if depth > 2 or roll < 0.45:
            return rng.choice([None, True, False, 0, 1, 2, 1.5, -1, "", "a", "b", "ab"])
        if roll < 0.7:
            return [self.value(depth + 1) for _ in range(rng.randint(0, 3))]
        return {key: self.value(depth + 1) for key in rng.sample(KEYS, rng.randint(0, 3))}

    def schema(self, depth: int = 0) -> Any:
        rng = self.rng
        if depth > 3 or rng.random() < 0.12:
            return rng.choice(LEAVES)
        found: dict[str, Any] = {}
        if rng.random() < 0.35:
            found["type"] = rng.choice(
                ["object", "array", "string", "number", ["object", "array"], ["object", "string"]]
            )
        for _ in range(rng.randint(1, 3)):
            found.update(self.keyword(depth + 1))
        return found

    def keyword(self, depth: int) -> dict[str, Any]:
        rng = self.rng

        def one() -> Any:
            return self.schema(depth)

        def few() -> list[Any]:
            return [one() for _ in range(rng.randint(1, 3))]

        makers: list[tuple[str, Any]] = [
            ("properties", lambda: {key: one() for key in rng.sample(KEYS, rng.randint(1, 3))}),
            ("required", lambda: rng.sample(KEYS, rng.randint(1, 2))),
            ("patternProperties", lambda: {rng.choice(["^a", "b", "^[ac]$"]): one()}),
            ("propertyNames", lambda: rng.choice([{"enum": ["a", "b"]}, {"maxLength": 1}, {"not": {"const": "c"}}])),
            ("dependentRequired", lambda: {rng.choice(KEYS): rng.sample(KEYS, rng.randint(1, 2))}),
            ("dependentSchemas", lambda: {rng.choice(KEYS): one()}),
            ("prefixItems", few),
            ("uniqueItems", lambda: True),
            ("const", lambda: self.value(1)),
            ("enum", lambda: [self.value(1) for _ in range(rng.randint(1, 3))]),
            *((key, lambda: rng.randint(0, 3)) for key in ("minProperties", "maxProperties", "minItems", "maxItems")),
            *((key, few) for key in ("allOf", "anyOf", "oneOf") * 2),
            *((key, one) for key in ("additionalProperties", "items", "contains", "not")),
            *((key, one) for key in ("unevaluatedProperties", "unevaluatedItems", "if", "then", "else")),
        ]
        name, make = rng.choice(makers)
        made = {name: make()}
        if name == "if":
            made |= {"then": one(), "else": one()}
        if name == "contains" and rng.random() < 0.5:
            made |= {"minContains": rng.randint(0, 2), "maxContains": rng.randint(1, 3)}
        return made


@pytest.mark.parametrize("seed", range(60))
def test_grammar_and_validator_agree(seed: int) -> None:
    source = Random(seed)
    for _ in range(3):
        schema = source.schema()
        judge = jsonschema_rs.validator_for(schema)
        values = [source.value() for _ in range(25)]
        try:
            grammar = Grammar(schema)
        except SchemaError as error:
            if "unsatisfiable" not in error.reason or any(map(judge.is_valid, values)):
                raise
            continue
        for value in values:
            taken, valid = grammar.takes(json.dumps(value, separators=(",", ":"))), judge.is_valid(value)
            assert taken is valid or (taken and grammar.compiled.residue), (json.dumps(schema), value)
