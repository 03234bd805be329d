"""Earlier calls in formats whose arguments are no JSON text: they stand in the prompt as the model wrote them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from decoding import CallFinished, Format, render_text, tool_from_wire
from decoding.formats import get
from decoding.template import abilities
from tests.decoding import templates
from tests.decoding.support import read, wire

NATIVE = [("qwen_xml", templates.QWEN_XML), ("glm_47", templates.GLM), ("gemma", templates.GEMMA)]
TOOL = tool_from_wire(
    wire(
        "set",
        {
            "text": {"type": "string"},
            "maybe": {"type": ["string", "integer", "null"]},
            "on": {"type": "boolean"},
            "list": {"type": "array", "items": {"type": "integer"}},
        },
        required=["text"],
    )
)
ARGUMENTS = [
    {"text": "two\nlines", "on": True, "list": [1, 2]},
    {"text": "5", "maybe": 5},
    {"text": "null", "maybe": "5"},
    {"text": "", "maybe": None},
]
every_template = pytest.mark.parametrize(("name", "template"), NATIVE, ids=[name for name, _ in NATIVE])


def history(*arguments: Any, content: str | None = None) -> list[dict[str, Any]]:
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "set", "arguments": each}}
        for n, each in enumerate(arguments)
    ]
    return [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": content, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": f"c{n}", "content": "done"} for n in range(len(calls))),
    ]


def as_read(fmt: Format, written: str) -> list[str]:
    """The arguments as a client sees them."""
    return [event.arguments for event in read(fmt, written, tools=[TOOL]) if isinstance(event, CallFinished)]


@every_template
def test_what_the_model_wrote_stands_in_the_next_prompt(name: str, template: str) -> None:
    fmt, tokenizer = get(name), templates.tokenizer(template)
    assert abilities(tokenizer, fmt).calls_as_text
    for arguments in ARGUMENTS:
        # As the model writes it: the history's own rendering, read, sent back by the client, and rendered again.
        prompt = render_text(tokenizer, fmt, history(json.dumps(arguments)), [TOOL])
        start = prompt.index(fmt.marker)
        written = prompt[start : prompt.index("<|end|>", start)]
        (seen,) = as_read(fmt, written)
        assert json.loads(seen) == arguments
        assert render_text(tokenizer, fmt, history(seen), [TOOL]) == prompt
        assert render_text(tokenizer, fmt, history(json.loads(seen)), [TOOL]) == prompt


@every_template
def test_the_templates_own_rendering_where_there_is_no_choice(name: str, template: str) -> None:
    """Strings, numbers and words come out as the template has them."""
    fmt, tokenizer = get(name), templates.tokenizer(template)
    arguments = {"text": "a b", "on": False, "list": [1]}
    prompt = render_text(tokenizer, fmt, history(json.dumps(arguments), content="So."), [TOOL])
    native = tokenizer.apply_chat_template(
        [
            {
                "role": "assistant",
                "content": "So.",
                "tool_calls": [{"function": {"name": "set", "arguments": arguments}}],
            }
        ],
        tokenize=False,
    )
    assert native in prompt


@every_template
def test_arguments_that_are_none(name: str, template: str) -> None:
    """e1: they stand as they are, and the conversation goes on."""
    fmt, tokenizer = get(name), templates.tokenizer(template)
    for broken in ('{"text": "x', "[1]", "nonsense"):
        assert broken in render_text(tokenizer, fmt, history(broken), [TOOL])
