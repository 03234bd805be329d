"""JSON-Schema-Test-Suite under a compiler: each group one schema, each case one value with a verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import llguidance

from loadtest.exactness.compilers import COMPILERS, CompilerName, Refusal
from loadtest.exactness.measure import accepts
from loadtest.exactness.spellings import spellings, whole_spellings
from schemas.byte_vocabulary import byte_tokenizer

Json: TypeAlias = Any

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}


@dataclass(frozen=True, slots=True)
class Group:
    """A schema of the suite with its cases; ``file`` is relative to the draft's folder (``optional/…`` too).

    ``part``: ``required``, ``optional``, ``format`` (``optional/format/…``) or ``annotation``: the cases of the
    required ``format.json`` which say that a format is no assertion by default. The specification allows both
    readings; where a grammar knows the format exactly, ours asserts it.
    """

    draft: str
    part: str
    file: str
    description: str
    schema: Json
    tests: tuple[tuple[str, Json, bool], ...]


@dataclass(slots=True)
class SuiteOutcome:
    """What a compiler did with one group. ``wrong`` has (case, verdict wanted, why)."""

    draft: str
    part: str
    where: str
    compiler: CompilerName
    cases: int
    refusal: Refusal | None = None
    checked: bool = False
    wrong: list[tuple[str, bool, str]] = field(default_factory=list)


def suite_groups(folder: Path) -> Iterator[Group]:
    """Every group of the five drafts under the suite's ``tests`` folder (or the folder above it), in a fixed order."""
    root = folder / "tests" if (folder / "tests").is_dir() else folder
    for draft, uri in DRAFTS.items():
        for path in sorted((root / draft).rglob("*.json")):
            file = path.relative_to(root / draft).as_posix()
            for group in json.loads(path.read_text()):
                schema = group["schema"]
                if isinstance(schema, dict) and "$schema" not in schema:
                    schema = {"$schema": uri} | schema
                parts: dict[str, list[tuple[str, Json, bool]]] = {}
                for test in group["tests"]:
                    part = _part(file, test["description"])
                    parts.setdefault(part, []).append((test["description"], test["data"], test["valid"]))
                for part, tests in parts.items():
                    yield Group(draft, part, file, group["description"], schema, tuple(tests))


def _part(file: str, case: str) -> str:
    if file == "format.json" and "only an annotation" in case:
        return "annotation"
    if file.startswith("optional/format/"):
        return "format"
    return "optional" if file.startswith("optional/") else "required"


def run_group(group: Group, name: CompilerName) -> SuiteOutcome:
    """One group under one compiler. A value counts as accepted when the grammar takes one of its spellings and, where
    the guarantee is ``checked``, ``validate`` passes it too. A schema refused as unsatisfiable accepts no value: that
    is a verdict on each case, right or wrong, and not counted as refused."""
    where = f"{group.draft}/{group.file}: {group.description}"
    outcome = SuiteOutcome(group.draft, group.part, where, name, len(group.tests))
    result = COMPILERS[name](group.schema)
    if isinstance(result, Refusal):
        if result.kind == "unsatisfiable":
            outcome.wrong = [(case, True, result.reason) for case, _, valid in group.tests if valid]
        else:
            outcome.refusal = result
        return outcome
    outcome.checked = bool(result.residue)
    origin = llguidance.LLMatcher(byte_tokenizer(), result.source, log_level=0)
    if origin.is_error():
        outcome.wrong = [(case, valid, f"grammar not taken: {origin.get_error()}") for case, _, valid in group.tests]
        return outcome
    for case, value, valid in group.tests:
        texts = whole_spellings(value) if valid else spellings(value)
        tried = [accepts(origin, result.source, text) for text in texts]
        taken = any(verdict for verdict, _ in tried) and result.passes(value)
        if taken != valid:
            why = "" if taken or not tried else f": {tried[0][1] or 'the check refuses it'}"
            outcome.wrong.append((case, valid, json.dumps(value)[:200] + why))
    return outcome
