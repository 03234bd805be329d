"""A plan made at once is the plan that is made with waiting."""

from __future__ import annotations

from typing import Any

import pytest

from server.compiler import Compiler
from server.errors import ApiError
from server.metrics import Metrics
from server.openai.request import ask_of, parse_chat
from server.planning import Planner, call_format
from tests.server.stub import StubEngine

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {name: kind}}}}
    for name, kind in (("a", {"type": "integer"}), ("b", {"type": "string"}))
]
ANSWER = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"], "additionalProperties": False}
CALL = {"id": "call_1", "type": "function", "function": {"name": "a", "arguments": '{"a": 1}'}}
BODIES: list[dict[str, Any]] = [
    {},
    {"temperature": 0.3, "top_p": 0, "seed": -5, "logit_bias": {"7": 3}, "stop": "x", "n": 2},
    {"tools": TOOLS},
    {"tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False},
    {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "b"}}},
    {"tools": TOOLS, "tool_choice": "none"},
    {"response_format": {"type": "json_object"}},
    {"tools": TOOLS, "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": ANSWER}}},
    {
        "messages": [
            {"role": "user", "content": "one"},
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "two"},
        ]
    },
]


@pytest.mark.anyio
@pytest.mark.parametrize("fmt", ["auto", "qwen_xml"])
async def test_the_same_plan(fmt: str) -> None:
    metrics = Metrics()
    compiler = Compiler(metrics)
    engine = StubEngine()
    planner = Planner(engine, compiler, fmt=call_format(engine, fmt), undeclared="forbid")
    try:
        for more in BODIES:
            ask = ask_of(parse_chat({"model": "stub", "messages": [{"role": "user", "content": "Hi"}]} | more))
            early = planner.at_once(ask, "r")
            plan = await planner.plan(ask, "r")
            assert early in (None, plan)
            assert planner.at_once(ask, "r") == plan
        misses = metrics.registry.get_sample_value("strictcall_grammar_cache_misses_total")
        assert misses is not None
        assert 0 < misses < 2 * len(BODIES)
    finally:
        planner.close()
        await compiler.close()


@pytest.mark.anyio
async def test_what_is_refused_or_unknown() -> None:
    compiler = Compiler(Metrics())
    engine = StubEngine()
    planner = Planner(engine, compiler, fmt=call_format(engine, "auto"), undeclared="forbid")
    body = {"model": "stub", "messages": [{"role": "user", "content": "Hi"}]}
    try:
        tool = {"type": "function", "function": {"name": "c", "parameters": {"type": 3}}}
        wrong = ask_of(parse_chat(body | {"tools": [tool]}))
        assert planner.at_once(wrong, "r") is None
        with pytest.raises(ApiError):
            await planner.plan(wrong, "r")
        assert planner.at_once(wrong, "r") is None
        with pytest.raises(ApiError, match="logit_bias"):
            planner.at_once(ask_of(parse_chat(body | {"logit_bias": {"999999999": 1}})), "r")
        with pytest.raises(ApiError, match="maximum context length"):
            planner.at_once(ask_of(parse_chat(body | {"max_tokens": 100_000})), "r")
    finally:
        planner.close()
        await compiler.close()
