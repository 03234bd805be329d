"""Arguments with bare names and raw strings between quotes of the format's own (`schemas.spelling.Quoted`)."""

from __future__ import annotations

import json
import re
from enum import Enum, auto
from typing import Any

from decoding.markers import SPACE, partial_marker
from decoding.spellings.members import NoArgumentsError, escaped, members
from decoding.spellings.stepping import SteppingReader
from schemas.spelling import Quoted
from schemas.writable import NUMBER

_NUMBER = re.compile(NUMBER)
_WORDS = frozenset(["true", "false", "null"])
_BARE = re.compile(r"[^,{}\[\]]*")


class _Literal(str):
    """A number's text."""


def write_quoted(spelling: Quoted, arguments: str) -> str:
    """``arguments``, JSON text, in this spelling; text that is no JSON object as it stands."""
    found = members(arguments)
    if found is None:
        return arguments
    decoder = json.JSONDecoder(parse_float=_Literal, parse_int=_Literal)
    inner = ",".join(f"{member.key}:{_value(spelling, decoder.decode(member.text))}" for member in found)
    return f"{{{inner}}}"


def _value(spelling: Quoted, value: Any) -> str:
    match value:
        case _Literal():
            return str(value)
        case str():
            return f"{spelling.quote}{value}{spelling.quote}"
        case dict():
            return f"{{{','.join(f'{key}:{_value(spelling, inner)}' for key, inner in value.items())}}}"
        case list():
            return f"[{','.join(_value(spelling, inner) for inner in value)}]"
    return json.dumps(value)


class _State(Enum):
    START = auto()
    NAME = auto()
    """In an object, before a name or the end."""
    IN_NAME = auto()
    VALUE = auto()
    STRING = auto()
    AFTER = auto()
    """Behind a value."""


class QuotedReader(SteppingReader):
    """Reads one object, to its closing brace."""

    def __init__(self, spelling: Quoted) -> None:
        super().__init__()
        self._quote = spelling.quote
        self._state = _State.START
        self._open: list[str] = []
        self._fresh = True
        """Nothing was read of the innermost array or object yet."""
        self._held: list[str] = []
        """The name so far."""

    def _step(self, text: str, at: int) -> int | None:
        if self._state is _State.STRING:
            return self._string(text, at)
        if self._state is _State.IN_NAME:
            return self._name(text, at)
        if text[at] in SPACE:
            return at + 1
        match self._state:
            case _State.START:
                if text[at] != "{":
                    raise NoArgumentsError
                return self._begin(text, at)
            case _State.NAME:
                return self._begin_name(text, at)
            case _State.VALUE:
                return self._begin_value(text, at)
            case _:
                return self._after(text, at)

    def _begin(self, text: str, at: int) -> int:
        self._open.append(text[at])
        self._out.append(text[at])
        self._state = _State.NAME if text[at] == "{" else _State.VALUE
        self._fresh = True
        return at + 1

    def _end(self, at: int) -> int:
        self._out.append("}" if self._open.pop() == "{" else "]")
        self.complete = not self._open
        self._state = _State.AFTER
        return at + 1

    def _begin_name(self, text: str, at: int) -> int:
        if text[at] == "}" and self._fresh:
            return self._end(at)
        self._state, self._held = _State.IN_NAME, []
        return at

    def _name(self, text: str, at: int) -> int:
        stop = text.find(":", at)
        self._held.append(text[at : stop if stop >= 0 else len(text)])
        if stop < 0:
            return len(text)
        name = "".join(self._held).strip(SPACE).removeprefix(self._quote).removesuffix(self._quote)
        self._out.append(f"{json.dumps(name, ensure_ascii=False)}: ")
        self._state = _State.VALUE
        return stop + 1

    def _begin_value(self, text: str, at: int) -> int | None:
        char = text[at]
        if char == "]" and self._open[-1] == "[" and self._fresh:
            return self._end(at)
        if text.startswith(self._quote, at):
            self._out.append('"')
            self._state = _State.STRING
            return at + len(self._quote)
        if self._quote.startswith(text[at:]):
            return None
        if char in "{[":
            return self._begin(text, at)
        found = _BARE.match(text, at)
        assert found is not None
        if found.end() == len(text):
            return None
        bare = found.group().strip(SPACE)
        if not bare:
            raise NoArgumentsError
        self._out.append(bare if bare in _WORDS or _NUMBER.fullmatch(bare) else json.dumps(bare, ensure_ascii=False))
        self._state = _State.AFTER
        return found.end()

    def _string(self, text: str, at: int) -> int | None:
        found = text.find(self._quote, at)
        end = found if found >= 0 else partial_marker(text, at, self._quote)
        self._out.append(escaped(text[at:end]))
        if found < 0:
            return end if end > at else None
        self._out.append('"')
        self._state = _State.AFTER
        return found + len(self._quote)

    def _after(self, text: str, at: int) -> int:
        inner = self._open[-1]
        if text[at] == ",":
            self._out.append(", ")
            self._state, self._fresh = (_State.NAME if inner == "{" else _State.VALUE), False
            return at + 1
        if text[at] != ("}" if inner == "{" else "]"):
            raise NoArgumentsError
        return self._end(at)
