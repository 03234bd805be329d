"""Rows of PEER_FAILURES (b), (c) and (d) that are about the wire and have no other test."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server import stub as stubs
from tests.server.stub import TOOLS, Stub, call, say

NAMED = {"type": "function", "function": {"name": "weather"}}
ROME = call("weather", '{"city": "Rome"}')


def parts(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [part for f in frames for c in f["choices"] for part in c["delta"].get("tool_calls", ())]


def test_a_named_choice_streamed(stub: Stub) -> None:
    """b10, b16, b18, c1, c3: id, type and name in the first chunk and in no other, the index in each, and
    finish_reason "tool_calls" (OpenAI says "stop" for a named choice: documented)."""
    stub.engine.script = say(*ROME)
    frames = stub.frames(tools=TOOLS, tool_choice=NAMED)
    first, *rest = parts(frames)
    assert first.keys() == {"index", "id", "type", "function"}
    assert (first["index"], first["type"], first["function"]["name"]) == (0, "function", "weather")
    assert rest
    assert all(part.keys() == {"index", "function"} and part["index"] == 0 for part in rest)
    reasons = [c["finish_reason"] for f in frames for c in f["choices"] if c["finish_reason"]]
    assert reasons == ["tool_calls"]
    whole = stub.chat(tools=TOOLS, tool_choice=NAMED).json()["choices"][0]
    assert whole["finish_reason"] == "tool_calls"


def test_usage_chunks(stub: Stub) -> None:
    """b20: none for empty stream options; exactly one, the last, when it is asked for, after calls too."""
    stub.engine.script = say(ROME)
    assert not any(f.get("usage") for f in stub.frames(tools=TOOLS, stream_options={}))
    frames = stub.frames(tools=TOOLS, stream_options={"include_usage": True})
    assert [bool(f.get("usage")) for f in frames] == [False] * (len(frames) - 1) + [True]


@pytest.mark.parametrize("choice", ["auto", "required", NAMED])
@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_before_a_call_is_kept(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, choice: Any, stream: bool
) -> None:
    """d4, d6: the model reasons first, whatever the choice; the grammar lets it, and both arrive."""
    monkeypatch.setattr(stubs.tokenizer(), "chat_template", stubs.TEMPLATE + "{# <think> #}")
    stub.engine.script = say("<think>\nRome", ", then.\n</think>\n\n", ROME)
    if stream:
        frames = stub.frames(tools=TOOLS, tool_choice=choice)
        deltas = [c["delta"] for f in frames for c in f["choices"]]
        reasoning = "".join(delta.get("reasoning_content", "") for delta in deltas)
        assert reasoning == "".join(delta.get("reasoning", "") for delta in deltas)
        assert not any("content" in delta for delta in deltas)
        arguments = "".join(part["function"]["arguments"] for part in parts(frames))
    else:
        message = stub.chat(tools=TOOLS, tool_choice=choice).json()["choices"][0]["message"]
        reasoning = message["reasoning_content"]
        assert message["reasoning"] == reasoning
        assert message["content"] is None
        arguments = message["tool_calls"][0]["function"]["arguments"]
    assert reasoning == "Rome, then."
    assert arguments == '{"city": "Rome"}'
    assert "reasoning" in (stub.engine.asked[-1].grammar or "")


@pytest.mark.parametrize(
    "off",
    [{"reasoning_effort": "none"}, {"chat_template_kwargs": {"enable_thinking": False}}],
    ids=["effort", "template argument"],
)
def test_reasoning_is_turned_off(stub: Stub, monkeypatch: pytest.MonkeyPatch, off: dict[str, Any]) -> None:
    monkeypatch.setattr(stubs.tokenizer(), "chat_template", stubs.TEMPLATE + "{# <think> #}")
    stub.chat(tools=TOOLS, **off)
    assert "reasoning" not in (stub.engine.asked[-1].grammar or "reasoning")
    stub.chat(tools=TOOLS)
    assert "reasoning" in (stub.engine.asked[-1].grammar or "")


def test_a_model_that_does_not_reason_is_not_held_in_reasoning(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stubs.tokenizer(), "chat_template", stubs.TEMPLATE + "{# <think> #}")
    stub.engine.script = say("Hel", "lo")
    message = stub.chat(tools=TOOLS).json()["choices"][0]["message"]
    assert message["content"] == "Hello"
    assert "reasoning_content" not in message
