"""The patterns of real schemas (MaskBench) with strings of real instances, against jsonschema-rs."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from schemas.errors import TooComplex
from schemas.strings import Language

DATA = Path(os.environ.get("STRICTCALL_SHARED", Path(__file__).parents[3].parent / "shared")) / "maskbench/dev.jsonl.gz"


def _patterns(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        if isinstance(value.get("patternProperties"), dict):
            yield from value["patternProperties"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _patterns(item)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value[:60]
    elif isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _strings(item)


def test_real_patterns_mean_what_jsonschema_rs_means() -> None:
    if not DATA.exists():
        pytest.skip("MaskBench's data is not at hand")
    patterns: set[str] = set()
    strings: set[str] = {"", "\n", "é"}
    with gzip.open(DATA, "rt") as lines:
        for number, line in enumerate(lines):
            case = json.loads(line)
            patterns.update(_patterns(case["schema"]))
            if number % 16 == 0:
                strings.update(_strings([test["data"] for test in case["tests"]]))
    rng = random.Random(1)
    pool = sorted(strings)
    tried = 0
    for pattern in rng.sample(sorted(patterns), min(len(patterns), 500)):
        try:
            judge = jsonschema_rs.validator_for({"pattern": pattern}, offline=True)
        except jsonschema_rs.ValidationError:
            continue
        language = Language.pattern(pattern)
        words = rng.sample(pool, 10)
        try:
            if not language.is_empty():
                words += [language.sample(rng) for _ in range(3)]
            if not (~language).is_empty():
                words.append((~language).sample(rng))
        except TooComplex:
            pass
        for text in words:
            assert language.contains(text) == judge.is_valid(text), (pattern, text)
        tried += 1
    assert tried > 100
