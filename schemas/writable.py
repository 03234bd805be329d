"""What can be written in a spelling: the strings that can stand raw, and the names that members can have.

Grammar, reader and renderer agree by these sets: what is not in them has another form, or none.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from schemas.spelling import Kind, Quoted, Tags, is_mixed
from schemas.strings import Language
from schemas.stringset import StringSet

NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
"""The number texts of RFC 8259."""
JSON_STRING = r'"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"'
WORDS: dict[Kind, tuple[str, ...]] = {"boolean": ("true", "false", "True", "False"), "null": ("null", "None")}
"""The words that stand for these types, as JSON and as Python have them: a member that can be of the type is no string
that reads so."""


@lru_cache(maxsize=256)
def tag_strings(tags: Tags, kinds: frozenset[Kind]) -> StringSet:
    """The strings that can stand raw as the value of a member of these types."""
    found = free_of(tags.close)
    for size in range(1, len(tags.close)):
        if tags.to_string.endswith(tags.close[:size]):
            found = found & ~beginning(tags.close[size:])
    if not is_mixed(kinds) or tags.tells_strings:
        return found
    found = found & ~fitting(JSON_STRING)
    if "number" in kinds:
        found = found & ~fitting(NUMBER)
    for kind, opening in (("object", "{"), ("array", "[")):
        if kind in kinds:
            found = found & ~beginning(opening)
    return found & ~StringSet.literals(word for kind, words in WORDS.items() if kind in kinds for word in words)


@lru_cache(maxsize=64)
def tag_names(tags: Tags) -> StringSet:
    """The names that a tag can hold as they are."""
    ends = ["\n", tags.name_end, *(char for char, _ in tags.escapes)]
    # One class of characters, not what holds none of each: with complements alone the grammar engine does not see where
    # a name is at its end, and it panics where a special token is all that can follow.
    chars = "".join(sorted({end for end in ends if len(end) == 1}))
    return fitting(f"[^{_escaped(chars)}]+") & free_of(*(end for end in ends if len(end) > 1))


def holds_name(tags: Tags, name: str) -> bool:
    """Whether a tag can hold this name, escaped where it must be."""
    written = tags.written_name(name)
    return bool(written) and "\n" not in written and tags.name_end not in written and tags.read_name(written) == name


BARE_NAME = r"[^\s:,{}\[\]\"'](?:[^:,{}\[\]\"'\u0000-\u001f]*[^\s:,{}\[\]\"'])?"
"""Bare names: no punctuation, no white space at the ends."""


@lru_cache(maxsize=16)
def quoted_names(spelling: Quoted) -> StringSet:
    """The names that can stand bare."""
    return fitting(BARE_NAME) & free_of(spelling.quote)


@lru_cache(maxsize=16)
def quoted_strings(spelling: Quoted) -> StringSet:
    """The strings that can stand between two quotes."""
    return free_of(spelling.quote)


KEYWORD = r"[^\s\u001c-\u001f\u0085\ufeff=(),:{}\[\]\"'\\]+"
"""Names are written as they are, also where Python would not take them: ``user-id=1``. White space is what either of
ECMA-262 and Python takes for it: the grammar reads this pattern as the one has it, the reader as the other."""


def keyword_names() -> StringSet:
    """The names that can stand before ``=``."""
    return fitting(KEYWORD)


@lru_cache(maxsize=256)
def free_of(*texts: str) -> StringSet:
    """The strings that hold none of these."""
    return _and(~_matching(_escaped(text)) for text in texts)


@lru_cache(maxsize=256)
def beginning(text: str) -> StringSet:
    """The strings that begin with this."""
    return _matching(f"^{_escaped(text)}")


@lru_cache(maxsize=16)
def fitting(pattern: str) -> StringSet:
    """The strings that fit all of an ECMA-262 pattern."""
    return _matching(f"^(?:{pattern})$")


def _and(sets: Iterable[StringSet]) -> StringSet:
    found = StringSet.ALL
    for each in sets:
        found = found & each
    return found


def _matching(pattern: str) -> StringSet:
    return StringSet.of(Language.pattern(pattern))


def _escaped(text: str) -> str:
    """The text as an ECMA-262 pattern."""
    return "".join(f"\\u{{{ord(c):x}}}" if not c.isalnum() and ord(c) > 0x7F else _plain(c) for c in text)


def _plain(char: str) -> str:
    return "\\n" if char == "\n" else f"\\{char}" if char in r"\^$.*+?()[]{}|/" else char
