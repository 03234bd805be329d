"""One grammar, two engines: what is written under it here is accepted by Outlines, and read by the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import outlines
import pytest
from openai import OpenAI
from transformers import AutoModelForCausalLM

from decoding import CallFinished, CallStarted, Finished, Reader, render_text, tool_from_wire, tool_grammar
from decoding.formats import detect
from tests.conftest import RunningServer
from tests.decoding.outlines_replay import first_refused, outlines_model
from tests.decoding.support import TOOLS, wire

CITY = {"type": "string", "minLength": 1, "maxLength": 20}
WEATHER = wire("get_weather", {"city": CITY, "unit": {"enum": ["celsius", "fahrenheit"]}})
SUM = wire("add", {"a": {"type": "integer"}, "b": {"type": "integer"}})
ASKED = [{"role": "user", "content": "What is the weather in Paris, in celsius?"}]


@pytest.fixture(scope="module")
def model(folder: Path, tokenizer: Any) -> Any:
    return outlines_model(AutoModelForCausalLM.from_pretrained(folder), tokenizer)


def test_outlines_writes_what_the_reader_reads(model: Any, tokenizer: Any) -> None:
    fmt = detect(tokenizer)
    tools = [tool_from_wire(WEATHER), tool_from_wire(SUM)]
    grammar = tool_grammar(tools, "required", False, fmt)
    prompt = render_text(tokenizer, fmt, ASKED, tools)
    generate = outlines.Generator(model, grammar.cfg, backend="llguidance")
    text = generate(prompt, max_new_tokens=80, do_sample=False)
    reader = Reader(fmt, tools)
    events = [*reader.feed(text), *reader.finish("stop")]
    names = [event.name for event in events if isinstance(event, CallStarted)]
    arguments = [event.arguments for event in events if isinstance(event, CallFinished)]
    assert len(names) == len(arguments) == 1
    compiled = {tool.name: tool.compiled for tool in tools}
    assert compiled[names[0]].validate(json.loads(arguments[0])) == []
    assert events[-1] == Finished("tool_calls")
    assert first_refused(model, tokenizer, grammar.cfg, text) is None


def test_outlines_refuses_what_the_grammar_refuses(model: Any, tokenizer: Any) -> None:
    fmt = detect(tokenizer)
    grammar = tool_grammar(TOOLS, "required", False, fmt).cfg
    assert first_refused(model, tokenizer, grammar, fmt.write_call("find", '{"q":"x"}')) is None
    for text in (
        "Hello",
        fmt.write_call("pong", "{}"),
        fmt.write_call("find", '{"q":1}'),
        fmt.write_call("find", "{}"),
    ):
        assert first_refused(model, tokenizer, grammar, text) is not None


@pytest.mark.engine
@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_what_the_server_emitted_is_accepted(
    running_server: RunningServer, model: Any, tokenizer: Any, temperature: float
) -> None:
    """The calls of the running engine, written out again, under the grammar that it was given."""
    client = OpenAI(base_url=f"{running_server.url}/v1", api_key=running_server.key)
    fmt = detect(tokenizer)
    wires = [WEATHER, SUM]
    grammar = tool_grammar(wires, "required", False, fmt).cfg
    answer = client.chat.completions.create(
        model=client.models.list().data[0].id,
        messages=ASKED,  # type: ignore[arg-type]
        tools=wires,  # type: ignore[arg-type]
        tool_choice="required",
        parallel_tool_calls=False,
        temperature=temperature,
        seed=11,
        n=3,
        max_tokens=120,
    )
    calls = [choice.message.tool_calls for choice in answer.choices if choice.finish_reason == "tool_calls"]
    assert calls
    for made in calls:
        assert made is not None
        assert len(made) == 1
        text = fmt.write_call(made[0].function.name, made[0].function.arguments)  # type: ignore[union-attr]
        assert first_refused(model, tokenizer, grammar, text) is None
