"""Chat messages made uniform, and written out as plain chat turns where a template knows no tools."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from decoding.formats import Format
from decoding.ids import short_id_of
from decoding.signatures import signature
from decoding.spelled_tools import members_of
from decoding.tools import Tool, ToolChoice

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


@dataclass(frozen=True, slots=True)
class Call:
    """An earlier call. ``arguments`` is its JSON text as it was made; text that is no JSON is kept as it is."""

    id: str
    name: str
    arguments: str

    @property
    def value(self) -> dict[str, Any] | str:
        """The arguments as an object where they are one, else as they stand."""
        parsed = self.parsed
        return self.arguments if parsed is None else parsed

    @property
    def parsed(self) -> dict[str, Any] | None:
        """The arguments as an object; ``None`` when the text is none."""
        try:
            value = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. ``name`` is the called tool's name on a tool's result, where it is known."""

    role: Role
    text: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    name: str = ""
    reasoning: str = ""


def normalise(messages: Iterable[Mapping[str, Any]]) -> list[Turn]:
    """Uniform turns from Chat Completions messages: roles mapped (developer → system, function → tool), content null,
    text or parts → text, system messages at the start merged into one, white space around the assistant's text gone.

    Raises ValueError for a role that does not exist."""
    turns: list[Turn] = []
    names: dict[str, str] = {}
    for message in messages:
        turn = _turn(message)
        names |= {call.id: call.name for call in turn.calls}
        if turn.role == "tool" and not turn.name:
            turn = replace(turn, name=names.get(turn.call_id, ""))
        if turn.role == "system" and len(turns) == 1 and turns[0].role == "system":
            turns[0] = replace(turns[0], text=_join(turns[0].text, turn.text))
        else:
            turns.append(turn)
    return turns


def _turn(message: Mapping[str, Any]) -> Turn:
    role = _ROLES.get(str(message.get("role")))
    if role is None:
        raise ValueError(f"role {message.get('role')!r}: use {', '.join(_ROLES)}")
    text = content_text(message.get("content"))
    if role == "assistant":
        calls = [call for call in message.get("tool_calls") or () if isinstance(call, Mapping)]
        reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
        text = text or content_text(message.get("refusal"))
        return Turn(role, text.strip(), tuple(map(_call, calls)), reasoning=str(reasoning))
    if role == "tool":
        return Turn(role, text, call_id=str(message.get("tool_call_id") or ""), name=str(message.get("name") or ""))
    return Turn(role, text)


def _call(call: Mapping[str, Any]) -> Call:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    if arguments is None or arguments == "":
        arguments = "{}"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return Call(str(call.get("id") or ""), str(function.get("name") or ""), text)


def content_text(content: Any) -> str:
    """The text of a message's content: text, a list of parts, nothing, or any JSON value (a tool's result)."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, str) or _is_part(part) for part in content):
        return "\n".join(text for part in content if (text := part if isinstance(part, str) else _part_text(part)))
    return json.dumps(content, ensure_ascii=False)


def _is_part(part: Any) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("type"), str)


def _part_text(part: Mapping[str, Any]) -> str:
    return str(part.get("text") or part.get("refusal") or "")


def with_calls_as_text(
    turns: Sequence[Turn], fmt: Format, tools: Sequence[Tool] = (), *, only_broken: bool = False
) -> list[Turn]:
    """Turns with their calls written into the text, exactly as the model writes them; with ``only_broken`` the calls
    of turns in which some arguments are no JSON object. ``tools``: those that the calls may be of."""
    members = members_of(tools, fmt.spelling)
    written: list[Turn] = []
    count = 0
    for turn in turns:
        first, count = count, count + len(turn.calls)
        if turn.calls and not (only_broken and all(call.parsed is not None for call in turn.calls)):
            calls = [(call.name, call.arguments) for call in turn.calls]
            text = fmt.write_answer(turn.text, calls, first, members)
            turn = replace(turn, text=text, calls=())
        written.append(turn)
    return written


def one_call_a_turn(turns: Sequence[Turn]) -> list[Turn]:
    """Turns with several calls become several turns, each followed by its results, for templates that show only one."""
    single: list[Turn] = []
    rest = list(turns)
    while rest:
        turn = rest.pop(0)
        if len(turn.calls) < 2:
            single.append(turn)
            continue
        results = list(itertools.takewhile(lambda each: each.role == "tool", rest))
        del rest[: len(results)]
        known = {call.id for call in turn.calls}
        for n, call in enumerate(turn.calls):
            first = n == 0
            single.append(
                replace(turn, text=turn.text if first else "", reasoning=turn.reasoning if first else "", calls=(call,))
            )
            single += [each for each in results if each.call_id == call.id]
        single += [each for each in results if each.call_id not in known]
    return single


def with_ids_of(turns: Sequence[Turn], fmt: Format) -> list[Turn]:
    """Turns in which the ids of calls and results are of the format's kind, for templates that show or check them."""
    if fmt.ids == "call":
        return list(turns)
    count = itertools.count()
    new: dict[str, str] = {}
    renamed: list[Turn] = []
    for turn in turns:
        calls = []
        for call in turn.calls:
            number = next(count)
            new[call.id] = f"functions.{call.name}:{number}" if fmt.ids == "functions" else short_id_of(call.id)
            calls.append(replace(call, id=new[call.id]))
        renamed.append(replace(turn, calls=tuple(calls), call_id=new.get(turn.call_id, turn.call_id)))
    return renamed


