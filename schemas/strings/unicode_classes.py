"""Character classes of patterns: the ECMA-262 escapes, Unicode properties and case folding.

The properties come from the ``regex`` package, which follows the Unicode Character Database release by release; the
standard library's ``unicodedata`` is years behind and knows no scripts. What is newer than the release that
jsonschema-rs knows counts as unassigned, as it does there.
"""

from __future__ import annotations

import re
import sys
from array import array
from functools import lru_cache

import jsonschema_rs
import regex  # type: ignore[import-untyped]

from schemas.strings.charset import ANY, LAST, CharSet, from_ranges, of

DIGIT = of("0123456789")
WORD = from_ranges([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
SPACE = of("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff") | from_ranges([(0x2000, 0x200A)])
DOT = ANY - of("\n\r\u2028\u2029")
NEWLINE = of("\n")

# Bounds of the same classes in a reading by Unicode properties (Nd, alphabetic, White_Space): exact for ASCII, coarse
# beyond it, so that the sets stay small.
PERHAPS_DIGIT = DIGIT | from_ranges(
    [(0x660, 0x1FFF), (0xA620, 0xABFF), (0xFF10, 0xFF19), (0x104A0, 0x1EFFF), (0x1FBF0, 0x1FBF9)]
)
PERHAPS_WORD = WORD | ~(
    from_ranges([(0, 0x7F), (0xA1, 0xA9), (0xAB, 0xB4), (0xB6, 0xB9), (0xBB, 0xBF), (0xD7, 0xD7), (0xF7, 0xF7)])
    | from_ranges([(0x2010, 0x203E), (0x2041, 0x2053), (0x2055, 0x205E), (0x20A0, 0x20CF), (0x2190, 0x23FF)])
    | from_ranges([(0x2500, 0x2BFF), (0x3001, 0x3004), (0x3008, 0x3020), (0xFF5F, 0xFF65), (0x1F300, 0x1FAFF)])
)
SURE_SPACE = SPACE - of("\ufeff")
PERHAPS_SPACE = SPACE | of("\x85")

_NAME = re.compile(r"(?:([A-Za-z_]+)=)?([A-Za-z0-9_]+)\Z")
_KEYS = {
    "general_category": "gc",
    "gc": "gc",
    "script": "sc",
    "sc": "sc",
    "script_extensions": "scx",
    "scx": "scx",
}


@lru_cache(maxsize=1)
def _every_char() -> str:
    codes = array("I", range(0xD800)) + array("I", range(0xE000, LAST + 1))
    return codes.tobytes().decode("utf-32-le" if sys.byteorder == "little" else "utf-32-be")


def _scan(expression: str) -> CharSet:
    """The characters that one class of the ``regex`` package matches. Raises regex.error for an unknown name."""
    text = _every_char()
    runs = regex.compile(expression + "+").finditer(text)
    return from_ranges((ord(text[m.start()]), ord(text[m.end() - 1])) for m in runs)


_UNASSIGNED = 0x378
"""A code point that no release has given a character."""


@lru_cache(maxsize=1)
def _too_new() -> CharSet:
    """The characters that the release of jsonschema-rs does not know."""
    text = regex.sub(r"\p{Cn}+", "", _every_char())
    known, unknown = (jsonschema_rs.validator_for({"pattern": rf"^\{letter}{{Cn}}*$"}) for letter in "Pp")
    found: list[tuple[int, int]] = []
    todo = [(0, len(text))]
    while todo:
        start, end = todo.pop()
        part = text[start:end]
        if known.is_valid(part):
            continue
        if unknown.is_valid(part):
            found.extend((ord(char), ord(char)) for char in part)
        else:
            middle = (start + end) // 2
            todo += [(start, middle), (middle, end)]
    return from_ranges(found)


def _as_checked(characters: CharSet) -> CharSet:
    if chr(_UNASSIGNED) in characters:
        return characters | _too_new()
    return characters - _too_new()


@lru_cache(maxsize=256)
def unicode_property(name: str) -> CharSet:
    r"""The set of ``\p{name}``: a general category, ``Script=…``, ``Script_Extensions=…`` or a binary property.

    Raises KeyError for a name that the Unicode database does not have.
    """
    found = _NAME.match(name)
    if not found:
        raise KeyError(name)
    key, value = found.groups()
    if key is not None and key.lower() not in _KEYS:
        raise KeyError(name)
    if key is None and value.lower() == "any":
        return ANY
    if key is None and value.lower() == "ascii":
        return from_ranges([(0, 0x7F)])
    try:
        return _as_checked(_scan(rf"\p{{{_KEYS[key.lower()]}={value}}}" if key else rf"\p{{{value}}}"))
    except regex.error as error:
        raise KeyError(name) from error


@lru_cache(maxsize=1)
def _folding() -> dict[int, frozenset[int]]:
    """Code point → all code points with the same simple case folding, for those with more than one."""
    classes: dict[str, set[int]] = {}
    for code in range(0x1F000):
        char = chr(code)
        lower, upper = char.lower(), char.upper()
        if lower == upper == char or 0xD800 <= code <= 0xDFFF:
            continue
        same = {code} | {ord(c) for c in (lower, upper) if len(c) == 1}
        folded = char.casefold()
        name = folded if len(folded) == 1 else lower
        classes.setdefault(name, set()).update(same)
    found: dict[int, set[int]] = {}
    for members in classes.values():
        merged = set(members)
        for code in members:
            merged |= found.get(code, set())
        for code in merged:
            found[code] = merged
    return {code: frozenset(same) for code, same in found.items() if len(same) > 1}


@lru_cache(maxsize=1024)
def ignoring_case(set_: CharSet) -> CharSet:
    """The set with every case variant of its members (simple case folding)."""
    extra = [
        (variant, variant)
        for low, high in set_.ranges
        for code, same in _folding().items()
        if low <= code <= high
        for variant in same
    ]
    return set_ | from_ranges(extra)
