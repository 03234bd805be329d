"""A fixed sample of MaskBench: no invalid instance accepted, no valid one refused, any key order, no bad walk."""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import Any

import pytest

from loadtest.exactness.masks import timed_masks
from loadtest.exactness.measure import Options, Outcome, measure
from tests.schemas.acceptance import SHARED, shared

EVERY = 28
"""One schema of so many: about 200."""

NEVER = (
    "called unsatisfiable, but valid",
    "invalid accepted",
    "invalid passed the check",
    "valid refused",
    "walk invalid",
    "walk not JSON",
    "walk repeats a declared key",
    "walk invalid, free key repeated",
    "walk invalid and passed the check",
    "walk: dead end",
    "matcher broke",
    "grammar not taken",
)


@cache
def records() -> list[dict[str, Any]]:
    path = SHARED / "maskbench" / "dev.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for number, line in enumerate(lines) if number % EVERY == 11]


@cache
def outcomes() -> list[Outcome]:
    shared("maskbench/dev.jsonl.gz")
    options = Options(byte_walks=6, vocabulary_walks=1)
    return [measure(record, "strictcall", options) for record in records()]


def test_the_sample_is_there() -> None:
    assert len(outcomes()) > 150


@pytest.mark.parametrize("kind", NEVER)
def test_never(kind: str) -> None:
    found = [f"{o.id}: {e.text[:200]}: {e.why[:200]}" for o in outcomes() for e in o.found if e.kind == kind]
    assert found == []


def test_masks_deny_no_accepted_text() -> None:
    items = [(record, o.accepted[:1]) for record, o in zip(records(), outcomes(), strict=True) if o.accepted]
    taken = timed_masks((items, "strictcall"), lambda _: None)
    assert len(taken) == len(items) > 150
    assert [(times.id, times.denied) for times in taken if times.denied] == []
    assert all(times.first_us > 0 for times in taken)


def test_refused_only_for_cause() -> None:
    assert [(o.id, o.refusal) for o in outcomes() if o.refusal is not None and o.refusal.kind == "other"] == []
    assert sum(o.refusal is not None for o in outcomes()) <= 2


def test_keys_in_any_order() -> None:
    tried = sum(o.counts["shuffled"] for o in outcomes())
    refused = sum(o.counts["shuffled refused"] for o in outcomes())
    assert tried > 150
    assert refused <= tried / 100
