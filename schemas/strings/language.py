"""The string languages of a schema: regular sets of Unicode strings, closed under all set operations."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from schemas.strings import automaton, terminal
from schemas.strings.assertions import language
from schemas.strings.ecma import parse
from schemas.strings.formats import named, named_perhaps
from schemas.strings.intersections import intersection
from schemas.strings.membership import matches
from schemas.strings.nodes import Nothing, Regex
from schemas.strings.regex import ALL, EMPTY, NONE, complement, concat, is_length, length, letter, union
from schemas.strings.relaxation import affordable, is_empty
from schemas.strings.shortcut import shortcuts


@dataclass(frozen=True, slots=True)
class Language:
    """A regular set of strings of Unicode scalar values: a string with a lone surrogate is in none.

    Immutable; equal and hashed by structure (equal languages written differently may differ). Questions may raise
    `TooComplex`: the caller then works with a superset and checks.
    """

    regex: Regex
    """The strings that are members in every reading of the patterns involved."""
    perhaps: Regex | None = None
    """Those that are in some reading (`schemas.strings.ecma`), where that is more; complement swaps the two."""

    ALL: ClassVar[Language]
    NONE: ClassVar[Language]

    @staticmethod
    def literals(words: Iterable[str]) -> Language:
        """Exactly these strings. Those with lone surrogates are left out."""
        good = {word for word in words if not any("\ud800" <= c <= "\udfff" for c in word)}
        return Language(_trie(sorted(good), 0))

    @staticmethod
    def length(low: int, high: int | None) -> Language:
        """All strings of ``low`` to ``high`` code points; ``None`` is no bound."""
        return Language(length(max(low, 0), high))

    @staticmethod
    def pattern(ecma: str) -> Language:
        """The strings in which an ECMA-262 pattern matches somewhere. Raises PatternError and TooComplex."""
        return _pattern(ecma)

    @staticmethod
    def named_format(name: str, draft: str | None = None) -> Language | None:
        """The strings of a ``format``; ``None`` where the format is unknown or not exactly known (an annotation)."""
        found = named(name, draft)
        return None if found is None else _between(found, named_perhaps(name) or found)

    @property
    def key(self) -> bytes:
        """A digest of the structure: the same in every process, fit for sorting and caching."""
        return self.regex.facts.key + (self.perhaps.facts.key if self.perhaps else b"")

    def __and__(self, other: Language) -> Language:
        return self._with(other, intersection)

    def __or__(self, other: Language) -> Language:
        return self._with(other, union)

    def _with(self, other: Language, combine: Callable[[tuple[Regex, Regex]], Regex]) -> Language:
        sure = combine((self.regex, other.regex))
        if self.perhaps is None and other.perhaps is None:
            return Language(sure)
        return _between(sure, combine((self.perhaps or self.regex, other.perhaps or other.regex)))

    def __invert__(self) -> Language:
        if self.perhaps is None:
            return Language(complement(self.regex))
        return _between(complement(self.perhaps), complement(self.regex))

    def __sub__(self, other: Language) -> Language:
        return self & ~other

    def contains(self, text: str) -> bool:
        """Whether ``text`` is a member."""
        return matches(self.regex, text)

    def is_nothing(self) -> bool:
        """Whether the form alone shows that no string is a member in every reading."""
        return isinstance(self.regex, Nothing)

    def is_empty(self) -> bool:
        """Whether there is no member. Raises TooComplex."""
        return is_empty(self.regex)

    def shortest(self) -> str | None:
        """A shortest member. Raises TooComplex."""
        return automaton.shortest(self.regex)

    def enumerate(self, limit: int) -> list[str] | None:
        """All members, shortest first; ``None`` when there are more than ``limit``. Raises TooComplex."""
        return automaton.members(self.regex, limit)

    def sample(self, rng: random.Random) -> str:
        """A random member. Raises ValueError for the empty language, TooComplex."""
        return automaton.sample(self.regex, rng)

    def intersects(self, other: Language) -> bool:
        """Whether the two have a member in common. Raises TooComplex."""
        return not (self & other).is_empty()

    def affordable(self) -> tuple[Language, str | None]:
        """The language, or the tightest known superset whose terminal llguidance's lexer bears, and then the reason.

        Never raises: the last resort is all strings. Deterministic on every machine, cached. Write the terminal of
        the result, and check values against the original where there is a reason.
        """
        found, reason = affordable(self.regex)
        return (self if found == self.regex else Language(found)), reason

    def terminal(self) -> str:
        """A Lark terminal expression (llguidance) for the JSON texts of the members, quotes included.

        Put it behind ``NAME:`` on one line. Raises ValueError for a language that is empty by its form.
        """
        return terminal.terminal(self.regex)

    def shortcuts(self) -> list[str]:
        """Terminals of parts of the language that make masks cheap beside the whole (`schemas.strings.shortcut`)."""
        return [terminal.terminal(part) for part in shortcuts(self.regex)]

    def is_length(self) -> bool:
        """Whether it is all strings of an interval of lengths."""
        return is_length(self.regex)

    def body(self) -> str:
        """As `terminal` without the quotes: one operand for a larger terminal expression."""
        return terminal.body(self.regex)

    def in_single_quotes(self) -> str:
        """As `terminal`, with single quotes around the strings."""
        return terminal.in_single_quotes(self.regex)

    def raw(self) -> str:
        """As `body`, but for the members themselves, without JSON's escapes."""
        return terminal.raw(self.regex)

    def raw_shortcuts(self, end: str) -> list[str]:
        """As `shortcuts`, but as `raw`, for a language whose members do not hold ``end``."""
        # Without one character of it: up to the first of the one, or of the other, masks are cheap.
        chars = sorted(set(end), key=lambda char: (_in_slices(char), end.index(char)))[:2]
        return list(dict.fromkeys(terminal.raw(part) for char in chars for part in shortcuts(self.regex, char)))


def _in_slices(char: str) -> int:
    """How much is lost where the character must not come: what is in no slice (`schemas.engine.SLICES`) costs
    nothing, what is in the largest alone costs little."""
    return 0 if char < " " or char in '"\\' else 1 if char > "~" else 2 if char in "<>" else 3


Language.ALL = Language(ALL)
Language.NONE = Language(NONE)


def _between(sure: Regex, perhaps: Regex) -> Language:
    return Language(sure, None if sure == perhaps else perhaps)


@lru_cache(maxsize=2048)
def _pattern(ecma: str) -> Language:
    sure, perhaps = parse(ecma)
    return Language(language(sure)) if sure is perhaps else _between(language(sure), language(perhaps))


def _trie(words: list[str], depth: int) -> Regex:
    """The union of sorted, different words, common beginnings shared."""
    branches: list[Regex] = []
    at = 0
    while at < len(words):
        if len(words[at]) == depth:
            branches.append(EMPTY)
            at += 1
            continue
        end = at
        while end < len(words) and words[end][depth] == words[at][depth]:
            end += 1
        shared = depth + 1
        first, last = words[at], words[end - 1]
        while shared < len(first) and shared < len(last) and first[shared] == last[shared]:
            shared += 1
        branches.append(concat(*map(letter, first[depth:shared]), _trie(words[at:end], shared)))
        at = end
    return union(branches)
