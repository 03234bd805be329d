r"""Reads an ECMA-262 regular expression: the Unicode-mode grammar with the leniencies of Annex B that schemas use.

Beyond ECMA-262 it takes what the validator that has the last word on every value (jsonschema-rs 0.61) takes: inline
flags such as ``(?i)``, ``(?P<name>…)``, ``\A``, ``\z``, ``\<`` and ``\>``.

In two places that validator departs from ECMA-262, for characters beyond ASCII alone: word boundaries, and, in a
pattern with look-around, ``\d \w \s`` and the dot, are by Unicode properties. So a pattern has two bounds: what
matches in either reading, and what matches in both.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from schemas.errors import TooComplex
from schemas.strings.charset import ANY, CharSet, of
from schemas.strings.classes import ClassReader, Flags
from schemas.strings.pattern import (
    Anchor,
    Boundary,
    Look,
    Pattern,
    Plain,
    choice,
    loop,
    one_of,
    sequence,
)
from schemas.strings.regex import letter
from schemas.strings.unicode_classes import DOT, NEWLINE, ignoring_case

MAX_DEPTH = 100
MAX_LENGTH = 100_000

_BOUNDARIES: dict[str, Literal["edge", "inside", "opens", "closes"]] = {
    "b": "edge",
    "B": "inside",
    "<": "opens",
    ">": "closes",
}
_BRACES = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")


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


class _Reader(ClassReader):
    __slots__ = ("depth", "has_boundary", "looks_around")

    def __init__(self, text: str, reading: tuple[bool, bool] | None) -> None:
        super().__init__(text, reading)
        self.looks_around = False
        self.has_boundary = False
        self.depth = 0

    def whole(self) -> Pattern:
        result = self.disjunction(Flags())
        if self.at < len(self.text):
            raise self.error("unmatched )")
        return result

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
                return one_of(self.read_class(flags))
            case "\\":
                return self._escape(flags)
            case "*" | "+" | "?":
                self.at -= 1
                raise self.error("nothing to repeat")
            case "{" if _BRACES.match(self.text, self.at - 1):
                raise self.error("nothing to repeat")
        return one_of(ignoring_case(of(char))) if flags.ignore_case else Plain(letter(char))

    def _dot(self, flags: Flags) -> CharSet:
        if self.reading is None or not self.reading[1] or self.sure(flags):
            return DOT
        return ANY if flags.all_dots else ~NEWLINE

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
            return Boundary(_BOUNDARIES[char], self.sure(flags))
        if char == "A":
            return Anchor("start", False)
        if char == "z":
            return Anchor("end", False)
        if char == "k" or (char.isdigit() and char != "0"):
            raise TooComplex("a back-reference is not regular")
        set_ = self.class_escape(char, flags)
        return one_of(set_ if set_ is not None else self.cased(self.char_escape(char), flags))
