"""Strict JSON: what every parser reads in the same way, and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.strict_json import StrictJsonError, loads, readings

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.booleans())
def test_what_is_strict_is_read(value: object, ascii_only: bool) -> None:
    try:
        text = json.dumps(value, ensure_ascii=ascii_only)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        with pytest.raises(StrictJsonError):
            loads(text)
        return
    assert loads(text) == value


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ('{"a": 1, "a": 1}', 'the key "a" is given twice'),
        ('[{"b": {"a": 1, "\\u0061": 1}}]', "twice"),
        ("NaN", "NaN"),
        ("[Infinity]", "Infinity"),
        ("-Infinity", "-Infinity"),
        ("1e999", "beyond a double"),
        ("-1e999", "beyond a double"),
        ("1" + "0" * 400, "beyond a double"),
        ('"\\ud800"', "surrogate"),
        ('{"\\udc00": 1}', "surrogate"),
        ('"\\ud800\\ud800"', "surrogate"),
        ('"\ud800"', "surrogate"),
        ("", "line 1"),
        ("{} {}", "Extra data"),
        ('{"a": 1,}', "line 1"),
        ("'a'", "line 1"),
        ("01", "Extra data"),
        ('"\n"', "control character"),
        ("[" * 100_000, "deeply"),
    ],
)
def test_what_is_not_strict_is_refused(text: str, piece: str) -> None:
    with pytest.raises(StrictJsonError, match=piece):
        loads(text)


def test_pairs_of_surrogates_are_characters() -> None:
    assert loads('"\\ud83d\\ude42 \\\\ud800"') == "🙂 \\ud800"


def test_integers_keep_every_digit() -> None:
    assert loads("123456789012345678901234567890") == 123456789012345678901234567890


def test_both_readings_of_repeated_keys() -> None:
    assert readings('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}') == (
        {"a": 3, "b": {"c": 2}},
        {"a": 1, "b": {"c": 1}},
        {"a", "c"},
    )
    with pytest.raises(StrictJsonError, match="NaN"):
        readings('{"a": 1, "a": NaN}')
