"""The JSON Schema test suite through the document alone: nodes, interpreted, against the expected verdicts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from schemas.document import load
from schemas.errors import SchemaError
from tests.schemas.document.evaluate import is_valid

SUITE = (
    Path(os.environ.get("STRICTCALL_SHARED", Path(__file__).parents[3].parent / "shared")) / "json-schema-test-suite"
)
DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
# Contents of strings are an assertion in draft 7 only and optional there; formats belong to the strings' tests.
LEFT_OUT = ("optional/content.json", "optional/format/", "optional/format-assertion.json")
# Every refused case names a document on the suite's own server.
REMOTE = "http://localhost:1234/"


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_case_is_right_or_needs_a_remote_document(draft: str) -> None:
    folder = SUITE / "tests" / draft
    if not folder.exists():
        pytest.skip(f"{folder} is absent: set STRICTCALL_SHARED to the folder that has the test suite")
    checked = 0
    wrong: list[str] = []
    for file in sorted(folder.rglob("*.json")):
        name = file.relative_to(folder).as_posix()
        if name.startswith(LEFT_OUT):
            continue
        for case in json.loads(file.read_text()):
            verdicts = _verdicts(case, DRAFTS[draft])
            if verdicts is None:
                continue
            for test, verdict in zip(case["tests"], verdicts, strict=True):
                checked += 1
                if verdict != test["valid"]:
                    wrong.append(f"{name}: {case['description']}: {test['description']}")
    assert not wrong
    assert checked > 650


def _verdicts(case: dict[str, Any], dialect: str) -> list[bool] | None:
    """``None`` where the schema was refused because it needs a document that nobody has."""
    schema = case["schema"]
    if isinstance(schema, dict) and "$schema" not in schema:
        schema = {"$schema": dialect, **schema}
    try:
        document = load(schema)
    except SchemaError as error:
        if REMOTE not in error.reason:
            raise
        return None
    return [is_valid(document, test["data"]) for test in case["tests"]]
