"""Declarations and detection."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from decoding.formats import Arguments, Format, Index, Literal, Name, Part, Wording, bind, detect, explain, get, names
from tests.decoding.support import ALL_FORMATS

WORDING = Wording("", "", "{content}")
HERMES_TEMPLATE = "{% if tools %}<tools>{{ tools }}</tools>{% endif %}<tool_call>\n{'name': ...}\n</tool_call>"
PLAIN_TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}"


def tokenizer(template: object) -> SimpleNamespace:
    return SimpleNamespace(chat_template=template)


def test_names_and_get() -> None:
    assert {"hermes", "prompted"} <= set(names())
    assert all(get(name).name == name for name in names())
    with pytest.raises(ValueError, match="hermes"):
        get("none-such")


@pytest.mark.parametrize(
    ("template", "name", "word"),
    [
        (HERMES_TEMPLATE, "hermes", "<tool_call>"),
        ({"default": PLAIN_TEMPLATE, "tool_use": HERMES_TEMPLATE}, "hermes", "<tool_call>"),
        (PLAIN_TEMPLATE, "prompted", "no tools"),
        (None, "prompted", "no chat template"),
        ("{{ tools }} [TOOL_CALLS] [ARGS]", "mistral", "[ARGS]"),
        ("{{ tools }} [TOOL_CALLS]", "mistral_list", "list"),
        ("{{ tools }} <｜tool▁sep｜> ```json", "deepseek", "fence"),
        ("{{ tools }} <｜tool▁sep｜>", "deepseek_v31", "bare"),
        ("{{ tools }} <|tool_calls_section_begin|>", "kimi", "<|tool_call_begin|>"),
        ('{{ tools }} <|start_header_id|> {"name": function name, "parameters": dict}', "llama_json", "Llama"),
        ("{{ tools }} <|start_of_role|> respond only with <|tool_call|> followed by a list", "granite", "Granite"),
        ('{{ tools }} <|start_of_role|> <tool_call>\\n{"name": f}\\n</tool_call>', "hermes", "JSON"),
        ("{{ message['tools'] }}<|tool|><|/tool|>", "phi", "Phi"),
        ("{{ tools }} formatted as functools[{", "phi", "Phi"),
        ("{{ tools }} <|START_ACTION|>[", "cohere", "<|START_ACTION|>"),
        ("{{ tools }} <|start|>assistant<|channel|>analysis<|message|>", "harmony", "channels"),
        ({"default": "{{ m }}", "tool_use": "{{ tools }} Action: ```json `directly-answer`"}, "command_r", "Action:"),
        ("{{ '<start_of_turn>' + role }}", "prompted", "Gemma 3"),
        ("{{ tools }} <|somehow|>", "prompted", "warning"),
        ("{{ tools }} <tool_call>\n<function=f>\n<parameter=p>", "qwen_xml", "<function="),
        ("{{ tools }} <tool_call>f\n<arg_key>k</arg_key>", "glm", "lines of their own"),
        ("{{ tools }} <tool_call>f<arg_key>k</arg_key><arg_value>v", "glm_47", "without line breaks"),
        ("{{ tools }} <minimax:tool_call>", "minimax", "<minimax:tool_call>"),
        ("{{ tools }} <｜DSML｜function_calls>", "deepseek_v32", "function_calls"),
        ("{{ tools }} <｜DSML｜tool_calls>", "deepseek_v4", "tool_calls"),
        ("{{ tools }} <｜DSML｜ calls>", "deepseek_v41", "calls"),
        ("{{ tools }} {{ '<|tool_call>call:' + name }}", "gemma", "<|tool_call>call:"),
        (
            "{{ tools }} <start_function_declaration> {{ '<start_function_call>call:' }}",
            "functiongemma",
            "function_call",
        ),
        ("{{ tools }} {{ '<|open|>' + t + '<|sep|>' }} {{ '<|close|>' + t }}", "kimi_k3", "<|open|>"),
        ("{{ tools }} [func_name1(params_name1=params_value1)]", "llama_pythonic", "Python"),
    ],
)
def test_detect(template: object, name: str, word: str) -> None:
    assert detect(tokenizer(template)).name == name
    assert word in explain(tokenizer(template)).reason
    assert "\n" not in explain(tokenizer(template)).reason


def test_families_without_a_template() -> None:
    """By the tokenizer's class (vLLM's for DeepSeek) or its added tokens."""
    added = {
        n: SimpleNamespace(content=mark, special=True) for n, mark in enumerate(("<|open|>", "<|close|>", "<|sep|>"))
    }
    found = explain(SimpleNamespace(chat_template=None, added_tokens_decoder=added))
    assert found.format.name == "kimi_k3"
    assert "<|open|>" in found.reason
    assert dict(found.format.special) == {"<|open|>": 0, "<|close|>": 1, "<|sep|>": 2}
    for class_name, name in (("DSV32X", "deepseek_v32"), ("DSV4X", "deepseek_v4"), ("DSV41X", "deepseek_v41")):
        cached = type("Cached", (type(class_name, (), {"chat_template": None}),), {})
        assert explain(cached()).format.name == name
    unsure = explain(
        SimpleNamespace(chat_template=None, added_tokens_decoder={3: SimpleNamespace(content="｜DSML｜", special=True)})
    )
    assert unsure.format.name == "prompted"
    assert "warning" in unsure.reason
    assert unsure.is_a_guess
    assert not found.is_a_guess
    assert "--tool-format deepseek_v32" in unsure.reason


def test_a_call_is_written_to_the_letter() -> None:
    arguments = '{"a":  "\\u00e5 </tool_call>"'  # broken JSON goes in as it is
    for fmt in ALL_FORMATS:
        assert arguments in fmt.write_call("f", arguments)
        assert fmt.write_calls([("f", "{}")]).startswith(fmt.opening)
        assert fmt.opening.startswith(fmt.marker)


CALL = (Literal("<c>"), Name(), Literal("("), Arguments(), Literal(")"))


@pytest.mark.parametrize(
    ("call", "marker", "separator"),
    [
        (CALL[1:], "(", ""),
        (CALL, "<d>", ""),
        (CALL, " ", ""),
        ((Literal("<c>"), Name(), Index(), Arguments(), Literal(")")), "<c>", ""),
        (CALL[:3], "<c>", ""),
        ((*CALL, Arguments()), "<c>", ""),
        (CALL, "<c>", ", "),
    ],
)
def test_declarations_that_cannot_be_read_are_refused(call: tuple[Part, ...], marker: str, separator: str) -> None:
    with pytest.raises(ValueError, match="format x"):
        Format("x", "", marker, call, WORDING, separator)


def test_special_tokens_are_bound() -> None:
    """Those of the tokenizer's special tokens that stand in the declaration; ordinary added tokens are text."""
    added = {
        7: SimpleNamespace(content="[TOOL_CALLS]", special=True),
        9: SimpleNamespace(content="[ARGS]", special=True),
        5: SimpleNamespace(content="[INST]", special=True),
        4: SimpleNamespace(content="[THINK]", special=False),
    }
    bound = bind(get("mistral"), SimpleNamespace(added_tokens_decoder=added))
    assert bound.special == (("[TOOL_CALLS]", 7), ("[ARGS]", 9))
    found = detect(SimpleNamespace(chat_template="{{ tools }} [TOOL_CALLS] [ARGS]", added_tokens_decoder=added))
    assert found == bound


def test_added_tokens_in_angle_brackets_are_bound() -> None:
    """Qwen's are no special tokens to its tokenizer, but they are to the grammar engine: as text it would not allow
    the model's own tokens, and the model would never call."""
    added = {
        7: SimpleNamespace(content="<tool_call>", special=False),
        8: SimpleNamespace(content="</think>", special=False),
        9: SimpleNamespace(content="<|im_end|>", special=True),
    }
    bound = bind(get("hermes"), SimpleNamespace(added_tokens_decoder=added))
    assert bound.special == (("<tool_call>", 7), ("</think>", 8))
