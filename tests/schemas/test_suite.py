"""JSON-Schema-Test-Suite, all five drafts: refused only where a remote document is needed, and never wrong."""

from __future__ import annotations

from functools import cache

import pytest

from loadtest.exactness.suite import DRAFTS, SuiteOutcome, run_group, suite_groups
from tests.schemas.acceptance import shared

# The suite allows other readings of these, and ours is another.
BY_CHOICE = {
    "optional/content.json": "contentMediaType and contentEncoding are annotations",
    "draft4/optional/float-overflow.json": "a draft-4 integer has no exponent, and 309 digits are too many",
}
NARROWER = ('"xn--', '"ab--cd.example"')
"""Host names that the grammar leaves out although they are valid: A-labels are not regular, nor is telling them from
other labels with two hyphens in the third place."""


REMOTE = "http://localhost:1234"
"""Where the suite's other documents are: what a reference or a dialect needs of them is not in the schema."""


@cache
def outcomes(draft: str, part: str) -> list[SuiteOutcome]:
    groups = [g for g in suite_groups(shared("json-schema-test-suite")) if g.draft == draft and g.part == part]
    assert groups
    return [run_group(group, "strictcall") for group in groups]


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("part", ["required", "optional"])
def test_no_case_is_wrong(draft: str, part: str) -> None:
    wrong = [
        f"{o.where}: {case}: wanted {'valid' if wanted else 'invalid'}: {why}"
        for o in outcomes(draft, part)
        for case, wanted, why in o.wrong
        if not any(f"{file}:" in o.where for file in BY_CHOICE)
    ]
    assert wrong == []


@pytest.mark.parametrize("draft", DRAFTS)
def test_refused_only_for_a_remote_document(draft: str) -> None:
    refused = [o for part in ("required", "optional") for o in outcomes(draft, part) if o.refusal is not None]
    assert [(o.where, o.refusal) for o in refused if o.refusal is None or o.refusal.kind != "reference"] == []
    assert [(o.where, o.refusal) for o in refused if o.refusal is None or REMOTE not in o.refusal.reason] == []


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_format_is_asserted_right_or_not_at_all(draft: str) -> None:
    """A valid string is never refused, but for the host names named above; an unknown format may let an invalid one
    pass."""
    refused = [
        f"{o.where}: {case}: {why}"
        for o in outcomes(draft, "format")
        for case, wanted, why in o.wrong
        if wanted and not why.startswith(NARROWER)
    ]
    assert refused == []
