"""Sets of strings: finite sets, complements of finite sets, and regular languages behind one face.

Most string sets of real schemas are an ``enum``, a member name, or "all names but these": sets of words, for which no
automaton is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from schemas.strings import Language
from schemas.strings.quoting import letter_text

_PLAIN = re.compile(r"[A-Za-z0-9_ :;,@#%&=!<>'~`-]*")
"""Words that are their own JSON text, in one spelling only, and their own regular expression."""


@dataclass(frozen=True, slots=True)
class StringSet:
    """``words``, or with ``others`` the strings of ``others`` that are not in ``words``.

    Immutable, compared by structure. ``is_empty``, ``shortest`` and ``enumerate`` may raise
    :class:`schemas.errors.TooComplex`.
    """

    words: frozenset[str]
    others: Language | None = None

    ALL: ClassVar[StringSet]
    NONE: ClassVar[StringSet]

    @staticmethod
    def literals(words: Iterable[str]) -> StringSet:
        """Exactly these; strings with lone surrogates, which no JSON text in UTF-8 has, are left out."""
        return StringSet(frozenset(word for word in words if _encodable(word)))

    @staticmethod
    def of(language: Language) -> StringSet:
        return StringSet(frozenset(), language)

    @property
    def key(self) -> tuple[list[str], bytes]:
        """For an order that is the same in every process."""
        return sorted(self.words), b"" if self.others is None else self.others.key

    def contains(self, text: str) -> bool:
        if self.others is None:
            return text in self.words
        return text not in self.words and (self.others is Language.ALL or self.others.contains(text))

    def _without(self, words: frozenset[str]) -> StringSet:
        """This infinite set less ``words``; those that were never in it are forgotten."""
        assert self.others is not None
        return StringSet(self.words | {word for word in words if self.others.contains(word)}, self.others)

    def _with(self, words: frozenset[str]) -> StringSet:
        assert self.others is not None
        missing = frozenset(word for word in words - self.words if not self.others.contains(word))
        left = self.words - words
        if not missing:
            return StringSet(left, self.others)
        return StringSet(left, self.others | Language.literals(missing))

    def __and__(self, other: StringSet) -> StringSet:
        if self is other or other is StringSet.ALL or self is StringSet.NONE:
            return self
        if self is StringSet.ALL or other is StringSet.NONE:
            return other
        if self.others is None:
            if other.others is None:
                return StringSet(self.words & other.words)
            if other.others is Language.ALL:
                return StringSet(self.words - other.words)
            return StringSet(frozenset(word for word in self.words if other.contains(word)))
        if other.others is None:
            return other & self
        if self.others is Language.ALL and other.others is Language.ALL:
            return StringSet(self.words | other.words, Language.ALL)
        if self.others is Language.ALL:
            return other._without(self.words)
        if other.others is Language.ALL:
            return self._without(other.words)
        both = self.others if self.others == other.others else self.others & other.others
        return StringSet(frozenset(), both)._without(self.words | other.words)

    def __or__(self, other: StringSet) -> StringSet:
        if self is other or other is StringSet.NONE or self is StringSet.ALL:
            return self
        if self is StringSet.NONE or other is StringSet.ALL:
            return other
        if self.others is None:
            if other.others is None:
                return StringSet(self.words | other.words)
            if other.others is Language.ALL:
                return StringSet(other.words - self.words, Language.ALL)
            return other._with(self.words)
        if other.others is None:
            return other | self
        if self.others is Language.ALL and other.others is Language.ALL:
            return StringSet(self.words & other.words, Language.ALL)
        missing = frozenset(
            [word for word in self.words if not other.contains(word)]
            + [word for word in other.words if not self.contains(word)]
        )
        if Language.ALL in (self.others, other.others):
            return StringSet(missing, Language.ALL)
        either = self.others if self.others == other.others else self.others | other.others
        return StringSet(frozenset(), either)._without(missing)

    def __invert__(self) -> StringSet:
        if self is StringSet.ALL or self is StringSet.NONE:
            return StringSet.NONE if self is StringSet.ALL else StringSet.ALL
        if self.others is None:
            return StringSet(self.words, Language.ALL)
        if self.others is Language.ALL:
            return StringSet(self.words)
        return StringSet.of(~self.others)._with(self.words)

    def is_finite_by_form(self) -> bool:
        return self.others is None or self.others.regex.facts.longest is not None

    def is_empty(self) -> bool:
        if self.others is None:
            return not self.words
        if self.others.is_nothing():
            return True
        facts = self.others.regex.facts
        if facts.plain and (not self.words or facts.longest is None):
            return False
        member = self.others.shortest() if self.words else None
        return (member is None or member in self.words) and self.language().is_empty()

    def shortest(self) -> int | None:
        """Characters of a shortest member (a lower bound for the complement of words); None when there is none."""
        if self.others is None:
            return min(map(len, self.words), default=None)
        return None if self.is_empty() else self.others.regex.facts.shortest

    def enumerate(self, limit: int) -> list[str] | None:
        """All members when they are at most ``limit``, else None."""
        if self.others is None:
            return sorted(self.words) if len(self.words) <= limit else None
        if self.others.regex.facts.longest is None and self.others.regex.facts.plain:
            return None
        return self.language().enumerate(limit)

    def language(self) -> Language:
        if self.others is None:
            return Language.literals(self.words)
        return _less(self.others, self.words) if self.words else self.others

    def is_plain(self) -> bool:
        """No intersection or complement of patterns in it."""
        return self.others is None or self.others == Language.ALL or self.others.regex.facts.plain

    def unrestricted(self) -> StringSet:
        """All strings but the words that are left out."""
        return StringSet(self.words, Language.ALL)

    def affordable(self) -> tuple[StringSet, str | None]:
        """The set, or a superset whose terminal the lexer of llguidance bears, and then the reason."""
        if self.others is None or self.others == Language.ALL:
            return self, None
        language, reason = self.language().affordable()
        return StringSet.of(language), reason

    def shortcuts(self) -> list[str]:
        """Terminals of parts of the set that make masks cheap beside the whole (`schemas.strings.shortcut`)."""
        if self.others is None or self.others == Language.ALL or self.others.is_length():
            return []
        return self.language().shortcuts()

    def terminal(self) -> str:
        """A Lark terminal expression (llguidance) for the JSON texts of the members, quotes included."""
        if self.others is None:
            return _words(tuple(sorted(self.words)))
        base = _terminal(self.others)
        if not self.words:
            return base
        return f"( {base} ) & ~( {_words(tuple(sorted(self.words)))} )"

    def in_single_quotes(self) -> str:
        """As `terminal`, with single quotes around the strings."""
        return self.language().in_single_quotes()

    def raw(self) -> str:
        """One operand of a terminal expression for the members themselves, without quotes and escapes."""
        return self.language().raw()

    def raw_terminals(self, end: str) -> list[str]:
        """``raw``, and parts of the set that make masks cheap beside it. No member holds ``end``."""
        return [self.raw(), *(() if self.others is None else self.language().raw_shortcuts(end))]


StringSet.NONE = StringSet(frozenset())
StringSet.ALL = StringSet(frozenset(), Language.ALL)


def _encodable(word: str) -> bool:
    return word.isascii() or not any("\ud800" <= char <= "\udfff" for char in word)


@lru_cache(maxsize=512)
def _terminal(language: Language) -> str:
    return language.terminal()


@lru_cache(maxsize=256)
def _less(language: Language, words: frozenset[str]) -> Language:
    """``language`` without ``words``: asked for several times in a row."""
    return language & ~Language.literals(words)


def word_terminal(word: str) -> str:
    """As `StringSet.terminal` of one word."""
    return f'/"{word}"/' if _PLAIN.fullmatch(word) else StringSet.literals([word]).terminal()


def _words(words: tuple[str, ...]) -> str:
    """Fixed words as one regular expression. Plain ones are their own; no tree of their beginnings: it costs more than
    it saves the lexer, which makes its own."""
    if _PLAIN.fullmatch("".join(words)):
        spelled = list(words)
    else:
        spelled = [word if _PLAIN.fullmatch(word) else "".join(map(letter_text, word)) for word in words]
    return f'/"{spelled[0]}"/' if len(spelled) == 1 else f'/"(?:{"|".join(spelled)})"/'
