r"""Reads an ECMA-262 regular expression: the Unicode-mode grammar with the leniencies of Annex B that schemas use.

Beyond ECMA-262 it takes what the validator that has the last word on every value (jsonschema-rs 0.61) takes: inline
flags such as ``(?i)``, ``(?P<name>…)``, ``\A``, ``\z``, ``\<`` and ``\>``.

In two places that validator departs from ECMA-262, for characters beyond ASCII alone: word boundaries, and, in a
pattern with look-around, ``\d \w \s`` and the dot, are by Unicode properties. So a pattern has two bounds: what
matches in either reading, and what matches in both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from schemas.errors import TooComplex
from schemas.strings.charset import ANY, LAST, CharSet, from_ranges, of
from schemas.strings.pattern import (
    Anchor,
    Boundary,
    Look,
    Pattern,
    PatternError,
    Plain,
    choice,
    loop,
    one_of,
    sequence,
)
from schemas.strings.regex import letter
from schemas.strings.unicode_classes import (
    DIGIT,
    DOT,
    NEWLINE,
    PERHAPS_DIGIT,
    PERHAPS_SPACE,
    PERHAPS_WORD,
    SPACE,
    SURE_SPACE,
    WORD,
    ignoring_case,
    unicode_property,
)

MAX_DEPTH = 100
MAX_LENGTH = 100_000

_CLASSES = {
    "d": (DIGIT, DIGIT, PERHAPS_DIGIT),
    "w": (WORD, WORD, PERHAPS_WORD),
    "s": (SPACE, SURE_SPACE, PERHAPS_SPACE),
}
_BOUNDARIES: dict[str, Literal["edge", "inside", "opens", "closes"]] = {
    "b": "edge",
    "B": "inside",
    "<": "opens",
    ">": "closes",
}
_CONTROLS = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_HEX = frozenset("0123456789abcdefABCDEF")
_BRACES = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
_TRAIL = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_SURROGATE = re.compile(r"[dD][89a-fA-F][0-9a-fA-F]{2}")


@dataclass(frozen=True, slots=True)
class Flags:
    ignore_case: bool = False
    lines: bool = False
    spaced: bool = False
    all_dots: bool = False
    negated: bool = False
    """Under an odd number of negations: there the larger set makes fewer matches."""


def parse(text: str) -> tuple[Pattern, Pattern]:
    """The syntax tree in the reading with the fewest matches, and in the one with the most; mostly the same object.

    Raises PatternError with the place of the fault, TooComplex for a back-reference.
    """
    if len(text) > MAX_LENGTH:
        raise TooComplex(f"the pattern is longer than {MAX_LENGTH} characters")
    reader = _Reader(text, None)
    result = reader.whole()
    if not reader.looks_around and not reader.has_boundary:
        return result, result
    classes = reader.looks_around
    return _Reader(text, (True, classes)).whole(), _Reader(text, (False, classes)).whole()


class _Reader:
    __slots__ = ("at", "depth", "has_boundary", "looks_around", "reading", "text")

    def __init__(self, text: str, reading: tuple[bool, bool] | None) -> None:
        self.text = text
        self.reading = reading
        """Whether only sure matches count, and whether the classes are in doubt; ``None`` to find out what is."""
        self.looks_around = False
        self.has_boundary = False
        self.at = 0
        self.depth = 0

    def whole(self) -> Pattern:
        result = self.disjunction(Flags())
        if self.at < len(self.text):
            raise self.error("unmatched )")
        return result

    def error(self, fault: str) -> PatternError:
        return PatternError(f"{fault} at character {self.at} of the pattern")

    def peek(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + 1]

    def eat(self, token: str) -> bool:
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def disjunction(self, flags: Flags) -> Pattern:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"groups nested more than {MAX_DEPTH} deep")
        branches: list[Pattern] = []
        parts: list[Pattern] = []
        while (char := self.peek()) and char != ")":
            if char == "|":
                self.at += 1
                branches.append(sequence(parts))
                parts = []
            elif flags.spaced and (char.isspace() or char == "#"):
                self._skip_comment()
            elif self.text.startswith("(?", self.at) and (changed := self._inline_flags(flags)) is not None:
                flags = changed
            else:
                parts.append(self._quantified(self._atom(flags)))
        branches.append(sequence(parts))
        self.depth -= 1
        return choice(branches)

    def _skip_comment(self) -> None:
        if self.eat("#"):
            while self.peek() and not self.eat("\n"):
                self.at += 1
        else:
            self.at += 1

    def _flag_letters(self, flags: Flags, ends: str) -> Flags | None:
        """The flags that stand from here up to a character of ``ends``, which is consumed; ``None`` if none do."""
        at, on, letters = self.at, True, 0
        while at < len(self.text) and self.text[at] not in ends:
            match self.text[at]:
                case "-" if on:
                    on = False
                case "i":
                    flags = replace(flags, ignore_case=on)
                case "m":
                    flags = replace(flags, lines=on)
                case "x":
                    flags = replace(flags, spaced=on)
                case "s":
                    flags = replace(flags, all_dots=on)
                case _:
                    return None
            letters += self.text[at] != "-"
            at += 1
        if at == len(self.text) or not letters:
            return None
        self.at = at + 1
        return flags

    def _inline_flags(self, flags: Flags) -> Flags | None:
        start = self.at
        self.at += 2
        changed = self._flag_letters(flags, ")")
        if changed is None:
            self.at = start
        return changed

    def _atom(self, flags: Flags) -> Pattern:
        char = self.peek()
        self.at += 1
        match char:
            case "^":
                return Anchor("start", flags.lines)
            case "$":
                return Anchor("end", flags.lines)
            case ".":
                return one_of(self._dot(flags))
            case "(":
                return self._group(flags)
            case "[":
                return one_of(self._class(flags))
            case "\\":
                return self._escape(flags)
            case "*" | "+" | "?":
                self.at -= 1
                raise self.error("nothing to repeat")
            case "{" if _BRACES.match(self.text, self.at - 1):
                raise self.error("nothing to repeat")
        return one_of(ignoring_case(of(char))) if flags.ignore_case else Plain(letter(char))

    def _sure(self, flags: Flags) -> bool:
        return self.reading is None or self.reading[0] != flags.negated

    def _dot(self, flags: Flags) -> CharSet:
        if self.reading is None or not self.reading[1] or self._sure(flags):
            return DOT
        return ANY if flags.all_dots else ~NEWLINE

    def _cased(self, set_: CharSet, flags: Flags) -> CharSet:
        return ignoring_case(set_) if flags.ignore_case else set_

    def _group(self, flags: Flags) -> Pattern:
        look: tuple[str, bool] | None = None
        if self.eat("?"):
            if self.eat("=") or self.eat("!"):
                look = ("ahead", self.text[self.at - 1] == "!")
            elif self.eat("<=") or self.eat("<!"):
                look = ("behind", self.text[self.at - 1] == "!")
            elif self.eat("<") or self.eat("P<"):
                end = self.text.find(">", self.at)
                if end <= self.at:
                    raise self.error("a group name without an end")
                self.at = end + 1
            elif not self.eat(":"):
                changed = self._flag_letters(flags, ":")
                if changed is None:
                    raise self.error("an unknown kind of group")
                flags = changed
        if look is not None:
            self.looks_around = True
            flags = replace(flags, negated=flags.negated != look[1])
        inner = self.disjunction(flags)
        if not self.eat(")"):
            raise self.error("a group without an end")
        if look is None:
            return inner
        return Look(inner, "ahead" if look[0] == "ahead" else "behind", look[1])

    def _quantified(self, atom: Pattern) -> Pattern:
        low: int = 1
        high: int | None = None
        if self.eat("*"):
            low = 0
        elif self.eat("+"):
            low = 1
        elif self.eat("?"):
            low, high = 0, 1
        elif found := _BRACES.match(self.text, self.at):
            self.at = found.end()
            low = int(found[1])
            high = low if found[2] is None else int(found[3]) if found[3] else None
        else:
            return atom
        self.eat("?")
        if self.peek() and self.peek() in "*+?":
            raise self.error("a quantifier after a quantifier")
        repeated = loop(atom, low, high)
        return sequence([repeated, one_of(of("{"))]) if self.eat("{") else repeated

    def _escape(self, flags: Flags) -> Pattern:
        char = self.peek()
        self.at += 1
        if char in _BOUNDARIES:
            self.has_boundary = True
            return Boundary(_BOUNDARIES[char], self._sure(flags))
        if char == "A":
            return Anchor("start", False)
        if char == "z":
            return Anchor("end", False)
        if char == "k" or (char.isdigit() and char != "0"):
            raise TooComplex("a back-reference is not regular")
        set_ = self._class_escape(char, flags)
        return one_of(set_ if set_ is not None else self._cased(self._char_escape(char), flags))

    def _class_escape(self, char: str, flags: Flags) -> CharSet | None:
        """The set of a class escape whose letter has been read, ``None`` for another kind of escape."""
        if char.lower() in _CLASSES:
            exact, sure, perhaps = _CLASSES[char.lower()]
            if self.reading is not None and self.reading[1]:
                exact = sure if self._sure(flags) == char.islower() else perhaps
            return self._cased(exact, flags) if char.islower() else ~self._cased(exact, flags)
        if char not in ("p", "P"):
            return None
        if self.eat("{"):
            end = self.text.find("}", self.at)
            if end < 0:
                raise self.error("a property without an end")
            name, self.at = self.text[self.at : end], end + 1
        else:
            name = self.peek()
            self.at += 1
        negative = char == "P"
        if name.startswith("^"):
            name, negative = name[1:], not negative
        try:
            found = unicode_property(name)
        except KeyError:
            raise self.error(f"the unknown Unicode property {name}") from None
        found = self._cased(found, flags)
        return ~found if negative else found

    def _char_escape(self, char: str) -> CharSet:
        """The one character of an escape whose letter has been read; no character for a lone surrogate."""
        match char:
            case "":
                raise self.error("a backslash without a character")
            case "f" | "n" | "r" | "t" | "v":
                return of(_CONTROLS[char])
            case "0" if not self.peek().isdigit():
                return of("\0")
            case "c" if (letter := self.peek()).isascii() and letter.isalpha():
                self.at += 1
                return of(chr(ord(letter) % 32))
            case "x":
                return of(chr(self._hex(2)))
            case "u":
                return self._unicode_escape()
        if char.isalnum():
            raise self.error(f"the unknown escape \\{char}")
        return of(char)

    def _hex(self, digits: int) -> int:
        found = self.text[self.at : self.at + digits]
        if len(found) < digits or not _HEX.issuperset(found):
            raise self.error(f"an escape that needs {digits} hexadecimal digits")
        self.at += digits
        return int(found, 16)

    def _unicode_escape(self) -> CharSet:
        if self.eat("{"):
            end = self.text.find("}", self.at)
            digits = self.text[self.at : max(end, self.at)]
            if not digits or not _HEX.issuperset(digits) or int(digits, 16) > LAST:
                raise self.error("a malformed code point escape")
            self.at = end + 1
            return from_ranges([(int(digits, 16),) * 2])
        lead = self._hex(4)
        low = _TRAIL.match(self.text, self.at)
        if 0xD800 <= lead < 0xDC00 and low:
            self.at = low.end()
            lead = 0x10000 + ((lead - 0xD800) << 10) + (int(low[1], 16) - 0xDC00)
        return from_ranges([(lead, lead)])

    def _class(self, flags: Flags) -> CharSet:
        negative = self.eat("^")
        if negative:
            flags = replace(flags, negated=not flags.negated)
        ranges: list[tuple[int, int]] = []
        while not self.eat("]"):
            low = self._class_atom(flags)
            dash = self.peek() == "-" and self.peek(1) not in ("]", "")
            if not dash:
                ranges.extend(low if isinstance(low, tuple) else [(low, low)])
                continue
            self.at += 1
            high = self._class_atom(flags)
            if isinstance(low, tuple) or isinstance(high, tuple):
                # Annex B: a dash beside a class escape is a dash.
                for end in (low, high):
                    ranges.extend(end if isinstance(end, tuple) else [(end, end)])
                ranges.append((ord("-"), ord("-")))
            elif low > high:
                raise self.error("a range out of order")
            else:
                ranges.append((low, high))
        set_ = self._cased(from_ranges(ranges), flags)
        return ~set_ if negative else set_

    def _class_atom(self, flags: Flags) -> int | tuple[tuple[int, int], ...]:
        """One code point (a lone surrogate too, as the end of a range), or the ranges of a class escape."""
        char = self.peek()
        if not char:
            raise self.error("a class without an end")
        self.at += 1
        if char != "\\":
            return ord(char)
        char = self.peek()
        self.at += 1
        if char == "b":
            return 8
        set_ = self._class_escape(char, flags) if char else None
        if set_ is not None:
            return set_.ranges
        if char == "u" and (lone := _SURROGATE.match(self.text, self.at)):
            pair = _TRAIL.match(self.text, lone.end())
            if int(lone[0], 16) >= 0xDC00 or not pair:
                self.at = lone.end()
                return int(lone[0], 16)
        return self._char_escape(char).ranges[0][0]
