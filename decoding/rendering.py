"""A conversation → the token ids of the prompt, through the tokenizer's own chat template.

What a template cannot take (tools, results, a system message in mid-history) is found out once per template by trying
it, and is written out as plain chat turns in the format's wording instead. A message is rendered the same whatever
follows it, so that the prompt of the next turn begins with the prompt of this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from decoding.formats import Format
from decoding.messages import (
    Turn,
    merge_neighbours,
    normalise,
    one_call_a_turn,
    plain_turns,
    wire_tool,
    with_calls_as_text,
    with_ids_of,
    without_system,
)
from decoding.template import Abilities, abilities, apply, as_messages
from decoding.tokenising import tokenise
from decoding.tools import Tool, ToolChoice


class RenderError(ValueError):
    """The chat template cannot render this conversation; the message says why."""


def render_prompt(
    tokenizer: Any,
    fmt: Format,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Tool] = (),
    tool_choice: ToolChoice | None = None,
    template_kwargs: Mapping[str, Any] | None = None,
) -> list[int]:
    """Token ids of the conversation with the generation prompt at its end. ``tools`` are those to be shown; under
    ``none`` none is.

    Messages are in Chat Completions form; every role, content as null, text or parts, and arguments as text, object or
    broken JSON are taken. Raises ValueError for a role that does not exist, RenderError when the template refuses even
    plain chat turns.
    """
    text = render_text(tokenizer, fmt, messages, tools, tool_choice, template_kwargs)
    return tokenise(tokenizer, text)


def render_text(
    tokenizer: Any,
    fmt: Format,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Tool] = (),
    tool_choice: ToolChoice | None = None,
    template_kwargs: Mapping[str, Any] | None = None,
) -> str:
    """The prompt of ``render_prompt`` as text. Raises ValueError and RenderError as it does."""
    choice = tool_choice or ToolChoice("auto" if tools else "none")
    shown = [] if choice.mode == "none" else list(tools)
    able = abilities(tokenizer, fmt)
    turns = normalise(messages)
    kwargs = dict(template_kwargs or {})
    if able.tools:
        try:
            native = as_messages(_fit(_native(turns, fmt, tools, able), able), arguments_as_text=able.arguments_as_text)
            return apply(tokenizer, native, [wire_tool(tool) for tool in shown], kwargs)
        except Exception:  # what the template cannot take is written out below
            pass
    try:
        plain = _fit(plain_turns(turns, fmt, shown, choice), able)
        return apply(tokenizer, as_messages(plain), None, kwargs)
    except Exception as error:
        raise RenderError(f"the model's chat template cannot render these messages: {error}") from error


def _native(turns: Sequence[Turn], fmt: Format, tools: Sequence[Tool], able: Abilities) -> list[Turn]:
    """Turns for a template that knows tools. Calls are written into the text where that comes to the same, so that
    earlier arguments stand in the prompt to the letter, and in any case where they are no JSON object."""
    named = with_ids_of(one_call_a_turn(turns) if able.single_calls else turns, fmt)
    if fmt.channels and not able.calls_as_text:
        return named  # a call is a message of its own: it cannot stand in another's text
    return with_calls_as_text(named, fmt, tools, only_broken=not able.calls_as_text)


def _fit(turns: Sequence[Turn], able: Abilities) -> list[Turn]:
    """Turns rearranged for what the template cannot take."""
    fitted = list(turns)
    if not able.system or not able.late_system:
        fitted = without_system(fitted, late_only=able.system)
    return fitted if able.neighbours else merge_neighbours(fitted)
