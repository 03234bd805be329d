"""Arguments as one tag for each member (`schemas.spelling.Tags`)."""

from __future__ import annotations

import json
import re
from enum import Enum, auto
from typing import Any

from decoding.json_scan import ObjectScanner
from decoding.markers import SPACE, partial_marker
from decoding.spellings.members import Member, NoArgumentsError, escaped, members
from decoding.spellings.stepping import SteppingReader
from schemas.spelling import EVERY_KIND, STRING, Kind, Members, Tags, is_mixed, tokens
from schemas.writable import JSON_STRING, NUMBER, WORDS, tag_strings

_NUMBER = re.compile(NUMBER)
_STRING = re.compile(JSON_STRING)
_NUMERIC = re.compile(r"[-+.0-9eE]*")
_AS_JSON = {"True": "true", "False": "false", "None": "null"}
_AS_PYTHON = {json_: python for python, json_ in _AS_JSON.items()}


def write_tags(tags: Tags, arguments: str, types: Members | None) -> str:
    """The tags of ``arguments``, JSON text; text that is no JSON object as it stands."""
    found = members(arguments)
    if found is None:
        return arguments
    kinds = [STRING if types is None else types.kinds(member.key) for member in found]
    return "".join(_tag(tags, *each) for each in zip(found, kinds, strict=True)) or tags.empty


def _tag(tags: Tags, member: Member, kinds: frozenset[Kind]) -> str:
    to = tags.to(_kind_of(member.value))
    return f"{tags.key_open}{tags.written_name(member.key)}{to}{_value(tags, member, kinds)}{tags.close}{tags.after}"


def _kind_of(value: Any) -> Kind:
    match value:
        case str():
            return "string"
        case bool():
            return "boolean"
        case None:
            return "null"
        case int() | float():
            return "number"
        case list():
            return "array"
    return "object"


def _value(tags: Tags, member: Member, kinds: frozenset[Kind]) -> str:
    if not isinstance(member.value, str):
        return _AS_PYTHON.get(member.text, member.text) if tags.python_words else member.text
    if tags.tells_strings or not is_mixed(kinds) or tag_strings(tags, kinds).contains(member.value):
        return member.value
    quoted = json.dumps(member.value, ensure_ascii=False)
    return quoted.replace("</", "<\\/") if tags.close in quoted else quoted


class _State(Enum):
    BETWEEN = auto()
    NAME = auto()
    TO_VALUE = auto()
    VALUE = auto()
    STRING = auto()
    """In a raw string, up to the closing text."""
    NESTED = auto()
    """In an array or object, whose end is found by its brackets."""
    HELD = auto()
    """In what may be a number, a word or a string, to be seen at the closing text or before."""
    CLOSE = auto()


