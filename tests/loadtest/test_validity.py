"""The judge of calls must itself be right: what it refuses is wrong, what it takes is valid."""

from __future__ import annotations

import pytest

from loadtest.tools import BUILT_IN, LoadTool, call_faults
from loadtest.validity import NotStrictJsonError, argument_faults, strict_json


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        '{"a": 1e999}',
        ' {"a": 1}',
        '{"a": "\\ud800"}',
        '{"a": 1',
        "{} {}",
        '{"a": "\t"}',
    ],
)
def test_strict_json_refuses(text: str) -> None:
    with pytest.raises(NotStrictJsonError):
        strict_json(text)


@pytest.mark.parametrize("text", ['{"a": "\\ud83d\\ude00", "b": [1.5e3, -0, null]}', "{}", '{"a": "é"}'])
def test_strict_json_takes(text: str) -> None:
    assert isinstance(strict_json(text), dict)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ('{"a": "x", "b": 1}', "$.a"),
        ('{"a": 1}', "required"),
        ('{"a": 1, "b": 1, "c": 1}', "unexpected"),
        ("[1]", "not an object"),
        ("", "not strict JSON"),
    ],
)
def test_an_invalid_call_is_named(arguments: str, fault: str) -> None:
    add = next(tool for tool in BUILT_IN if tool.name == "add_numbers")
    assert any(fault in found for found in call_faults("add_numbers", arguments, [add]))


def test_a_call_of_a_tool_that_was_not_offered_is_named() -> None:
    assert "not offered" in call_faults("nothing", "{}", list(BUILT_IN))[0]


def test_a_tool_that_takes_nothing_gets_nothing() -> None:
    ping = LoadTool("ping", "", None, "")
    assert call_faults("ping", "{}", [ping]) == []
    assert call_faults("ping", '{"a": 1}', [ping])


def test_the_draft_is_the_one_that_the_schema_names() -> None:
    pair = {
        "type": "object",
        "properties": {"p": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}},
    }
    draft7 = pair | {"$schema": "http://json-schema.org/draft-07/schema#"}
    assert argument_faults('{"p": ["a", 1]}', draft7) == []
    assert argument_faults('{"p": ["a", "b"]}', draft7)
