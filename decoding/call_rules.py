"""The rules of calls: what stands behind a marker."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from decoding.answer_rules import Shape
from decoding.formats import Arguments, CallId, Either, Format, Gap, Index, Literal, Name, Opening, Part
from decoding.lark import spelled
from decoding.tools import Tool
from schemas.sample import matcher


def call_rules(shape: Shape, tools: Sequence[Tool]) -> list[str]:
    """``calls_M`` for each marker (``first``: calls of which the first is the chosen tool's), from a rule per opening
    and tool. Rules ``arguments_N`` are the tools' own grammars."""
    form = shape.form
    rules: list[str] = []
    for m, leader in enumerate(shape.markers):
        openings = [k for k, opening in enumerate(form.openings) if opening.marker == leader.marker]
        rules.append(f"calls_{m}: {' | '.join(f'calls_{m}_{k}' for k in openings)}")
        for k in openings:
            opening = form.openings[k]
            drop = "" if opening.section else opening.marker
            rules.append(f"calls_{m}_{k}: {_series(shape, opening, m, f'call_{k}')}")
            rules.append(f"call_{k}: {' | '.join(f'call_{k}_{n}' for n in range(len(tools)))}")
            as_json = _beside_json(shape, opening, tools)
            for n, tool in enumerate(tools):
                parts = _json_parts if as_json else _spelled_parts
                rules.append(f"call_{k}_{n}: {parts(form, opening.call, tool.name, n, drop)}")
    chosen = next((n for n, tool in enumerate(tools) if tool.name == shape.first), None)
    if chosen is not None:
        mains = [k for k, opening in enumerate(form.openings) if opening.marker == form.marker]
        firsts = [_series(shape, form.openings[k], 0, f"call_{k}", f"call_{k}_{chosen}") for k in mains]
        rules.append(f"first: {' | '.join(firsts)}")
    return [*rules, r"index: /[0-9]{1,4}/", r"id: /[0-9A-Za-z]{1,32}/"]


def _series(shape: Shape, opening: Opening, m: int, call: str, first: str | None = None) -> str:
    """Calls behind one marker: just one, or all of a section."""
    section = opening.section
    if section is None:
        return first or call
    form = shape.form
    opened = _spelled_parts(form, section.open, "", 0, opening.marker)
    between = spelled(form.special, section.separator) if section.separator.strip() else "space?"
    more = f"({between} {call})*" if shape.parallel else ""
    return f"{opened} {first or call} {more} {spelled(form.special, section.close)}"


def _beside_json(shape: Shape, opening: Opening, tools: Sequence[Tool]) -> bool:
    """Whether a JSON answer can be told from these calls, which are JSON text themselves. Both are then made of the
    same lexemes: the lexer takes the longest, and a call's header in one piece would leave no other text a beginning.

    Where the answer's schema allows what the reader takes for a call (``Format.answers_apart`` was not asked, or left
    nothing), calls alone are left, or nothing would hold the arguments of a call while it is written."""
    if shape.response is None or opening.marker_at != "answer" or not opening.marker.startswith("{"):
        return False
    start = matcher(shape.response)
    heads = (text for tool in tools for text in _header(opening.call, tool.name))
    return not any(start.validate_tokens([*head]) == len(head) for head in heads)


def _header(call: Sequence[Part], name: str) -> list[bytes]:
    """What may stand before the arguments of a call that is JSON text, without white space."""
    texts = [""]
    for part in itertools.takewhile(lambda part: not isinstance(part, Arguments), call):
        texts = [begun + text for begun in texts for text in _texts(part, name)]
    return [re.sub(r"(?<=[,:]) ", "", text).encode() for text in texts]


_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[:,] ?|.', re.DOTALL)


def _json_parts(form: Format, parts: Sequence[Part], name: str, n: int, _drop: str) -> str:
    """Parts that are JSON text as a Lark expression, a string for each of its tokens."""
    texts = [""]
    pieces: list[str] = []
    for part in parts:
        if isinstance(part, Arguments):
            pieces += [_any_of(form, texts), f"arguments_{n}"]
            texts = [""]
        else:
            texts = [begun + text for begun in texts for text in _texts(part, name)]
    return " ".join([*pieces, _any_of(form, texts)])


def _texts(part: Part, name: str) -> tuple[str, ...]:
    """The texts of a part of a call that is JSON text."""
    match part:
        case Literal(text) | Gap(text):
            return (text,)
        case Name():
            return (name,)
        case Either(several):
            return several
    raise AssertionError(f"a call that is JSON text has no part {part}")


def _any_of(form: Format, texts: Sequence[str]) -> str:
    return f"({' | '.join(' '.join(spelled(form.special, t) for t in _JSON_TOKEN.findall(text)) for text in texts)})"


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
        pieces.append(spelled(form.special, fixed))
        fixed = ""
        match part:
            case Gap():
                pieces.append("space?")
            case Index():
                pieces.append("index")
            case Either(texts):
                several = " | ".join(spelled(form.special, text) for text in texts if text)
                pieces.append(f"({several}){'?' if '' in texts else ''}")
            case CallId(opens):
                pieces.append(f"({spelled(form.special, opens)} id)?")
            case Arguments():
                pieces.append(f"arguments_{n}")
    return " ".join(filter(None, pieces))