def plain_turns(turns: Sequence[Turn], fmt: Format, tools: Sequence[Tool], choice: ToolChoice) -> list[Turn]:
    """The conversation in system, user and assistant turns only: tools, convention and examples at the start, earlier
    calls as the model writes them, results as user turns (those of one answer together)."""
    shown = [tool for tool in tools if choice.names is None or tool.name in choice.names]
    plain: list[Turn] = []
    results: list[str] = []
    for turn in with_calls_as_text(turns, fmt, tools):
        if turn.role == "tool":
            results.append(fmt.wording.result.replace("{name}", turn.name).replace("{content}", turn.text))
            continue
        if results:
            plain.append(Turn("user", "\n".join(results)))
            results = []
        plain.append(turn)
    if results:
        plain.append(Turn("user", "\n".join(results)))
    if not shown or choice.mode == "none":
        return plain
    given = plain[0].text if plain and plain[0].role == "system" else ""
    rest = plain[1:] if plain and plain[0].role == "system" else plain
    examples = [Turn(role, text) for role, text in fmt.wording.examples]
    return [Turn("system", _join(given, tool_prompt(fmt, shown, choice))), *examples, *rest]


def tool_prompt(fmt: Format, tools: Sequence[Tool], choice: ToolChoice) -> str:
    """The part of the system prompt that lists the tools and says how to call them."""
    wording = fmt.wording
    describe = _as_json if wording.tool_as_json else signature
    required = f"\n{wording.required}" if choice.mode == "required" and wording.required else ""
    return wording.intro + wording.between.join(map(describe, tools)) + wording.outro + required


def _as_json(tool: Tool) -> str:
    return json.dumps(wire_tool(tool), ensure_ascii=False)


def wire_tool(tool: Tool) -> dict[str, Any]:
    """The tool as chat templates expect it."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def merge_neighbours(turns: Sequence[Turn]) -> list[Turn]:
    """Neighbouring turns of one role become one, for templates that insist on alternation."""
    merged: list[Turn] = []
    for turn in turns:
        if merged and merged[-1].role == turn.role and turn.role in ("user", "assistant"):
            last = merged[-1]
            merged[-1] = replace(last, text=_join(last.text, turn.text), calls=(*last.calls, *turn.calls))
        else:
            merged.append(turn)
    return merged


def without_system(turns: Sequence[Turn], *, late_only: bool) -> list[Turn]:
    """System turns become part of the user turn that follows (or a user turn of their own at the end); with
    ``late_only`` the one at the start stays."""
    out: list[Turn] = []
    waiting: list[str] = []
    for place, turn in enumerate(turns):
        if turn.role == "system" and not (late_only and place == 0):
            waiting.append(turn.text)
        elif waiting and turn.role == "user":
            out.append(replace(turn, text=_join(*waiting, turn.text)))
            waiting = []
        else:
            if waiting:
                out.append(Turn("user", _join(*waiting)))
                waiting = []
            out.append(turn)
    return [*out, Turn("user", _join(*waiting))] if waiting else out


def _join(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
