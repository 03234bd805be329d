"""Rows of the peers' failure list that are about the wire and have no other test."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from server import bodies
from server.openai.request import CONSTRAINTS
from tests.server import stub as stubs
from tests.server.stub import TOOLS, Stub, StubEngine, call, say, serve
from tests.server.test_disconnects import until

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


@pytest.mark.parametrize(
    "value", [{"type": "object"}, {}, "", False, [], {"json_object": False}, {"json": ""}], ids=str
)
@pytest.mark.parametrize("field", sorted(CONSTRAINTS))
def test_other_servers_constraints_are_refused_by_name(stub: Stub, field: str, value: Any) -> None:
    """a31, g2: a constraint that would be ignored is 400, also one that constrains nothing."""
    response = stub.chat(**{field: value})
    assert response.status_code == 400
    assert response.json()["error"]["param"] == field
    assert not stub.engine.asked


@pytest.mark.parametrize("choice", ["auto", "required", NAMED])
def test_strict_changes_nothing(stub: Stub, choice: Any) -> None:
    """a17, e7: it is taken, and calls are held to their schemas with it and without."""
    stub.engine.script = say(ROME)
    for strict in (True, False, None):
        tools = [{**tool, "function": {**tool["function"], "strict": strict}} for tool in TOOLS]
        assert stub.chat(tools=tools, tool_choice=choice).status_code == 200
    assert stub.chat(tools=TOOLS, tool_choice=choice).status_code == 200
    assert len({(asked.grammar, asked.prompt) for asked in stub.engine.asked}) == 1
    assert stub.engine.asked[0].grammar


def test_a_whole_answer_to_the_letter(stub: Stub) -> None:
    """b15: no ``tool_calls`` where there are none, null content where there is nothing but calls."""
    answer = stub.chat(tools=TOOLS).json()
    assert answer.keys() == {"id", "object", "created", "model", "choices", "usage"}
    assert answer["object"] == "chat.completion"
    said = {"role": "assistant", "content": "Hello", "refusal": None}
    assert answer["choices"] == [{"index": 0, "message": said, "logprobs": None, "finish_reason": "stop"}]
    stub.engine.script = say(ROME)
    answer = stub.chat(tools=TOOLS).json()
    (choice,) = answer["choices"]
    (made,) = choice["message"].pop("tool_calls")
    assert choice["message"] == {"role": "assistant", "content": None, "refusal": None}
    assert choice["finish_reason"] == "tool_calls"
    function = {"name": "weather", "arguments": '{"city": "Rome"}'}
    assert made == {"id": made["id"], "type": "function", "function": function}
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens_details"].keys() >= {"cached_tokens"}
    assert usage["completion_tokens_details"].keys() >= {"reasoning_tokens"}


def test_many_tools_of_one_schema_are_compiled_once(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """f2: 128 tools, cold; what is the same is not done again, in this request or in the next."""
    monkeypatch.setattr(stub.engine, "max_model_len", 1_000_000)
    parameters = {"type": "object", "properties": {"only_here": {"type": "integer"}}}
    tools = [{"type": "function", "function": {"name": f"f{n}", "parameters": parameters}} for n in range(128)]
    before = stub.metric("strictcall_grammar_cache_misses_total")
    for _ in range(2):
        assert stub.chat(tools=tools).status_code == 200
        assert stub.metric("strictcall_grammar_cache_misses_total") == before + 2, "the schema and the whole grammar"


def test_large_bodies_are_read_by_the_fast_parser(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """f6: a megabyte of an agent's conversation does not go through Python's own parser."""

    def slow(_: bytes) -> Any:
        raise AssertionError("json.loads in the event loop")

    monkeypatch.setattr(bodies, "json", SimpleNamespace(loads=slow))
    monkeypatch.setattr(stub.engine, "max_model_len", 2_000_000)
    turns = [{"role": "user", "content": "x" * 1000}, {"role": "assistant", "content": "y" * 1000}] * 500
    assert stub.chat(messages=[*turns, {"role": "user", "content": "Hi"}]).status_code == 200


@pytest.mark.usefixtures("hostile")
def test_health_and_others_do_not_wait_for_a_schema() -> None:
    """f7, g7: what is slow is done elsewhere, so probes and other requests are answered meanwhile, and it ends."""
    parameters = {"title": "sleep", "type": "object", "properties": {"a": {}}}
    slow = {"type": "function", "function": {"name": "slow", "parameters": parameters}}
    statuses: list[int] = []
    with serve(StubEngine(), compile_timeout=1) as stub:
        asking = threading.Thread(target=lambda: statuses.append(stub.chat(tools=[slow]).status_code))
        asking.start()
        until(lambda: stub.metric("strictcall_grammar_cache_misses_total") > 0)
        for path in ("/health/live", "/health/ready", "/metrics", "/v1/models"):
            assert stub.client.get(path).status_code == 200
        assert stub.chat().status_code == 200
        assert statuses == [], "it is still being compiled"
        asking.join(60)
        assert statuses == [400]