class TagReader(SteppingReader):
    """Reads tags up to ``end``, which is left to the caller."""

    def __init__(self, tags: Tags, types: Members, end: str) -> None:
        super().__init__()
        self._tags = tags
        self._types = types
        self._end = end.split()[0]
        self._key_open = tags.key_open.lstrip(SPACE)
        # White space in what stands between name and value does not matter, but for its end, which a string can
        # be told from by: there it is the template's or it is left out.
        by_text: dict[str, set[Kind]] = {}
        for kind in EVERY_KIND:
            by_text.setdefault(tags.to(kind), set()).add(kind)
        self._ways = [(tokens(text), frozenset(kinds)) for text, kinds in by_text.items()]
        """What may stand between name and value, and the types of value that it tells of."""
        self._left = self._ways
        """Those that fit so far."""
        self._lead = tags.to_string[len(tags.to_string.rstrip(SPACE)) :]
        self._state = _State.BETWEEN
        self._count = 0
        self._tokens = 0
        self._kinds: frozenset[Kind] = EVERY_KIND
        self._close = tags.close
        self._held: list[str] = []
        self._scanner = ObjectScanner()

    def _step(self, text: str, at: int) -> int | None:
        match self._state:
            case _State.BETWEEN:
                return self._between(text, at)
            case _State.NAME:
                return self._name(text, at)
            case _State.TO_VALUE:
                return self._to_value(text, at)
            case _State.VALUE:
                return self._begin_value(text, at)
            case _State.STRING:
                return self._string(text, at)
            case _State.NESTED:
                return self._nested(text, at)
            case _State.HELD:
                return self._hold(text, at)
            case _State.CLOSE:
                return self._after_nested(text, at)

    def _between(self, text: str, at: int) -> int | None:
        at = _skip(text, at)
        if at == len(text):
            return None
        if text.startswith(self._key_open, at):
            self._out.append(", " if self._count else "{")
            self._count += 1
            self._state, self._held = _State.NAME, []
            return at + len(self._key_open)
        if text.startswith(self._end, at):
            self._out.append("}" if self._count else "{}")
            self.complete = True
            return at
        return self._wait(text, at, self._key_open, self._end)

    def _wait(self, text: str, at: int, *expected: str) -> int | None:
        """Nothing to do but wait, if the text can become one of these."""
        rest = text[at : at + max(map(len, expected))]
        if not any(each.startswith(rest) for each in expected):
            raise NoArgumentsError
        return None

    def _name(self, text: str, at: int) -> int | None:
        stop = self._tags.name_end
        found = text.find(stop, at)
        end = found if found >= 0 else partial_marker(text, at, stop)
        self._held.append(text[at:end])
        if found < 0:
            return end if end > at else None
        name = self._tags.read_name("".join(self._held))
        self._kinds = self._types.kinds(name)
        self._out.append(f"{json.dumps(name, ensure_ascii=False)}: ")
        self._state, self._tokens, self._left = _State.TO_VALUE, 1, self._ways
        return found + len(stop)

    def _to_value(self, text: str, at: int) -> int | None:
        if self._tokens < len(self._left[0][0]):
            at = _skip(text, at)
            fit = [way for way in self._left if text.startswith(way[0][self._tokens], at)]
            if not fit:
                return self._wait(text, at, *(words[self._tokens] for words, _ in self._left))
            if len(fit) < len(self._left):
                self._kinds = frozenset[Kind]().union(*(kinds for _, kinds in fit))
            self._left = fit
            self._tokens += 1
            return at + len(fit[0][0][self._tokens - 1])
        self._close, self._state = self._tags.close, _State.VALUE
        if self._lead and not text.startswith(self._lead, at):
            # Without the template's white space before the value there is none behind it.
            self._close = self._close.lstrip(SPACE)
            return at
        return at + len(self._lead)

    def _begin_value(self, text: str, at: int) -> int | None:
        overlap = self._close[len(self._lead) :] if self._lead and self._close.startswith(self._lead) else ""
        if overlap and text.startswith(overlap, at):
            # An empty value whose white space does for both ends.
            self._decide("")
            self._state = _State.BETWEEN
            return at + len(overlap)
        if overlap and overlap.startswith(text[at:]):
            return None
        if self._kinds == STRING:
            self._out.append('"')
            self._state = _State.STRING
            return at
        if "string" not in self._kinds:
            at = _skip(text, at)
            if at == len(text):
                return None
        nested: Kind | None = {"{": "object", "[": "array"}.get(text[at])  # type: ignore[assignment]
        if nested and (nested in self._kinds or "string" not in self._kinds):
            self._scanner, self._state = ObjectScanner(), _State.NESTED
        else:
            self._held, self._state = [], _State.HELD
        return at

    def _string(self, text: str, at: int) -> int | None:
        found = text.find(self._close, at)
        end = found if found >= 0 else partial_marker(text, at, self._close)
        self._out.append(escaped(text[at:end]))
        if found < 0:
            return end if end > at else None
        self._out.append('"')
        self._state = _State.BETWEEN
        return found + len(self._close)

    def _nested(self, text: str, at: int) -> int:
        end = self._scanner.scan(text, at)
        self._out.append(text[at:end])
        if self._scanner.complete:
            self._state = _State.CLOSE
        return end

    def _after_nested(self, text: str, at: int) -> int | None:
        at, close = _skip(text, at), self._close.strip()
        if text.startswith(close, at):
            self._state = _State.BETWEEN
            return at + len(close)
        return self._wait(text, at, close)

    def _hold(self, text: str, at: int) -> int | None:
        found = text.find(self._close, at)
        end = found if found >= 0 else partial_marker(text, at, self._close)
        if end > at:
            self._held.append(text[at:end])
        if found >= 0:
            self._decide("".join(self._held))
            self._state = _State.BETWEEN
            return found + len(self._close)
        if end > at and "string" in self._kinds and not self._is_open(text[at:end]):
            self._out.append('"' + escaped("".join(self._held)))
            self._state = _State.STRING
        return end if end > at else None

    def _is_open(self, piece: str) -> bool:
        """Whether the text that is held, of which ``piece`` came last, may be something else than a raw string."""
        start = "".join(self._held[:6])[:6]
        if start.startswith('"'):
            return True
        if "number" in self._kinds and _NUMERIC.fullmatch(start) and _NUMERIC.fullmatch(piece):
            return True
        return any(word.startswith(start) for kind, words in WORDS.items() if kind in self._kinds for word in words)

    def _decide(self, text: str) -> None:
        """The value of a text that is whole."""
        mixed = "string" in self._kinds
        if not mixed:
            text = text.strip(SPACE)
        if any(text in words for kind, words in WORDS.items() if kind in self._kinds):
            text = _AS_JSON.get(text, text)
        elif not ("number" in self._kinds and _NUMBER.fullmatch(text)) and (
            not is_mixed(self._kinds) or not _STRING.fullmatch(text)
        ):
            text = json.dumps(text, ensure_ascii=False)
        self._out.append(text)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at
