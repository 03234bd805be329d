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
from decoding.formats import Arguments, Format, Gap, Index, Literal, Name, Part, get
from decoding.spelled_tools import spelled
from decoding.tools import Mode, Tool, ToolChoice, tool_choice_from_wire
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
    choice = tool_choice if isinstance(tool_choice, ToolChoice) else tool_choice_from_wire(tool_choice)
    form = get(fmt) if isinstance(fmt, str) else fmt
    known = spelled(tools, form.spelling)
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
        """Whether the answer begins with any text, up to a marker that is spelled out in letters."""
        form = self.form
        if self.calls == "required" or self.first or self.response or self.reasoning:
            return False
        spelled = bool(form.marker) and not any(token in form.marker for token, _ in form.special)
        return spelled and form.marker_at != "answer"


_cache: Lru[tuple[_Shape, tuple[tuple[str, str], ...]], ToolGrammar] = Lru(256)
_objects: Lru[str, CompiledSchema] = Lru(1)


def _build(shape: _Shape, tools: Sequence[Tool], response_residue: Sequence[Residue]) -> ToolGrammar:
    answer = f"({_answer(shape)})"
    if shape.reasoning:
        answer = f"reasoning gap? {answer}"
    terminals = _terminals(shape)
    used = set(re.findall(r"\w+", answer))
    if "marked" in used:
        used |= set(re.findall(r"\w+", terminals["marked"].partition("/")[0]))
    rules = [f"start: {answer}", *(rule for name, rule in terminals.items() if name in used)]
    rules += _call_rules(shape, tools)
    residue = {tool.name: list(tool.compiled.residue) for tool in tools if tool.compiled.residue}
    text = "\n".join(rules) + "\n"
    if shape.begins_with_text:
        text = declare_free_text(text, shape.form.marker, at_line_start=shape.form.marker_at == "line")
    return ToolGrammar(CFG(text), residue, list(response_residue))


def _answer(shape: _Shape) -> str:
    """The right-hand side of the answer that comes after any reasoning."""
    if shape.calls == "none":
        return "response" if shape.response else "unmarked?"
    form = shape.form
    opening = "marker first" if shape.first else "marker calls"
    if shape.parallel and form.section is None:
        between = f"{_lark(form.separator)} " if form.separator else ""
        opening = f"{opening} ({between}marker calls)*"
    if shape.calls == "required" or (shape.first and (shape.response or not shape.parallel)):
        return opening
    if shape.response:
        return f"response | {opening}"
    if form.marker_at == "answer":
        return opening if shape.first else f"{opening} | unmarked?"
    if not shape.parallel:
        return "marked calls | text?"
    return "marker first (marked calls)* text?" if shape.first else "(marked calls)* text?"


def _terminals(shape: _Shape) -> dict[str, str]:
    form = shape.form
    marker = _regex(form.marker)
    before = {"anywhere": "(?s:.*)", "line": r"((?s:.*)\n)?", "answer": ""}[form.marker_at]
    rules = {
        # Calls in a list without an opening bring the marker with them.
        "marker": f"marker: {_spelled(form, form.marker) if form.section is None or form.section.open else _lark('')}",
        # Lazy and lower case: an upper-case terminal that excludes the marker would never see a call after text.
        "marked": f"marked[lazy]: /{before}{marker}/",
        "text": "text: /(?s:.+)/",
        "unmarked": f"unmarked: UNMARKED\nUNMARKED: /(?s:.+)/ & ~/{before}{marker}(?s:.*)/",
    }
    if any(token in form.marker for token, _ in form.special):
        # A special token ends free text by itself; text that only spells the marker is not to be mistaken for it.
        rules["marked"] = f"marked: text? {_spelled(form, form.marker)}"
        rules["text"] = f"text: TEXT\nTEXT: /(?s:.+)/ & ~/(?s:.*){marker}(?s:.*)/"
    if form.reasoning is not None:
        rules["reasoning"] = _reasoning(form, form.reasoning.close)
        rules["gap"] = r"gap: /\n{1,2}/"
    if shape.response is not None:
        rules["response"] = _nested("response", shape.response)
    return rules


