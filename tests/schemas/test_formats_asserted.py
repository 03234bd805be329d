"""Grammar and validator agree on formats, in every draft, asked for, negated and left as residue."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.strings.formats import IRREGULAR, NAMES
from tests.schemas.acceptance import Grammar, walk_faults

DRAFTS = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
    "none": None,
}
NO_FORMAT = "\u0000 [ {} %zz \\"
"""A text that has none of the formats."""


def within(draft: str, schema: dict[str, Any]) -> dict[str, Any]:
    return schema if DRAFTS[draft] is None else {"$schema": DRAFTS[draft], **schema}


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_format_is_an_assertion(name: str, draft: str) -> None:
    grammar = Grammar(within(draft, {"type": "string", "format": name}))
    assert not grammar.takes('"\\u0000 [ {} %zz \\\\"')
    assert grammar.compiled.validate(NO_FORMAT)


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_negated_format_is_one_too(name: str, draft: str) -> None:
    schema = within(draft, {"properties": {"a": {"type": "string", "not": {"format": name}}}, "required": ["a"]})
    grammar = Grammar(schema)
    assert grammar.compiled.guarantee == "exact"
    assert grammar.allows({"a": NO_FORMAT})
    assert not grammar.compiled.validate({"a": NO_FORMAT})
    # An old draft's judge of its own knows fewer formats than ours.
    assert not walk_faults(grammar.compiled, 6, judged=schema if draft in ("2019-09", "2020-12", "none") else True)


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("name", IRREGULAR)
def test_what_a_grammar_cannot_hold_of_a_format_is_checked(name: str, draft: str) -> None:
    grammar = Grammar(within(draft, {"type": "string", "format": name}))
    assert [residue.keyword for residue in grammar.compiled.residue] == ["format"]
    unclosed = "[ a@"
    assert grammar.takes(f'"{unclosed}"')
    assert not grammar.allows(unclosed)
    assert grammar.compiled.validate(unclosed)


def test_a_format_that_nobody_knows_is_a_remark() -> None:
    for draft in DRAFTS:
        grammar = Grammar(within(draft, {"type": "string", "format": "shoe-size"}))
        assert grammar.compiled.guarantee == "exact"
        assert grammar.allows(NO_FORMAT)


def test_names_of_members() -> None:
    grammar = Grammar({"not": {"propertyNames": {"format": "date"}}})
    assert grammar.allows({"a": 1})
    assert grammar.allows({"2020-01-01": 1, "a": 1})
    assert not grammar.allows({"2020-01-01": 1})
