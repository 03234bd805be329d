"""Request bodies as JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.bodies import json_object, parse_json
from server.errors import ApiError

_NUMBERS = (
    st.integers(-(10**40), 10**40)
    | st.integers(2**63 - 2, 2**64 + 2)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
)


@given(st.dictionaries(st.text(max_size=5), _NUMBERS | st.lists(_NUMBERS, max_size=3), max_size=4))
def test_numbers_keep_every_digit(value: dict[str, object]) -> None:
    assert parse_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize("bound", [2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**19, 10**300, 1111111111111111111])
def test_a_schemas_bound_is_the_one_that_was_written(bound: int) -> None:
    found = parse_json(b'{"maximum": %d}' % bound)["maximum"]
    assert type(found) is int
    assert found == bound


@pytest.mark.parametrize("body", [b"", b"[]", b"1", b'{"a": }', b"{" * 2000, b'{"a": "\xff"}'])
def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(ApiError) as refused:
        json_object(body)
    assert refused.value.status == 400
    assert refused.value.code == "invalid_json"
