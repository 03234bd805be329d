"""Whether an answer reasons, decided from the rendered prompt and the chat template."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias
from typing import Literal as OneOf

from decoding.formats import Format

ReasoningMode: TypeAlias = OneOf["none", "optional", "open"]
"""``open``: the answer begins inside reasoning (the prompt opened it), or with its mark, and closes it. ``optional``:
it may begin with the mark; if it does not, there is no reasoning. ``none``: it does not reason."""


def reasoning_mode(mode: ReasoningMode | bool) -> ReasoningMode:
    """The mode; ``True`` stands for ``open``."""
    return ("open" if mode else "none") if isinstance(mode, bool) else mode


def mode_of(fmt: Format, prompt_end: str, template: str, template_kwargs: Mapping[str, Any]) -> ReasoningMode:
    """The mode of an answer to a prompt that ends with ``prompt_end`` and was rendered by ``template``.

    A prompt that ends with the opening mark has opened reasoning; one that ends with the closing mark, or with the
    one that opens text, has ended it.
    Else the model may open it where the template knows the mark, unless the request turned it off.
    """
    marks = fmt.reasoning
    if marks is None:
        return "none"
    end = prompt_end.rstrip()
    if end.endswith(marks.open):
        return "open"
    off = any(template_kwargs.get(name) is False for name in ("enable_thinking", "thinking"))
    # Where answers are messages, each prompt ends with the beginning of one.
    closed = end.endswith((marks.close, fmt.text.open) if fmt.text else marks.close) and not fmt.channels
    return "optional" if marks.open in template and not closed and not off else "none"


def has_unseen_marks(fmt: Format, mode: ReasoningMode, special_ids: Collection[int]) -> bool:
    """Whether an answer without calls has marks in it, around text or reasoning, that are among the tokenizer's special
    tokens: without a grammar these are left out of the text, and the reader would not see them."""
    texts = [fmt.text.open, fmt.text.close, fmt.text.end] if fmt.text else []
    if fmt.reasoning and (mode != "none" or fmt.channels):
        texts += [fmt.reasoning.open, fmt.reasoning.close]
    return any(token in text and number in special_ids for token, number in fmt.special for text in texts)
