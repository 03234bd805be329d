"""Arguments as Python's keyword arguments (`schemas.spelling.Keywords`)."""

from __future__ import annotations

import json
import re
from enum import Enum, auto

from decoding.markers import SPACE
from decoding.spellings.members import NoArgumentsError, escaped, members
from decoding.spellings.stepping import SteppingReader
from schemas.writable import KEYWORD, NUMBER

_NAME = re.compile(KEYWORD)
_NUMBER = re.compile(NUMBER)
_TO_JSON = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
_TO_PYTHON = {"true": "True", "false": "False", "null": "None"}
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|true|false|null')
_WORD = re.compile(r"[^\s\"'(){}\[\],:=]+")
_IN_STRING = re.compile(r"[\"'\\\x00-\x1f]")
_SAME = frozenset('"\\/bfnrt')
"""Escapes that mean the same in JSON."""
_OTHER = {"'": "'", "a": "\\u0007", "v": "\\u000b", "0": "\\u0000", "\n": ""}
_HEX = {"x": 2, "u": 4, "U": 8}


def write_keywords(arguments: str) -> str:
    """The keyword arguments of ``arguments``, JSON text; text that is no JSON object as it stands."""
    found = members(arguments)
    if found is None:
        return arguments
    return ", ".join(f"{member.key}={_TOKENS.sub(_as_python, member.text)}" for member in found)


def _as_python(token: re.Match[str]) -> str:
    return _TO_PYTHON.get(token.group(), token.group())


class _State(Enum):
    BETWEEN = auto()
    NAME = auto()
    AFTER_NAME = auto()
    LITERAL = auto()
    STRING = auto()
    ESCAPE = auto()


class KeywordReader(SteppingReader):
    """Reads arguments up to ``end``, which is left to the caller. Strings may stand in either kind of quotes."""

    def __init__(self, end: str) -> None:
        super().__init__()
        self._end = end.lstrip()[0]
        self._state = _State.BETWEEN
        self._count = 0
        self._depth = 0
        self._held: list[str] = []
        """The name so far."""
        self._filled = False
        """The literal has begun."""
        self._quote = '"'

    def _step(self, text: str, at: int) -> int | None:
        match self._state:
            case _State.BETWEEN:
                return self._between(text, at)
            case _State.NAME:
                return self._name(text, at)
            case _State.AFTER_NAME:
                return self._after_name(text, at)
            case _State.LITERAL:
                return self._literal(text, at)
            case _State.STRING:
                return self._string(text, at)
            case _State.ESCAPE:
                return self._escape(text, at)

    def _between(self, text: str, at: int) -> int:
        if text[at] in SPACE:
            return at + 1
        if text[at] == self._end:
            self._out.append("}" if self._count else "{}")
            self.complete = True
            return at
        self._state, self._held = _State.NAME, []
        return at

    def _name(self, text: str, at: int) -> int:
        found = _NAME.match(text, at)
        if found is not None:
            self._held.append(found.group())
            return found.end()
        if not self._held:
            raise NoArgumentsError
        self._state = _State.AFTER_NAME
        return at

    def _after_name(self, text: str, at: int) -> int:
        if text[at] in SPACE:
            return at + 1
        if text[at] != "=":
            raise NoArgumentsError
        name = "".join(self._held)
        self._out.append(f"{', ' if self._count else '{'}{json.dumps(name, ensure_ascii=False)}: ")
        self._count += 1
        self._state, self._filled = _State.LITERAL, False
        return at + 1

    def _literal(self, text: str, at: int) -> int | None:
        char = text[at]
        if char in SPACE:
            if self._depth:
                self._out.append(char)
            return at + 1
        if not self._depth and char in (",", self._end):
            if not self._filled:
                raise NoArgumentsError
            self._state = _State.BETWEEN
            return at + 1 if char == "," else at
        if not self._depth and self._filled:
            raise NoArgumentsError
        if char in "\"'":
            self._quote, self._state, self._filled = char, _State.STRING, True
            self._out.append('"')
            return at + 1
        if char in "{}[],:":
            self._depth += (char in "{[") - (char in "}]")
            self._filled = True
            self._out.append(char)
            return at + 1
        return self._word(text, at)

    def _word(self, text: str, at: int) -> int | None:
        found = _WORD.match(text, at)
        if found is None:
            raise NoArgumentsError
        if found.end() == len(text):
            return None
        word = found.group()
        as_json = _TO_JSON.get(word)
        if as_json is None:
            as_json = word if _NUMBER.fullmatch(word) else json.dumps(word, ensure_ascii=False)
        self._out.append(as_json)
        self._filled = True
        return found.end()

    def _string(self, text: str, at: int) -> int:
        found = _IN_STRING.search(text, at)
        if found is None:
            self._out.append(text[at:])
            return len(text)
        self._out.append(text[at : found.start()])
        char = found.group()
        if char == self._quote:
            self._out.append('"')
            self._state = _State.LITERAL
        elif char == "\\":
            self._state = _State.ESCAPE
        else:
            self._out.append(escaped(char))
        return found.end()

    def _escape(self, text: str, at: int) -> int | None:
        char = text[at]
        size = _HEX.get(char, 0)
        digits = text[at + 1 : at + 1 + size]
        if len(digits) < size and re.fullmatch("[0-9a-fA-F]*", digits):
            return None
        self._state = _State.STRING
        if size and re.fullmatch("[0-9a-fA-F]+", digits) and int(digits, 16) <= 0x10FFFF:
            # JSON's own form stays to the letter, half a surrogate pair included: the other half follows.
            self._out.append(f"\\u{digits}" if size == 4 else escaped(chr(int(digits, 16))))
            return at + 1 + size
        self._out.append(f"\\{char}" if char in _SAME else _OTHER.get(char, f"\\\\{escaped(char)}"))
        return at + 1
