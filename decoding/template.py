"""What a tokenizer's chat template can take, found out by trying it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from decoding.cache import Lru
from decoding.formats import Format
from decoding.messages import Call, Turn, one_call_a_turn, with_calls_as_text, with_ids_of
from decoding.template_text import template_text

Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Abilities:
    """``tools``: shows tools, calls and results. ``single_calls``: shows just one call of a turn. ``calls_as_text``: a
    call written into the assistant's text gives the same prompt as the template's own rendering of it, or the template
    has none of its own. ``arguments_as_text``: wants a call's arguments as a string.
    ``system``/``late_system``: shows a system message at the start/in mid-history. ``neighbours``: takes two user
    turns in a row."""

    tools: bool
    single_calls: bool
    calls_as_text: bool
    arguments_as_text: bool
    system: bool
    late_system: bool
    neighbours: bool


def apply(
    tokenizer: Any,
    messages: Messages,
    tools: Sequence[Mapping[str, Any]] | None,
    template_kwargs: Mapping[str, Any],
    *,
    generation_prompt: bool = True,
) -> str:
    """The template's text for these messages. Whatever the template raises comes through."""
    return template_text(tokenizer, messages, tools, template_kwargs, generation_prompt=generation_prompt)


def as_messages(turns: Sequence[Turn], *, arguments_as_text: bool = False) -> list[dict[str, Any]]:
    """Turns in the form that chat templates expect."""
    return [_as_message(turn, arguments_as_text) for turn in turns]


def _as_message(turn: Turn, arguments_as_text: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": turn.role, "content": turn.text}
    if turn.role == "tool":
        message |= {"tool_call_id": turn.call_id, "name": turn.name}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
        if not (turn.text and turn.calls):
            # gpt-oss's template knows it by this name, and takes it or text beside calls, not both.
            message["thinking"] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments if arguments_as_text else call.value},
            }
            for call in turn.calls
        ]
    return message


_known: Lru[tuple[str, str], Abilities] = Lru(32)


def abilities(tokenizer: Any, fmt: Format) -> Abilities:
    """The abilities of this tokenizer's template, tried once per template and format."""
    template = getattr(tokenizer, "chat_template", None)
    # Without a template a tokenizer's class may write prompts itself.
    name = template if isinstance(template, str) else json.dumps(template)
    key = (name if template else type(tokenizer).__name__, fmt.name)
    return _known.get_or_make(key, partial(_try_out, tokenizer, fmt))


_TOOL = {
    "type": "function",
    "function": {
        "name": "probe_tool",
        "description": "Probe.",
        "parameters": {"type": "object", "properties": {"probe_key": {"type": "string"}}},
    },
}
_SYSTEM = Turn("system", "probe_system")
_USER = Turn("user", "probe_user")
_ANSWER = Turn("assistant", "probe_answer")
_CALLS = Turn(
    "assistant",
    "",
    (
        Call("call_a", "probe_tool", '{"probe_key": "probe_first"}'),
        Call("call_b", "probe_tool", '{"probe_key": "probe_second"}'),
    ),
)
_RESULTS = (
    Turn("tool", "probe_result", (), "call_a", "probe_tool"),
    Turn("tool", "probe_other", (), "call_b", "probe_tool"),
)


def _try_out(tokenizer: Any, fmt: Format) -> Abilities:
    def rendered(turns: Sequence[Turn], *, tools: bool = False, arguments_as_text: bool = False) -> str:
        try:
            messages = as_messages(turns, arguments_as_text=arguments_as_text)
            return apply(tokenizer, messages, [_TOOL] if tools else None, {})
        except Exception:  # templates raise whatever they like
            return ""

    def shows(text: str, *words: str) -> bool:
        return all(word in text for word in words)

    words = ("probe_first", "probe_second", "probe_result", "probe_other")
    together = with_ids_of([_USER, _CALLS, *_RESULTS], fmt)
    apart = one_call_a_turn(together)
    history, object_fits, string_fits = together, False, False
    for history in (together, apart):
        as_object = rendered(history, tools=True)
        as_string = rendered(history, tools=True, arguments_as_text=True)
        # A string that a template passes through tojson comes out with its quotes escaped.
        object_fits = shows(as_object, *words) and "{'probe_key'" not in as_object
        string_fits = shows(as_string, *words) and '\\"probe_key' not in as_string
        if object_fits or string_fits:
            break
    native = as_object if object_fits else as_string if string_fits else ""
    spoken = [replace(turn, text="probe_answer") if turn.calls else turn for turn in history]
    as_text = rendered(with_calls_as_text(history, fmt), tools=True)
    spoken_as_text = rendered(with_calls_as_text(spoken, fmt), tools=True)
    spoken_native = rendered(spoken, tools=True, arguments_as_text=not object_fits)
    written = as_text == native and spoken_as_text == spoken_native if native else shows(as_text, *words)
    return Abilities(
        tools=fmt.native_tools
        and (bool(native) or written)
        and shows(rendered([_USER], tools=True), "probe_tool", "probe_key"),
        single_calls=bool(native) and history is apart,
        calls_as_text=written,
        arguments_as_text=not object_fits,
        system=shows(rendered([_SYSTEM, _USER]), "probe_system", "probe_user"),
        late_system=shows(rendered([_USER, _ANSWER, _SYSTEM, _USER]), "probe_system"),
        neighbours=shows(rendered([_USER, Turn("user", "probe_second")]), "probe_user", "probe_second"),
    )
