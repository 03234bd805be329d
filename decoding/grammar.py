"""One grammar for the whole answer: tools, tool choice and call format → an ``outlines.types.CFG``.

The grammar is in llguidance's Lark dialect. Free text that may hold a call is a lazy lexeme that ends with the format's
marker; from there on the call is constrained, each tool's name tied to its own arguments. Each tool's compiled grammar
stands in a nested ``%lark`` block of its own, so that rule names never meet.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from outlines.types import CFG

from decoding.cache import Lru
from decoding.formats import Format, Literal, Name, get
from decoding.tools import Tool, ToolChoice, tool_choice_from_wire, tool_from_wire
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
    reasoning: bool = False,
    *,
    first: str | None = None,
    response: CompiledSchema | None = None,
) -> ToolGrammar:
    """The grammar of an answer in which ``tools`` may be, or have to be, called.

    ``auto`` is free text with calls in it (just one when not ``parallel``; the answer ends with it); ``required`` is
    calls and nothing else (one for a named choice); ``none`` is text without a call. ``reasoning``: the answer begins
    with the format's reasoning, or inside it where the prompt has opened it. ``first`` makes the answer begin with a
    call of that tool. ``response``: where text is allowed it is one JSON value of this schema (``response_format``),
    and no text stands beside calls.

    ``tools`` and ``tool_choice`` may also be given as Chat Completions writes them. Raises ValueError when a name that
    is chosen is not among the tools or no tool is left, SchemaError when a schema is refused.
    """
    known = [tool if isinstance(tool, Tool) else tool_from_wire(tool) for tool in tools]
    choice = tool_choice if isinstance(tool_choice, ToolChoice) else tool_choice_from_wire(tool_choice)
    form = get(fmt) if isinstance(fmt, str) else fmt
    offered = offered_tools(known, choice)
    parallel = parallel and not choice.once
    if first is not None and first not in {tool.name for tool in offered}:
        raise ValueError(f"first: no tool {first!r} is offered")
    key = (
        form.name,
        tuple((tool.name, tool.compiled.grammar) for tool in offered),
        (choice.mode, parallel, reasoning, first, response.grammar if response else None),
    )
    return _cache.get_or_make(
        key,
        lambda: _build(
            offered, choice, parallel=parallel, form=form, reasoning=reasoning, first=first, response=response
        ),
    )


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


_cache: Lru[tuple[Any, ...], ToolGrammar] = Lru(256)
_objects: Lru[str, CompiledSchema] = Lru(1)


def _build(
    tools: Sequence[Tool],
    choice: ToolChoice,
    *,
    parallel: bool,
    form: Format,
    reasoning: bool,
    first: str | None,
    response: CompiledSchema | None,
) -> ToolGrammar:
    answer, terminals = _answer(
        form, choice, bool(tools), parallel=parallel, first=first, response=response is not None
    )
    if reasoning and form.reasoning is None:
        raise ValueError(f"reasoning: the format {form.name} has none")
    rules = [f"start: {'reasoning gap? ' if reasoning else ''}({answer})"]
    if reasoning:
        terminals |= {"reasoning", "gap"}
    rules += [text for name, text in _terminals(form).items() if name in terminals]
    if tools:
        rules += _call_rules(form, tools, first)
    if response is not None and "response" in terminals:
        rules.append(_nested("response", response.grammar))
    residue = {tool.name: list(tool.compiled.residue) for tool in tools if tool.compiled.residue}
    return ToolGrammar(CFG("\n".join(rules) + "\n"), residue, list(response.residue) if response else [])


def _answer(
    form: Format, choice: ToolChoice, any_tools: bool, *, parallel: bool, first: str | None, response: bool
) -> tuple[str, set[str]]:
    """The right-hand side of the answer after any reasoning, and the terminals it stands on."""
    if not any_tools:
        return ("response", {"response"}) if response else ("unmarked?", {"unmarked"})
    calls = f"({_lark(form.separator)} marker call)*" if form.separator else "(marker call)*"
    opening = "marker first" if first else "marker call"
    if choice.mode == "required" or (response and first):
        return (f"{opening} {calls}" if parallel else opening), {"marker"}
    if response:
        return (f"response | {opening} {calls}" if parallel else f"response | {opening}"), {"marker", "response"}
    if not parallel:
        return (opening, {"marker"}) if first else ("marked call | text?", {"marked", "text"})
    return (
        (f"{opening} (marked call)* text?", {"marker", "marked", "text"})
        if first
        else ("(marked call)* text?", {"marked", "text"})
    )


def _terminals(form: Format) -> dict[str, str]:
    marker = _regex(form.marker)
    before = r"((?s:.*)\n)?" if form.marker_at_line_start else "(?s:.*)"
    texts = {
        "marker": f"marker: {_lark(form.marker)}",
        # Lazy and lower case: an upper-case terminal that excludes the marker would never see a call after text.
        "marked": f"marked[lazy]: /{before}{marker}/",
        "text": "text: /(?s:.+)/",
        "unmarked": f"unmarked: UNMARKED\nUNMARKED: /(?s:.+)/ & ~/{before}{marker}(?s:.*)/",
    }
    if form.reasoning is not None:
        texts["gap"] = r"gap: /\n{1,2}/"
        texts["reasoning"] = f"reasoning[lazy]: /(?s:.*){_regex(form.reasoning.close)}/"
    return texts


def _call_rules(form: Format, tools: Sequence[Tool], first: str | None) -> list[str]:
    """``call`` (and ``first``) after the marker, a rule per tool, a nested grammar per tool."""
    rules = [f"call: {' | '.join(f'call_{n}' for n in range(len(tools)))}"]
    for n, tool in enumerate(tools):
        rules.append(f"call_{n}: {_call_body(form, tool.name, n)}")
        if tool.name == first:
            rules.append(f"first: call_{n}")
    rules += [_nested(f"arguments_{n}", tool.compiled.grammar) for n, tool in enumerate(tools)]
    return rules


def _call_body(form: Format, name: str, n: int) -> str:
    """One tool's call after the marker: literals and the name are merged into as few strings as possible."""
    pieces: list[str] = []
    fixed = ""
    for part in form.call:
        if isinstance(part, Literal):
            fixed += part.text
        elif isinstance(part, Name):
            fixed += name
        else:
            pieces += [_lark(fixed.removeprefix(form.marker) if not pieces else fixed), f"arguments_{n}"]
            fixed = ""
    return " ".join([*pieces, _lark(fixed)] if fixed else pieces)


def _nested(name: str, grammar: str) -> str:
    # The closing brace has to stand on a line of its own.
    return f"{name}: %lark {{\n{grammar.rstrip()}\n}}"


def _lark(text: str) -> str:
    """A Lark string of exactly this text."""
    return json.dumps(text, ensure_ascii=False)


def _regex(text: str) -> str:
    """A regular expression of exactly this text, for use between slashes."""
    return re.sub(r"([\\.^$*+?()\[\]{}|/])", r"\\\1", text).replace("\n", r"\n")
