r"""Reads the escapes and character classes of an ECMA-262 pattern: everything that stands for a set of characters."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from schemas.strings.charset import LAST, CharSet, from_ranges, of
from schemas.strings.pattern import PatternError
from schemas.strings.unicode_classes import (
    DIGIT,
    PERHAPS_DIGIT,
    PERHAPS_SPACE,
    PERHAPS_WORD,
    SPACE,
    SURE_SPACE,
    WORD,
    ignoring_case,
    unicode_property,
)

_CLASSES = {
    "d": (DIGIT, DIGIT, PERHAPS_DIGIT),
    "w": (WORD, WORD, PERHAPS_WORD),
    "s": (SPACE, SURE_SPACE, PERHAPS_SPACE),
}
_CONTROLS = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_HEX = frozenset("0123456789abcdefABCDEF")
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


class ClassReader:
    """A place in the text of a pattern, and how to read a set of characters from there."""

    __slots__ = ("at", "reading", "text")

    def __init__(self, text: str, reading: tuple[bool, bool] | None) -> None:
        self.text = text
        self.reading = reading
        """Whether only sure matches count, and whether the classes are in doubt; ``None`` to find out what is."""
        self.at = 0

    def error(self, fault: str) -> PatternError:
        return PatternError(f"{fault} at character {self.at} of the pattern")

    def peek(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + 1]

    def eat(self, token: str) -> bool:
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def sure(self, flags: Flags) -> bool:
        """Whether a set in doubt is to be the smaller one here."""
        return self.reading is None or self.reading[0] != flags.negated

    def cased(self, set_: CharSet, flags: Flags) -> CharSet:
        return ignoring_case(set_) if flags.ignore_case else set_

    def class_escape(self, char: str, flags: Flags) -> CharSet | None:
        """The set of a class escape whose letter has been read, ``None`` for another kind of escape."""
        if char.lower() in _CLASSES:
            exact, sure, perhaps = _CLASSES[char.lower()]
            if self.reading is not None and self.reading[1]:
                exact = sure if self.sure(flags) == char.islower() else perhaps
            return self.cased(exact, flags) if char.islower() else ~self.cased(exact, flags)
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
        found = self.cased(found, flags)
        return ~found if negative else found

    def char_escape(self, char: str) -> CharSet:
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

    def read_class(self, flags: Flags) -> CharSet:
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
        set_ = self.cased(from_ranges(ranges), flags)
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
        set_ = self.class_escape(char, flags) if char else None
        if set_ is not None:
            return set_.ranges
        if char == "u" and (lone := _SURROGATE.match(self.text, self.at)):
            pair = _TRAIL.match(self.text, lone.end())
            if int(lone[0], 16) >= 0xDC00 or not pair:
                self.at = lone.end()
                return int(lone[0], 16)
        return self.char_escape(char).ranges[0][0]
