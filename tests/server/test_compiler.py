"""Schemas in processes of their own: one that kills or stalls its process harms nobody."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from schemas import SchemaError
from server.compiler import CompileFailed, Compiler
from server.metrics import Metrics

GOOD = {"type": "object", "properties": {"a": {"type": "integer"}}}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def compiler() -> AsyncIterator[Compiler]:
    made = Compiler(Metrics(), workers=1, seconds=4)
    yield made
    await made.close()


@pytest.mark.anyio
async def test_compiles_caches_and_refuses(compiler: Compiler) -> None:
    first = await compiler.compile(GOOD, "forbid")
    assert first.validate({"a": 1}) == []
    assert first.validate({"a": "x"})
    assert await compiler.compile(dict(GOOD), "forbid") is first
    assert await compiler.compile(GOOD, "allow") is not first
    for _ in range(2):
        with pytest.raises(SchemaError):
            await compiler.compile({"type": "strnig"}, "forbid")
    metrics = compiler._metrics
    assert metrics.registry.get_sample_value("strictcall_grammar_cache_misses_total") == 3
    assert metrics.registry.get_sample_value("strictcall_grammar_cache_hits_total") == 2


@pytest.mark.anyio
async def test_the_same_schema_at_once_is_compiled_once(compiler: Compiler) -> None:
    results = await asyncio.gather(*(compiler.compile(GOOD, "forbid") for _ in range(20)))
    assert all(result is results[0] for result in results)
    assert compiler._metrics.registry.get_sample_value("strictcall_grammar_cache_misses_total") == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("kind", "piece"),
    [
        ("crash", "took the compile process down"),
        ("sleep", "not compiled within 4 s of processor time"),
        ("memory", "MemoryError"),
        ("deep", "RecursionError"),
        ("slow", "its validator takes over 2 s"),
    ],
)
async def test_a_poisonous_schema_is_refused_and_others_go_on(
    hostile: None, compiler: Compiler, kind: str, piece: str
) -> None:
    poison = asyncio.create_task(compiler.compile(GOOD | {"title": kind}, "forbid"))
    await asyncio.sleep(0)
    assert (await compiler.compile(GOOD, "forbid")).validate({}) == []
    with pytest.raises(SchemaError) as refused:
        await poison
    assert piece in refused.value.reason
    with pytest.raises(SchemaError):  # remembered: it does not kill another process
        await asyncio.wait_for(compiler.compile(GOOD | {"title": kind}, "forbid"), 0.5)


@pytest.mark.anyio
async def test_a_fault_of_the_compiler_is_not_the_schemas(hostile: None, compiler: Compiler) -> None:
    for _ in range(2):
        with pytest.raises(CompileFailed, match="KeyError"):
            await compiler.compile(GOOD | {"title": "bug"}, "forbid")
    assert (await compiler.compile(GOOD, "forbid")).validate({}) == []
    assert len(compiler._idle) == 1


@pytest.mark.anyio
async def test_a_stray_print_breaks_nothing(hostile: None, compiler: Compiler) -> None:
    assert (await compiler.compile(GOOD | {"title": "print"}, "forbid")).validate({}) == []


@pytest.mark.anyio
async def test_a_process_killed_from_outside_is_replaced(compiler: Compiler) -> None:
    await compiler.compile(GOOD, "forbid")
    os.kill(compiler._idle[0].process.pid, signal.SIGKILL)
    assert (await compiler.compile(GOOD | {"title": "another"}, "forbid")).validate({}) == []


@pytest.mark.anyio
async def test_a_caller_who_leaves_does_not_stop_the_compilation(compiler: Compiler) -> None:
    leaving = asyncio.create_task(compiler.compile(GOOD, "forbid"))
    await asyncio.sleep(0)
    leaving.cancel()
    assert (await compiler.compile(GOOD, "forbid")).validate({}) == []
    assert compiler._metrics.registry.get_sample_value("strictcall_grammar_cache_misses_total") == 1


@pytest.mark.anyio
async def test_the_cache_is_bounded_by_bytes() -> None:
    compiler = Compiler(Metrics(), workers=1, cache_bytes=10_000)
    for n in range(8):
        await compiler.compile(GOOD | {"title": str(n)}, "forbid")
    assert 1 < len(compiler._done) < 8
    assert (await compiler.compile(GOOD | {"title": "7"}, "forbid")).schema["title"] == "7"  # type: ignore[index]
    assert compiler._metrics.registry.get_sample_value("strictcall_grammar_cache_misses_total") == 8
    await compiler.close()


@pytest.mark.anyio
async def test_grammars_are_tried_once(compiler: Compiler) -> None:
    for _ in range(2):
        await compiler.try_grammar('start: "a"\n')
        with pytest.raises(SchemaError, match="grammar engine"):
            await compiler.try_grammar("start: nothing\n")
    symbols = compiler._metrics.registry.get_sample_value("strictcall_grammar_compile_seconds_count")
    assert symbols == 2


@pytest.mark.anyio
async def test_grammars_with_special_tokens_can_be_tried(compiler: Compiler) -> None:
    """They stand in a grammar by their ids in the model's vocabulary, which the trial does not have."""
    await compiler.try_grammar('start: <[151657]> "a" <[151658]>\n')
    with pytest.raises(SchemaError, match="grammar engine"):
        await compiler.try_grammar("start: <[151657]> nothing\n")


@pytest.mark.anyio
async def test_closing_leaves_no_process() -> None:
    compiler = Compiler(Metrics(), workers=1)
    await compiler.compile(GOOD, "forbid")
    process = compiler._idle[0].process
    await compiler.close()
    assert process.returncode is not None


def test_the_compile_process_imports_neither_server_parts_nor_engines() -> None:
    """It starts often and must start fast."""
    heavy = "'vllm', 'torch', 'fastapi', 'transformers', 'outlines'"
    code = f"import sys, server.compile_worker, schemas; print([m for m in ({heavy}) if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.anyio
async def test_what_is_at_hand(compiler: Compiler) -> None:
    """All of it or nothing, and a refusal is nothing that is at hand."""
    assert compiler.at_hand([], "forbid") == []
    assert compiler.at_hand([GOOD], "forbid") is None
    first = await compiler.compile(GOOD, "forbid")
    with pytest.raises(SchemaError):
        await compiler.compile({"type": "strnig"}, "forbid")
    assert compiler.at_hand([GOOD, dict(GOOD)], "forbid") == [first, first]
    assert compiler.at_hand([GOOD], "allow") is None
    assert compiler.at_hand([GOOD, {"type": "strnig"}], "forbid") is None
    assert not compiler.has_tried(first.grammar)
    await compiler.try_grammar(first.grammar)
    assert compiler.has_tried(first.grammar)
    with pytest.raises(SchemaError):
        await compiler.try_grammar("start: nothing_of_the_kind")
    assert not compiler.has_tried("start: nothing_of_the_kind")
