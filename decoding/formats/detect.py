"""Which format a model writes: a table over its chat template, and one over its tokenizer where it has no template."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from decoding.formats.cohere import COHERE
from decoding.formats.command_r import COMMAND_R
from decoding.formats.declaration import Format
from decoding.formats.deepseek import DEEPSEEK, DEEPSEEK_V31
from decoding.formats.dsml import DEEPSEEK_V4, DEEPSEEK_V32, DEEPSEEK_V41
from decoding.formats.gemma import FUNCTIONGEMMA, GEMMA
from decoding.formats.glm import GLM, GLM_47
from decoding.formats.granite import GRANITE
from decoding.formats.harmony import HARMONY
from decoding.formats.hermes import HERMES
from decoding.formats.kimi import KIMI
from decoding.formats.kimi_k3 import KIMI_K3
from decoding.formats.llama import LLAMA_JSON
from decoding.formats.llama_pythonic import LLAMA_PYTHONIC
from decoding.formats.minimax import MINIMAX
from decoding.formats.mistral import MISTRAL, MISTRAL_LIST
from decoding.formats.phi import PHI
from decoding.formats.prompted import PROMPTED
from decoding.formats.qwen_xml import QWEN_XML

_FORMATS = {
    fmt.name: fmt
    for fmt in (
        HERMES,
        QWEN_XML,
        MISTRAL,
        MISTRAL_LIST,
        DEEPSEEK,
        DEEPSEEK_V31,
        DEEPSEEK_V32,
        DEEPSEEK_V4,
        DEEPSEEK_V41,
        KIMI,
        KIMI_K3,
        GLM,
        GLM_47,
        MINIMAX,
        LLAMA_JSON,
        LLAMA_PYTHONIC,
        GEMMA,
        FUNCTIONGEMMA,
        GRANITE,
        PHI,
        COHERE,
        COMMAND_R,
        HARMONY,
        PROMPTED,
    )
}


@dataclass(frozen=True, slots=True)
class Detection:
    """The format that was found, and one line for the log that says why."""

    format: Format
    reason: str

    @property
    def is_a_guess(self) -> bool:
        """The model has a form of its own that is not known here."""
        return self.reason.startswith("warning")


@dataclass(frozen=True, slots=True)
class _Row:
    format: Format
    reason: str
    fits: Callable[[str], bool]


# The first row that fits wins: what is more particular stands first. Hermes' JSON form has to be told from the
# formats that put XML parameters into the same tag.
_TABLE = (
    _Row(
        KIMI,
        "the chat template writes <|tool_call_begin|> and <|tool_call_argument_begin|>",
        lambda template: "<|tool_calls_section_begin|>" in template,
    ),
    _Row(
        KIMI_K3,
        "the chat template writes tags of <|open|>, <|close|> and <|sep|>",
        lambda template: all(token in template for token in ("<|open|>", "<|close|>", "<|sep|>")),
    ),
    _Row(
        DEEPSEEK,
        "the chat template writes <｜tool▁sep｜> and JSON in a fence",
        lambda template: "<｜tool▁sep｜>" in template and "```json" in template,
    ),
    _Row(
        DEEPSEEK_V31,
        "the chat template writes <｜tool▁sep｜> and bare JSON",
        lambda template: "<｜tool▁sep｜>" in template,
    ),
    _Row(
        MISTRAL,
        "the chat template writes [TOOL_CALLS]name[ARGS]",
        lambda template: "[TOOL_CALLS]" in template and "[ARGS]" in template,
    ),
    _Row(
        MISTRAL_LIST,
        "the chat template writes a JSON list behind [TOOL_CALLS]",
        lambda template: "[TOOL_CALLS]" in template,
    ),
    _Row(
        QWEN_XML,
        "the chat template writes <function=…> and <parameter=…> in <tool_call>",
        lambda template: "<tool_call>" in template and "<function=" in template and "<parameter=" in template,
    ),
    _Row(
        GLM_47,
        "the chat template writes <arg_key> and <arg_value> without line breaks",
        lambda template: "<tool_call>" in template and "</arg_key><arg_value>" in template,
    ),
    _Row(
        GLM,
        "the chat template writes <arg_key> and <arg_value> on lines of their own",
        lambda template: "<tool_call>" in template and "<arg_key>" in template,
    ),
    _Row(
        MINIMAX,
        "the chat template writes <minimax:tool_call>",
        lambda template: "<minimax:tool_call>" in template,
    ),
    _Row(
        DEEPSEEK_V32,
        "the chat template writes <｜DSML｜function_calls>",
        lambda template: "｜DSML｜" in template and "function_calls>" in template,
    ),
    _Row(
        DEEPSEEK_V41,
        "the chat template writes <｜DSML｜ calls>",
        lambda template: "｜DSML｜ " in template or re.search(r"｜DSML｜['\" ~+]+ calls", template) is not None,
    ),
    _Row(
        DEEPSEEK_V4,
        "the chat template writes <｜DSML｜tool_calls>",
        lambda template: "｜DSML｜" in template,
    ),
    _Row(
        GEMMA,
        "the chat template writes <|tool_call>call:",
        lambda template: "<|tool_call>call:" in template,
    ),
    _Row(
        FUNCTIONGEMMA,
        "the chat template writes <start_function_call>call:",
        lambda template: "<start_function_call>" in template,
    ),
    _Row(
        LLAMA_PYTHONIC,
        "the chat template asks for a list of Python calls",
        lambda template: "func_name1(params_name1=params_value1" in template,
    ),
    _Row(
        HARMONY,
        "the chat template writes Harmony's channels",
        lambda template: "<|channel|>analysis<|message|>" in template,
    ),
    _Row(
        COHERE,
        "the chat template writes <|START_ACTION|>",
        lambda template: "<|START_ACTION|>" in template,
    ),
    _Row(
        COMMAND_R,
        "the chat template is Command R's, with a JSON list behind Action:, and has no place for text beside tools: "
        "they are explained in the prompt",
        lambda template: "Action:" in template and "directly-answer" in template,
    ),
    _Row(
        GRANITE,
        "the chat template is Granite 3's, with a JSON list behind <|tool_call|>",
        lambda template: "<|start_of_role|>" in template and "<|tool_call|>" in template,
    ),
    _Row(
        PHI,
        "the chat template is Phi-4-mini's, with tools in <|tool|>",
        lambda template: "<|/tool|>" in template or "functools[" in template,
    ),
    _Row(
        HERMES,
        "the chat template writes calls as JSON in <tool_call>",
        lambda template: (
            "<tool_call>" in template and not re.search(r"<function=|<arg_key>|<parameter=|<tool_sep>", template)
        ),
    ),
    _Row(
        LLAMA_JSON,
        "the chat template is Llama 3's, with calls as JSON",
        lambda template: "<|start_header_id|>" in template and '"parameters":' in template,
    ),
    _Row(
        PROMPTED,
        "the chat template is Gemma's, up to Gemma 3: it knows no tools, and the models have learnt no form of calls; "
        "tools are explained in the prompt",
        lambda template: "<start_of_turn>" in template and "tools" not in template,
    ),
)


@dataclass(frozen=True, slots=True)
class _Encoder:
    """A family whose prompts are written by code instead of a template. ``class_name``: how vLLM's tokenizer for it
    begins its name; ``tokens``: those of its added tokens that no other family has all of."""

    format: Format
    reason: str
    class_name: str = ""
    tokens: frozenset[str] = frozenset()


_ENCODERS = (
    _Encoder(DEEPSEEK_V32, "vLLM's tokenizer for DeepSeek V3.2 writes the prompt", class_name="DSV32"),
    _Encoder(DEEPSEEK_V41, "vLLM's tokenizer for DeepSeek V4.1 writes the prompt", class_name="DSV41"),
    _Encoder(DEEPSEEK_V4, "vLLM's tokenizer for DeepSeek V4 writes the prompt", class_name="DSV4"),
    _Encoder(
        KIMI_K3,
        "the tokenizer has <|open|>, <|close|> and <|sep|> as tokens",
        tokens=frozenset(["<|open|>", "<|close|>", "<|sep|>"]),
    ),
)


def names() -> list[str]:
    """The formats' names."""
    return list(_FORMATS)


