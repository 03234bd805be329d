"""Where an answer ends: budgets, stop strings, and what is then said of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.stub import TOOLS, Stub, call, say
from tests.server.test_stream_bytes import calls, deltas, split

ROME = call("weather", '{"city": "Rome"}')


def both(stub: Stub, **fields: Any) -> tuple[str, dict[int, str], str]:
    """Content, the arguments of complete calls, and finish reason; whole and streamed must agree."""
    choice = stub.chat(**fields).json()["choices"][0]
    message = choice["message"]
    whole = {n: c["function"]["arguments"] for n, c in enumerate(message.get("tool_calls", ()))}
    frames = stub.frames(**fields)
    streamed = {n: c["arguments"] for n, c in calls(frames).items()}
    if message.get("incomplete_tool_call", {}).get("name"):
        cut = streamed.pop(max(streamed))
        assert cut == message["incomplete_tool_call"]["arguments"]
    assert whole == streamed
    assert (message["content"] or "") == "".join(d.get("content", "") for d in deltas(frames))
    assert choice["finish_reason"] == frames[-1]["choices"][0]["finish_reason"]
    return message["content"] or "", whole, choice["finish_reason"]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_plain_text(stub: Stub, size: int) -> None:
    stub.engine.script = say(*split("Hello, you.", size))
    assert both(stub) == ("Hello, you.", {}, "stop")
    assert both(stub, max_tokens=5) == ("Hello", {}, "length")
    assert stub.engine.asked[-1].sampling.max_tokens == 5


def test_without_a_budget_the_rest_of_the_context_is_there(stub: Stub) -> None:
    stub.chat()
    asked = stub.engine.asked[0]
    assert asked.sampling.max_tokens == stub.engine.max_model_len - len(asked.prompt)


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_every_budget_inside_a_call(stub: Stub, size: int) -> None:
    """c2, b12: a cut call is never complete, and what came before it stays."""
    text = "Sure.\n" + ROME
    stub.engine.script = say(*split(text, size))
    end = text.index("</tool_call>") - 2
    for budget in range(1, len(text) + 2):
        content, made, reason = both(stub, tools=TOOLS, max_tokens=budget)
        assert "<" not in content
        if budget < end:
            assert (made, reason) == ({}, "length"), budget
        else:
            assert made == {0: '{"city": "Rome"}'}
        if budget > len(text):
            assert (content, reason) == ("Sure.", "tool_calls")


def test_a_call_cut_before_its_name_is_known(stub: Stub) -> None:
    stub.engine.script = say(*split("Sure.\n" + ROME, 3))
    message = stub.chat(tools=TOOLS, max_tokens=24).json()["choices"][0]["message"]
    assert message["content"] == "Sure."
    assert message["incomplete_tool_call"] == {"name": None, "arguments": "", "text": '<tool_call>\n{"name'}


def test_a_complete_call_before_a_cut_one(stub: Stub) -> None:
    stub.engine.script = say(*split(ROME + "\n" + ROME, 4))
    budget = len(ROME) + ROME.index("Rome")
    message = stub.chat(tools=TOOLS, max_tokens=budget).json()["choices"][0]["message"]
    assert len(message["tool_calls"]) == 1
    assert message["incomplete_tool_call"]["name"] == "weather"
    assert both(stub, tools=TOOLS, max_tokens=budget)[2] == "length"


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_stop_strings_cut_visible_text(stub: Stub, size: int) -> None:
    stub.engine.script = say(*split("one two three", size))
    assert both(stub, stop="two") == ("one ", {}, "stop")
    assert both(stub, stop=["three", "tw"]) == ("one ", {}, "stop")
    assert both(stub, stop=["four", "three!"]) == ("one two three", {}, "stop")
    assert both(stub, stop="one") == ("", {}, "stop")


def test_a_stop_string_aborts_the_generation(stub: Stub) -> None:
    stub.engine.script = say("one two ", 30.0)
    assert both(stub, stop="two") == ("one ", {}, "stop")
    assert stub.engine.aborted == 2
    assert stub.engine.running == 0


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_stop_strings_do_not_apply_inside_a_call(stub: Stub, size: int) -> None:
    text = f"Go.\n{ROME}"
    stub.engine.script = say(*split(text, size))
    for stop in ("Rome", '"', "}", "tool_call", "<"):
        assert both(stub, tools=TOOLS, stop=stop) == ("Go.", {0: '{"city": "Rome"}'}, "tool_calls")
    stub.engine.script = say(*split(text + "\nAnd now the end.", size))
    content, made, reason = both(stub, tools=TOOLS, stop="now")
    assert (made, reason) == ({0: '{"city": "Rome"}'}, "tool_calls")
    assert content.startswith("Go.")
    assert content.endswith("And ")
    assert both(stub, tools=TOOLS, stop="Go")[1:] == ({}, "stop")


def test_markers_without_tools_are_text(stub: Stub) -> None:
    stub.engine.script = say(*split(ROME, 3))
    assert both(stub) == (ROME, {}, "stop")


def test_tool_choice_decides_what_may_be_called(stub: Stub) -> None:
    for choice, names in {
        "auto": ["weather", "now"],
        "required": ["weather", "now"],
        "none": [],
    }.items():
        stub.engine.script = say("x") if choice != "required" else say(ROME)
        stub.engine.asked.clear()
        stub.chat(tools=TOOLS, tool_choice=choice)
        grammar = stub.engine.asked[0].grammar
        assert grammar is not None, "``none`` keeps the markup of calls out"
        assert [name for name in ("weather", "now") if f'"name\\": \\"{name}' in grammar] == names
    for choice in (
        {"type": "function", "function": {"name": "now"}},
        {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [TOOLS[1]]}},
    ):
        stub.engine.script = say(call("now", "{}"))
        stub.engine.asked.clear()
        assert stub.chat(tools=TOOLS, tool_choice=choice).json()["choices"][0]["finish_reason"] == "tool_calls"
        assert "weather" not in (stub.engine.asked[0].grammar or "weather")
