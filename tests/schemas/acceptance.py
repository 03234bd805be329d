"""What tests ask of a compiled schema: does its grammar take this text, this value, these walks."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import llguidance
import pytest

from loadtest.exactness.judge import Judge, NotStrict, readings, strict_tree
from loadtest.exactness.measure import accepts
from loadtest.exactness.repeats import repeated_declared_keys, repeated_keys
from loadtest.exactness.spellings import whole_spellings
from schemas import CompiledSchema, compile_schema
from schemas.engine import grammar_of
from schemas.sample import STYLES, matcher, walk

SHARED = Path(os.environ.get("STRICTCALL_SHARED", Path(__file__).parents[2].parent / "shared"))


def shared(name: str) -> Path:
    """A folder or file of the shared data; the test is skipped where it is absent."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is absent: set STRICTCALL_SHARED to the folder that has {name}")
    return path


class Grammar:
    """A schema, compiled, with its byte-level matcher."""

    def __init__(self, schema: Any, **options: Any) -> None:
        self.schema = schema
        self.compiled: CompiledSchema = compile_schema(schema, **options)
        self.origin = matcher(self.compiled.grammar)
        assert not self.origin.is_error(), self.origin.get_error()

    def takes(self, text: str | bytes) -> bool:
        """Whether the grammar alone takes exactly this text."""
        raw = text.encode() if isinstance(text, str) else text
        return accepts(self.origin, grammar_of(self.compiled.grammar), raw)[0]

    def allows(self, value: Any) -> bool:
        """Whether the value can leave the server: some spelling in the grammar, and a residue checked."""
        source = grammar_of(self.compiled.grammar)
        taken = any(accepts(self.origin, source, text)[0] for text in whole_spellings(value))
        return taken and (not self.compiled.residue or not self.compiled.validate(value))


def walk_faults(compiled: CompiledSchema, count: int, seed: int = 0, judged: Any = None) -> list[tuple[str, str]]:
    """(text, fault) of those of ``count`` random walks that are no strict JSON or not valid under jsonschema-rs.

    A walk that the check of a ``checked`` schema would catch is no fault. ``judged``: another schema to judge by.
    """
    judge = Judge(compiled.schema if judged is None else judged)
    rng = random.Random(seed)
    origin = matcher(compiled.grammar)
    faults: list[tuple[str, str]] = []
    for number in range(count):
        taken = walk(origin.deep_copy(), rng, STYLES[number % len(STYLES)], hints=judge.hints)
        text = taken.text.decode("utf-8", "backslashreplace")
        if taken.ending in ("error", "dead end"):
            faults.append((text, taken.error or taken.ending))
        if taken.ending != "done":
            continue
        try:
            tree = strict_tree(taken.text)
        except NotStrict as error:
            faults.append((text, str(error)))
            continue
        repeated = repeated_keys(tree)
        if repeated and (declared := repeated_declared_keys(tree, judge.schema)):
            faults.append((text, f"repeats {declared}"))
        values = list(readings(tree))[: 2 if repeated else 1]
        held = [fault for reading in values for fault in compiled.validate(reading)]
        if held and not compiled.residue:
            faults.append((text, f"not valid for its own validator: {held[0]}"))
        if held:
            continue
        faults.extend((text, fault) for reading in values for fault in judge.faults(reading)[:1])
    return faults


def exhausted(origin: llguidance.LLMatcher, prefix: str, more: str, most: int = 5000) -> int:
    """How often ``more`` can follow ``prefix`` before the grammar ends it; ``most`` when it does not."""
    copy = origin.deep_copy()
    assert copy.try_consume_tokens(list(prefix.encode())) == len(prefix.encode()), prefix
    return copy.try_consume_tokens(list((more * most).encode())) // len(more.encode())
