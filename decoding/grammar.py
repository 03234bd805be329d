"""One grammar for the whole answer: tools, tool choice and call format → an ``outlines.types.CFG``.

The grammar is in llguidance's Lark dialect. Text is free up to a marker (``answer_rules``); from there on the call is
constrained (``call_rules``), each tool's name tied to its own arguments. Each tool's compiled grammar stands in a
nested ``%lark`` block of its own, so that rule names never meet.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from outlines.types import CFG

from decoding.answer_rules import Shape, answer, answer_rules
from decoding.cache import Lru
from decoding.call_rules import call_rules
from decoding.engine.free_text import declare_free_text
from decoding.formats import Format, get
from decoding.lark import nested
from decoding.message_rules import message_rules
from decoding.reasoning import ReasoningMode, reasoning_mode
from decoding.spelled_tools import spelled
from decoding.tools import Tool, ToolChoice, tool_choice_from_wire
from schemas import CompiledSchema, Residue, compile_schema

ANY_OBJECT = {"type": "object"}
"""The schema of ``response_format: json_object``."""


@dataclass(frozen=True)
class ToolGrammar:
    """A grammar for one answer. ``key`` names it across processes and restarts: equal keys, equal grammars."""

    cfg: CFG
    residue: Mapping[str, list[Residue]] = field(default_factory=dict)
    """Per tool, what its grammar does not hold and ``validate`` has to check. Tools held exactly are absent."""
    response_residue: list[Residue] = field(default_factory=list)
    """The same for the JSON text of ``response_format``."""

    @cached_property
    def key(self) -> str:
        return hashlib.sha256(self.cfg.definition.encode()).hexdigest()


def tool_grammar(
    tools: Sequence[Tool | Mapping[str, Any]],
    tool_choice: ToolChoice | str | Mapping[str, Any] | None = "auto",
    parallel: bool = True,
    fmt: Format | str = "hermes",
    reasoning: ReasoningMode | bool = "none",
    *,
    first: str | None = None,
    response: CompiledSchema | None = None,
) -> ToolGrammar:
    """The grammar of an answer in which ``tools`` may be, or have to be, called.

    ``auto`` is free text with calls in it (just one when not ``parallel``; the answer ends with it); ``required`` is
    calls and nothing else (one for a named choice); ``none`` is text without a call. ``reasoning`` says whether the
    answer begins with the format's reasoning, see ``ReasoningMode``. ``first`` makes the answer begin with a
    call of that tool. ``response``: where text is allowed it is one JSON value of this schema (``response_format``),
    and no text stands beside calls.

    ``tools`` and ``tool_choice`` may also be given as Chat Completions writes them. Raises ValueError when a name that
    is chosen is not among the tools or no tool is left, SchemaError when a schema is refused.
    """
    choice = tool_choice if isinstance(tool_choice, ToolChoice) else tool_choice_from_wire(tool_choice)
    form = get(fmt) if isinstance(fmt, str) else fmt
    known = spelled(tools, form.spelling)
    offered = offered_tools(known, choice)
    for tool in offered:
        if not form.holds_name(tool.name):
            raise ValueError(f"tools: the call format {form.name} cannot write the name {tool.name!r}; choose another")
    if first is not None and first not in {tool.name for tool in offered}:
        raise ValueError(f"first: no tool {first!r} is offered")
    mode = reasoning_mode(reasoning)
    if mode != "none" and form.reasoning is None:
        raise ValueError(f"reasoning: the format {form.name} has none")
    shape = Shape(
        form,
        calls="none" if not offered else choice.mode,
        parallel=parallel and not choice.once,
        first=first,
        response=response.grammar if response else None,
        reasoning=mode,
    )
    key = (shape, tuple((tool.name, tool.compiled.grammar) for tool in offered))
    return _cache.get_or_make(key, lambda: _build(shape, offered, response.residue if response else []))


def offered_tools(tools: Sequence[Tool], choice: ToolChoice) -> list[Tool]:
    """The tools that may be called under this choice, in their order. Raises ValueError when it names an unknown tool
    or demands a call and there is no tool."""
    if choice.mode == "none":
        return []
    missing = set(choice.names or ()) - {tool.name for tool in tools}
    if missing:
        raise ValueError(f"tool_choice: no tool {min(missing)!r} among the tools")
    offered = [tool for tool in tools if choice.names is None or tool.name in choice.names]
    if not offered and choice.mode == "required":
        raise ValueError("tool_choice: a call is required and there is no tool")
    return offered


def json_grammar(compiled: CompiledSchema | None = None) -> ToolGrammar:
    """The grammar of an answer that is one JSON value of the schema, or any one JSON object (``json_object``)."""
    schema = compiled if compiled is not None else any_object()
    return ToolGrammar(CFG(schema.grammar), response_residue=list(schema.residue))


def any_object() -> CompiledSchema:
    """``{"type": "object"}``, compiled."""
    return _objects.get_or_make("object", lambda: compile_schema(ANY_OBJECT))


_cache: Lru[tuple[Shape, tuple[tuple[str, str], ...]], ToolGrammar] = Lru(256)
_objects: Lru[str, CompiledSchema] = Lru(1)


def _build(shape: Shape, tools: Sequence[Tool], response_residue: Sequence[Residue]) -> ToolGrammar:
    if shape.form.channels is not None:
        rules = message_rules(shape, shape.form.channels, tools)
    else:
        start = f"start: {answer(shape)}"
        calls = call_rules(shape, tools) if tools else []
        rules = [start, *_used(answer_rules(shape), [start, *calls]), *calls]
    rules += [nested(f"arguments_{n}", tool.compiled.grammar) for n, tool in enumerate(tools)]
    residue = {tool.name: list(tool.compiled.residue) for tool in tools if tool.compiled.residue}
    text = "\n".join(rules) + "\n"
    if shape.begins_with_text:
        marks = shape.form.reasoning if shape.reasoning == "optional" else None
        text = declare_free_text(
            text,
            [opening.marker for opening in shape.markers],
            at_line_start=shape.form.marker_at == "line",
            unless=marks.open if marks else None,
        )
    return ToolGrammar(CFG(text), residue, list(response_residue))


def _used(rules: Mapping[str, str], users: Sequence[str]) -> list[str]:
    """Those of the rules that the others use, directly or through one another."""
    names = set(re.findall(r"\w+", " ".join(users)))
    kept = []
    for name, rule in reversed(list(rules.items())):
        if name in names:
            kept.append(rule)
            if name != "response":
                names |= set(re.findall(r"\w+", re.sub(r"/(\\.|[^/\\])*/", " ", rule)))
    return kept[::-1]
