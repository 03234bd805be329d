"""Size and nesting: hostile documents end in an error that names the limit."""

from __future__ import annotations

from typing import Any

import pytest

from schemas import compile_schema
from schemas.document import load
from schemas.errors import SchemaError
from schemas.limits import Limits


def nested(levels: int, keyword: str, *, in_list: bool = False) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {keyword: [schema] if in_list else schema}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        nested(10_000, "items"),
        nested(10_000, "not"),
        nested(10_000, "allOf", in_list=True),
        nested(10_000, "x-unknown"),
        {"const": nested(10_000, "a", in_list=True)},
        {"properties": {"a": nested(5_000, "anyOf", in_list=True)}},
    ],
)
def test_ten_thousand_levels_are_refused(schema: Any) -> None:
    with pytest.raises(SchemaError, match="nesting = 200"):
        load(schema)


def test_a_python_cycle_is_refused() -> None:
    schema: dict[str, Any] = {}
    schema["items"] = schema
    with pytest.raises(SchemaError, match="nesting"):
        load(schema)


def test_deep_but_allowed() -> None:
    assert len(load(nested(199, "items")).nodes) == 200


def test_document_bytes() -> None:
    schema = {"description": "x" * 5_000_000}
    with pytest.raises(SchemaError, match="document_bytes = 4000000"):
        load(schema)
    load(schema, Limits(document_bytes=6_000_000))


def test_subschemas() -> None:
    schema: Any = {"anyOf": [{"minLength": n} for n in range(101)]}
    with pytest.raises(SchemaError, match="subschemas = 100"):
        load(schema, Limits(subschemas=100))
    assert len(load({"anyOf": [{"type": "string"}] * 101}, Limits(subschemas=100)).nodes) == 2


def test_members() -> None:
    for schema in ({"properties": {str(n): {} for n in range(11)}}, {"required": [str(n) for n in range(11)]}):
        with pytest.raises(SchemaError, match="members = 10"):
            load(schema, Limits(members=10))
        load(schema, Limits(members=11))


def test_enum_size() -> None:
    with pytest.raises(SchemaError, match="enum_size = 10") as caught:
        load({"enum": list(range(11))}, Limits(enum_size=10))
    assert caught.value.keyword == "enum"


@pytest.mark.parametrize("value", [float("inf"), float("nan"), {1, 2}, b"x", object()])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(SchemaError):
        load({"const": value})


def test_a_key_that_is_no_string_is_refused() -> None:
    with pytest.raises(SchemaError, match="not a string"):
        load({"properties": {1: {}}})


def test_a_huge_integer_is_no_crash() -> None:
    assert load({"minimum": -(10**400)}).nodes[0].minimum == -(10**400)
    with pytest.raises(SchemaError, match="digits"):
        compile_schema({"enum": [1, 10**5000]})