def get(name: str) -> Format:
    """A format by its name. Raises ValueError with the names that exist."""
    if name not in _FORMATS:
        raise ValueError(f"no call format {name!r}: use one of {', '.join(_FORMATS)}")
    return _FORMATS[name]


def detect(tokenizer: Any) -> Format:
    """The format that this tokenizer's chat template calls for, bound to it; ``prompted`` when none is known."""
    return explain(tokenizer).format


def explain(tokenizer: Any) -> Detection:
    """``detect`` with the reason."""
    template = _template(tokenizer)
    for row in _TABLE:
        if row.fits(template):
            return Detection(bind(row.format, tokenizer), row.reason)
    if not template:
        added = {token.content for token in getattr(tokenizer, "added_tokens_decoder", {}).values()}
        classes = [each.__name__ for each in type(tokenizer).__mro__]
        for encoder in _ENCODERS:
            known = bool(encoder.class_name) and any(name.startswith(encoder.class_name) for name in classes)
            if known or (encoder.tokens and encoder.tokens <= added):
                return Detection(bind(encoder.format, tokenizer), encoder.reason)
        if "｜DSML｜" in added:
            reason = (
                "warning: the tokenizer has ｜DSML｜ as a token and no chat template, as DeepSeek V3.2 and later: "
                "which of them it is has to be said, with --tool-format deepseek_v32, deepseek_v4 or deepseek_v41 and "
                "with vLLM's --tokenizer-mode of the same name; tools are explained in the prompt"
            )
            return Detection(PROMPTED, reason)
        return Detection(PROMPTED, "the model has no chat template: tools and calls are explained in the prompt")
    if "tools" not in template:
        return Detection(PROMPTED, "the chat template knows no tools: they are explained in the prompt")
    reason = "warning: the chat template has tools in a form that is not known here; they are explained in the prompt"
    return Detection(PROMPTED, reason)


def bind(fmt: Format, tokenizer: Any) -> Format:
    """The format with the ids of those of its texts that are special tokens of this tokenizer: the grammar has to name
    them by id, because a special token is no text to it."""
    added = getattr(tokenizer, "added_tokens_decoder", {})
    special = tuple(
        (token.content, number)
        for number, token in sorted(added.items())
        if _special_to_the_grammar(token) and any(token.content in text for text in fmt.fixed_texts)
    )
    return replace(fmt, special=special)


def _special_to_the_grammar(token: Any) -> bool:
    """llguidance takes every added token in angle brackets for a special one, whatever the tokenizer says of it."""
    return bool(token.special) or (token.content.startswith("<") and token.content.endswith(">"))


def _template(tokenizer: Any) -> str:
    """The chat template's text; where there are several by name, the one for tools, else the default."""
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, dict):
        template = template.get("tool_use") or template.get("default") or ""
    return template or ""