def _reasoning(form: Format, close: str) -> str:
    if any(token in close for token, _ in form.special):
        opened = f"({_spelled(form, form.reasoning.open)})? " if form.reasoning else ""
        return f"reasoning: {opened}thought? {_spelled(form, close)}\nthought: /(?s:.+)/"
    return f"reasoning[lazy]: /(?s:.*){_regex(close)}/"


def _call_rules(shape: _Shape, tools: Sequence[Tool]) -> list[str]:
    """What stands behind the marker: ``calls`` (``first``: calls of which the first is this tool's), a rule per tool
    and a nested grammar per tool."""
    if not tools:
        return []
    form, section = shape.form, shape.form.section
    numbers = range(len(tools))
    rules = [f"{{}}: {' | '.join(f'call_{n}' for n in numbers)}"]
    fixed = "" if section else form.marker
    rules += [f"call_{n}: {_spelled_parts(form, form.call, tool.name, n, fixed)}" for n, tool in enumerate(tools)]
    chosen = next((f"call_{n}" for n, tool in enumerate(tools) if tool.name == shape.first), None)
    if section is None:
        rules[0] = rules[0].format("calls")
        rules += [f"first: {chosen}"] if chosen else []
    else:
        rules[0] = rules[0].format("call")
        opened = _spelled_parts(form, section.open, "", 0, form.marker)
        between = _spelled(form, section.separator) if section.separator.strip() else "space?"
        more = f"({between} call)*" if shape.parallel else ""
        ending = f"{more} {_spelled(form, section.close)}"
        rules.append(f"calls: {opened} call {ending}")
        rules += [f"first: {opened} {chosen} {ending}"] if chosen else []
    if section is not None:
        rules.append("space: /[ \\n]{1,2}/")
    if any(isinstance(part, Index) for part in form.call):
        rules.append("index: /[0-9]{1,4}/")
    return [*rules, *(_nested(f"arguments_{n}", tool.compiled.grammar) for n, tool in enumerate(tools))]


def _spelled_parts(form: Format, parts: Sequence[Part], name: str, n: int, drop: str) -> str:
    """Parts as a Lark expression, without ``drop`` at their beginning: literals and the name run together."""
    pieces: list[str] = []
    fixed = ""
    for part in (*parts, None):
        match part:
            case Literal(text):
                fixed += text
                continue
            case Name():
                fixed += name
                continue
        if fixed.startswith(drop):
            fixed, drop = fixed[len(drop) :], ""
        pieces.append(_spelled(form, fixed))
        fixed = ""
        match part:
            case Gap():
                pieces.append("space?")
            case Index():
                pieces.append("index")
            case Arguments():
                pieces.append(f"arguments_{n}")
    return " ".join(filter(None, pieces))


def _spelled(form: Format, text: str) -> str:
    """Fixed text as a Lark expression: its special tokens by their ids, the rest as strings."""
    ids = dict(form.special)
    pieces = re.split(f"({'|'.join(map(re.escape, ids))})", text) if ids else [text]
    return " ".join(f"<[{ids[piece]}]>" if piece in ids else _lark(piece) for piece in pieces if piece)


def _nested(name: str, grammar: str) -> str:
    # The closing brace has to stand on a line of its own.
    return f"{name}: %lark {{\n{grammar.rstrip()}\n}}"


def _lark(text: str) -> str:
    """A Lark string of exactly this text."""
    return json.dumps(text, ensure_ascii=False)


def _regex(text: str) -> str:
    """A regular expression of exactly this text, for use between slashes."""
    return re.sub(r"([\\.^$*+?()\[\]{}|/])", r"\\\1", text).replace("\n", r"\n")
