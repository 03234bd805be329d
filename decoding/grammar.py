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
from decoding.engine.free_text import declare_free_text
from decoding.formats import Format, Literal, Name, get
from decoding.tools import Mode, Tool, ToolChoice, tool_choice_from_wire, tool_from_wire
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
    if first is not None and first not in {tool.name for tool in offered}:
        raise ValueError(f"first: no tool {first!r} is offered")
    if reasoning and form.reasoning is None:
        raise ValueError(f"reasoning: the format {form.name} has none")
    shape = _Shape(
        form,
        calls="none" if not offered else choice.mode,
        parallel=parallel and not choice.once,
        first=first,
        response=response.grammar if response else None,
        reasoning=reasoning,
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


@dataclass(frozen=True, slots=True)
class _Shape:
    """What an answer looks like, apart from its tools. ``response`` is the grammar of a JSON answer."""

    form: Format
    calls: Mode
    parallel: bool
    first: str | None
    response: str | None
    reasoning: bool

    @property
    def begins_with_text(self) -> bool:
        """Whether the answer begins with any text, up to the format's marker."""
        return self.calls in ("auto", "none") and not (self.first or self.response or self.reasoning)


_cache: Lru[tuple[_Shape, tuple[tuple[str, str], ...]], ToolGrammar] = Lru(256)
_objects: Lru[str, CompiledSchema] = Lru(1)


def _build(shape: _Shape, tools: Sequence[Tool], response_residue: Sequence[Residue]) -> ToolGrammar:
    answer = f"({_answer(shape)})"
    if shape.reasoning:
        answer = f"reasoning gap? {answer}"
    used = set(re.findall(r"\w+", answer))
    rules = [f"start: {answer}", *(rule for name, rule in _terminals(shape).items() if name in used)]
    rules += _call_rules(shape, tools)
    residue = {tool.name: list(tool.compiled.residue) for tool in tools if tool.compiled.residue}
    text = "\n".join(rules) + "\n"
    if shape.begins_with_text:
        text = declare_free_text(text, shape.form.marker, at_line_start=shape.form.marker_at_line_start)
    return ToolGrammar(CFG(text), residue, list(response_residue))


def _answer(shape: _Shape) -> str:
    """The right-hand side of the answer that comes after any reasoning."""
    if shape.calls == "none":
        return "response" if shape.response else "unmarked?"
    opening = "marker first" if shape.first else "marker call"
    one_or_more = f"{opening} ({_lark(shape.form.separator)} marker call)*" if shape.parallel else opening
    if shape.calls == "required" or (shape.first and (shape.response or not shape.parallel)):
        return one_or_more
    if shape.response:
        return f"response | {one_or_more}"
    if not shape.parallel:
        return "marked call | text?"
    return f"{opening} (marked call)* text?" if shape.first else "(marked call)* text?"


def _terminals(shape: _Shape) -> dict[str, str]:
    form = shape.form
    marker = _regex(form.marker)
    before = r"((?s:.*)\n)?" if form.marker_at_line_start else "(?s:.*)"
    rules = {
        "marker": f"marker: {_lark(form.marker)}",
        # Lazy and lower case: an upper-case terminal that excludes the marker would never see a call after text.
        "marked": f"marked[lazy]: /{before}{marker}/",
        "text": "text: /(?s:.+)/",
        "unmarked": f"unmarked: UNMARKED\nUNMARKED: /(?s:.+)/ & ~/{before}{marker}(?s:.*)/",
    }
    if form.reasoning is not None:
        rules["reasoning"] = f"reasoning[lazy]: /(?s:.*){_regex(form.reasoning.close)}/"
        rules["gap"] = r"gap: /\n{1,2}/"
    if shape.response is not None:
        rules["response"] = _nested("response", shape.response)
    return rules


def _call_rules(shape: _Shape, tools: Sequence[Tool]) -> list[str]:
    """``call`` (and ``first``) after the marker, a rule per tool, a nested grammar per tool."""
    if not tools:
        return []
    rules = [f"call: {' | '.join(f'call_{n}' for n in range(len(tools)))}"]
    for n, tool in enumerate(tools):
        rules.append(f"call_{n}: {_call_body(shape.form, tool.name, n)}")
        if tool.name == shape.first:
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
