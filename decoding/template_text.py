"""The text that a chat template makes of a conversation, without what transformers and vLLM do around it.

vLLM borrows a copy of the tokenizer from a pool, transformers looks at some twenty options, and Jinja joins the names
that every template knows with those of this call: three quarters of the time that a short prompt took. None of it
changes the text of a template that is rendered in the usual way.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from transformers import PreTrainedTokenizerBase
from transformers.utils.chat_template_utils import _compile_jinja_template

from decoding.tokenising import maker


def template_text(
    tokenizer: Any,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]] | None,
    template_kwargs: Mapping[str, Any],
    *,
    generation_prompt: bool,
) -> str:
    """What ``tokenizer.apply_chat_template`` gives for these messages, as text. Whatever it raises comes through."""
    shown = list(tools) if tools else None
    kind: Any = type(tokenizer)
    if not messages or not _renders_as_usual(kind) or not _OPTIONS.isdisjoint(template_kwargs):
        text = tokenizer.apply_chat_template(
            list(messages), tools=shown, add_generation_prompt=generation_prompt, tokenize=False, **template_kwargs
        )
        assert isinstance(text, str)
        return text
    template, names = _compiled(tokenizer.get_chat_template(None, shown))
    context = {
        **names,
        **tokenizer.special_tokens_map,
        **template_kwargs,
        "messages": list(messages),
        "tools": shown,
        "documents": None,
        "add_generation_prompt": generation_prompt,
    }
    return str(template.make_module(context, shared=True))


@lru_cache(maxsize=8)
def _compiled(source: str) -> tuple[Any, dict[str, Any]]:
    """The template in transformers' environment, and the names that it knows besides those that it is given."""
    template = _compile_jinja_template(source)
    return template, dict(template.globals)


@cache
def _renders_as_usual(kind: type) -> bool:
    """Whether a class of tokenizers has transformers' own way to apply a chat template: some models bring another."""
    return all(maker(kind, name) is PreTrainedTokenizerBase for name in ("apply_chat_template", "get_chat_template"))


#: Options of transformers' own, which are no arguments of the template.
_OPTIONS = frozenset(inspect.signature(PreTrainedTokenizerBase.apply_chat_template).parameters)
