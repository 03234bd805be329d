"""The cache of compiled schemas: bounded, shared by threads, keyed by what a schema means."""

from __future__ import annotations

import threading
from typing import Any

from schemas import CompiledSchema, Limits, compile_schema
from schemas.cache import Cache, text_key


def compiled(name: str) -> CompiledSchema:
    return CompiledSchema(True, name)


def test_the_entries_used_last_stay() -> None:
    cache = Cache(2)
    for name in ("a", "b"):
        cache.put(name, compiled(name))
    assert cache.get("a") is not None
    cache.put("c", compiled("c"))
    assert cache.get("b") is None
    assert [cache.get(name) is not None for name in ("a", "c")] == [True, True]


def test_a_changed_schema_is_another_schema() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    first = compile_schema(schema)
    assert compile_schema(schema) is first
    schema["properties"]["a"]["type"] = "string"
    assert compile_schema(schema).grammar != first.grammar


def test_options_and_limits_are_part_of_the_key() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert compile_schema(schema).key != compile_schema(schema, undeclared="forbid").key
    assert compile_schema(schema, limits=Limits(members=7)) is not compile_schema(schema)


def test_what_orjson_cannot_write_has_a_key_too() -> None:
    assert text_key({"const": 10**30}) != text_key({"const": 10**30 + 1})
    assert compile_schema({"const": 10**30}).minimal_length > 0


def test_many_threads_one_answer() -> None:
    schema = {"type": "object", "properties": {f"p{i}": {"type": "integer"} for i in range(20)}, "title": "threads"}
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(compile_schema(dict(schema)).grammar)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
