"""A chat template rendered directly gives what the tokenizer's own method gives, errors included."""

from __future__ import annotations

from typing import Any

import pytest

from decoding.template_text import template_text
from tests.decoding import templates
from tests.decoding.templates import tokenizer

TEMPLATES = {name: text for name, text in vars(templates).items() if name.isupper() and name != "ALL"}
# Names of transformers' own and of Jinja's, macros, assignments at the top, changes inside a loop.
TEMPLATES["NAMES"] = """{% set mark = '#' %}{% macro line(m) %}{{ mark }}{{ m.role }}: {{ m.content }}{{ eos_token }}\
{% endmacro %}{% set seen = namespace(n=0) %}{% for m in messages %}{% generation %}{{ line(m) }}{% endgeneration %}\
{% set seen.n = seen.n + 1 %}{% if seen.n > 9 %}{% break %}{% endif %}{% endfor %}{{ seen.n }}{{ dict(a=1) }}\
{% for i in range(2) %}{{ i }}{% endfor %}{{ strftime_now('%Z') }}{{ bos_token }}{{ documents is none }}\
{{ thinking is defined }}{{ tools | tojson }}{% if thinking %}{{ thinking }}{% endif %}"""
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "call_a", "type": "function", "function": {"name": "look", "arguments": {"é": "<&'"}}}
USER = {"role": "user", "content": "What is <new>? É"}
CONVERSATIONS: list[list[dict[str, Any]]] = [
    [USER],
    [{"role": "system", "content": "Be brief."}, USER],
    [USER, USER],
    [USER, {"role": "assistant", "content": "", "tool_calls": [CALL]}, {"role": "tool", "content": "x"}, USER],
    [USER, {"role": "assistant", "content": None}],
    [{"content": "nobody's"}],
    [],
]


def both(made: Any, messages: list[Any], tools: list[Any] | None, kwargs: dict[str, Any], prompt: bool) -> list[Any]:
    def own() -> str:
        text: str = made.apply_chat_template(
            messages, tools=tools, add_generation_prompt=prompt, tokenize=False, **kwargs
        )
        return text

    found: list[Any] = []
    for render in (own, lambda: template_text(made, messages, tools, kwargs, generation_prompt=prompt)):
        try:
            found.append(render())
        except Exception as error:
            found.append((type(error), str(error)))
    return found


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_same_text(name: str) -> None:
    made = tokenizer(TEMPLATES[name])
    made.eos_token = "<|end|>"
    texts = 0
    for messages in CONVERSATIONS:
        for tools in (None, [TOOL]):
            for kwargs in ({}, {"thinking": "deep", "eos_token": "<|other|>", "range": 3}, {"max_length": 3}):
                for prompt in (True, False):
                    own, direct = both(made, messages, tools, kwargs, prompt)
                    assert direct == own
                    texts += isinstance(own, str)
    assert bool(texts) == (name != "SULKY")


def test_arguments_that_transformers_keeps_for_itself() -> None:
    made = tokenizer(templates.PLAIN)
    for kwargs in (
        {"return_assistant_tokens_mask": True},
        {"continue_final_message": True},
        {"chat_template": "other"},
    ):
        own, direct = both(made, [USER], None, kwargs, True)
        assert direct == own
        assert direct == "other" or direct[0] is ValueError


def test_several_templates_and_none() -> None:
    several = tokenizer({"default": "plain", "tool_use": "tools"})
    assert template_text(several, [USER], None, {}, generation_prompt=True) == "plain"
    assert template_text(several, [USER], [TOOL], {}, generation_prompt=True) == "tools"
    own, direct = both(tokenizer(None), [USER], None, {}, True)
    assert direct == own
    assert direct[0] is ValueError


def test_a_changed_template() -> None:
    made = tokenizer("one")
    assert template_text(made, [USER], None, {}, generation_prompt=True) == "one"
    made.chat_template = "two"
    assert template_text(made, [USER], None, {}, generation_prompt=True) == "two"


def test_a_class_with_a_way_of_its_own() -> None:
    made = tokenizer(templates.PLAIN)

    class Own(type(made)):  # type: ignore[misc]
        def apply_chat_template(self, messages: Any, **options: Any) -> str:
            return f"own: {len(messages)}, {options['add_generation_prompt']}"

    made.__class__ = Own
    assert template_text(made, [USER], None, {}, generation_prompt=False) == "own: 1, False"
