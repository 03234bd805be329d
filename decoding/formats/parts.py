"""The parts of a call, read and written in order::

    (Literal('<tool_call>\\n{"name": "'), Name(), Literal('", "arguments": '), Arguments(), Literal("}\\n</tool_call>"))

A format that needs something new adds a kind of part; grammar, reader and rendering each have one place per kind.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TypeAlias

from schemas.spelling import JSON, Json, Quoted, Spelling, Tags


@dataclass(frozen=True, slots=True)
class Literal:
    """Fixed text. The grammar and the rendering write it as it stands; the reader does not mind its white space."""

    text: str


@dataclass(frozen=True, slots=True)
class Gap:
    """White space that models write or leave out: rendered as ``text``, which is what the model was trained on."""

    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """The slot of the tool's name, written as it is (names are letters, digits and ``_ - . : /``)."""


@dataclass(frozen=True, slots=True)
class Index:
    """The number of the call: how many calls the conversation had before it, or which call of its answer it is, counted
    from one."""

    in_answer: bool = False


@dataclass(frozen=True, slots=True)
class Arguments:
    """The slot of the arguments, an object in this spelling."""

    spelling: Spelling = JSON


@dataclass(frozen=True, slots=True)
class Either:
    """One of several fixed texts, as the models write them by turns: rendered as the first. May hold the empty text."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallId:
    """An id of letters and digits behind ``open``, which models write or leave out. It is not rendered: a format that
    needs it in earlier calls has templates that write it."""

    open: str


Part: TypeAlias = Literal | Gap | Name | Index | Arguments | Either | CallId


def written(part: Part, name: str, arguments: str, index: int, place: int) -> str:
    """The part as the model writes it, in the call number ``index`` of the conversation and ``place`` of its answer;
    ``arguments`` are in the format's spelling."""
    match part:
        case Literal(text) | Gap(text):
            return text
        case Name():
            return name
        case Index(in_answer):
            return str(place + 1 if in_answer else index)
        case Arguments():
            return arguments
        case Either(texts):
            return texts[0]
        case CallId():
            return ""


def text_behind_name(call: tuple[Part, ...]) -> str:
    """The fixed text that ends the name, which may be that of the first argument; ``""`` when there is none."""
    place = next(place for place, part in enumerate(call) if isinstance(part, Name))
    for part in call[place + 1 :]:
        match part:
            case Literal(text) if text.strip():
                return text.lstrip()
            case Arguments(Tags() as tags):
                return tags.key_open.lstrip()
            case Arguments(Json() | Quoted()):
                return "{"
            case Literal() | Gap() | CallId():
                continue
        break
    return ""


def chars_behind_name(call: tuple[Part, ...]) -> str:
    """The characters that may stand behind the name: those that texts behind it begin with."""
    place = next(place for place, part in enumerate(call) if isinstance(part, Name))
    ids = itertools.takewhile(lambda part: isinstance(part, CallId), call[place + 1 :])
    return "".join(part.open[0] for part in ids if isinstance(part, CallId)) + text_behind_name(call)[0]


def text_behind_arguments(call: tuple[Part, ...]) -> str:
    """The fixed text behind the arguments, by which a reader may find their end."""
    place = next(place for place, part in enumerate(call) if isinstance(part, Arguments))
    return "".join(part.text for part in call[place + 1 :] if isinstance(part, Literal))
