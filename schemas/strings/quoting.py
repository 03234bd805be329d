r"""How characters are spelled inside a JSON string (RFC 8259, section 7), as regular expressions over the JSON text.

A character may stand raw where JSON allows it; as its short escape where it has one (``\" \\ \/ \b \f \n \r \t``); and,
unless it is printable ASCII, as ``\uXXXX`` in either case of the digits, with a surrogate pair above U+FFFF. So both
settings of ``ensure_ascii`` are spellings. Every string has all of its spellings or none: the text language is
*saturated*, and intersection and complement on texts mean the same as on strings. Printable ASCII has no ``\uXXXX``
form here: no serialiser writes it, and it would leave a literal no character that is forced.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from schemas.strings.charset import ANY, CharSet, from_ranges, of

RAW = ANY - from_ranges([(0, 0x1F)]) - of('"\\')
HEXED = ANY - from_ranges([(0x20, 0x7E)])
SHORT = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
_SHORT_SET = of("".join(SHORT))
_BMP = from_ranges([(0, 0xFFFF)])
_DIGIT = "[0-9a-fA-F]"


def literal(char: str) -> str:
    """The character as a regular expression of the Rust ``regex`` syntax, safe inside a Lark ``/…/``."""
    if char.isascii() and (char.isalnum() or char in " _-,:;@#%=<>'!"):
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{{{code:x}}}"


def _in_class(char: str) -> str:
    return char if char.isascii() and char.isalnum() else literal(char) if ord(char) > 0x7F else f"\\x{ord(char):02x}"


def char_class(set_: CharSet) -> str:
    """A set of characters as a regular expression for one raw character."""
    if set_.is_single:
        return literal(chr(set_.ranges[0][0]))
    inverse = ~set_
    negative = set_.ranges[-1][1] == ANY.ranges[-1][1] and len(inverse.ranges) <= len(set_.ranges)
    body = "".join(
        _in_class(chr(low)) if low == high else f"{_in_class(chr(low))}-{_in_class(chr(high))}"
        for low, high in (inverse if negative else set_).ranges
    )
    if negative:
        return f"[^{body}]" if body else "(?s:.)"
    return f"[{body}]"


@lru_cache(maxsize=4096)
def spelling(set_: CharSet) -> tuple[str, ...]:
    """The spellings of one character of ``set_``: regular expressions of which any may match. Never none."""
    raw = set_ & RAW
    found = [char_class(raw)] if raw else []
    escapes = []
    short = set_ & _SHORT_SET
    if short:
        escapes.append(char_class(of("".join(letter for char, letter in SHORT.items() if char in short))))
    hexed = set_ & HEXED
    if hexed:
        numbers = _hex_tree((hexed & _BMP).ranges, 4) + _pairs(hexed - _BMP)
        escapes.append("u" + _any_of(numbers))
    if escapes:
        found.append("\\x5c" + _any_of(escapes))
    return tuple(found)


@lru_cache(maxsize=4096)
def letter_text(char: str) -> str:
    """One character as a regular expression for all its spellings."""
    return _any_of(list(spelling(of(char))))


@lru_cache(maxsize=4096)
def single_quoted(set_: CharSet) -> tuple[str, ...]:
    """The same inside a string in single quotes: JSON's spellings, with ``'`` for ``"`` as what has to be escaped."""
    others = set_ - of("'\"")
    found = list(spelling(others)) if others else []
    if "'" in set_:
        found.append("\\x5c'")
    if '"' in set_:
        found += ["\\x22", "\\x5c\\x22"]
    return tuple(found)


def _any_of(options: list[str]) -> str:
    return options[0] if len(options) == 1 else f"(?:{'|'.join(options)})"


def _hex_tree(ranges: tuple[tuple[int, int], ...], digits: int) -> list[str]:
    """``digits`` hexadecimal digits, in either case, with a value in one of ``ranges`` (ascending): alternatives."""
    if digits == 0:
        return [""]
    unit = 16 ** (digits - 1)
    below: dict[int, list[tuple[int, int]]] = {}
    for low, high in ranges:
        for digit in range(low // unit, high // unit + 1):
            base = digit * unit
            below.setdefault(digit, []).append((max(low - base, 0), min(high - base, unit - 1)))
    rests: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for digit, inside in below.items():
        rests.setdefault(tuple(inside), []).append(digit)
    found = []
    for rest, heads in rests.items():
        head = _digits(tuple(heads))
        if rest == ((0, unit - 1),):
            found.append(head + _DIGIT * (digits - 1))
        else:
            found.append(head + _any_of(_hex_tree(rest, digits - 1)))
    return found


@lru_cache(maxsize=4096)
def _digits(values: tuple[int, ...]) -> str:
    return char_class(of("".join(f"{n:x}{n:X}" for n in values))) if len(values) < 16 else _DIGIT


def _pairs(astral: CharSet) -> list[str]:
    """Surrogate pairs, without the first backslash and u, of the characters of ``astral``."""
    every: list[tuple[int, int]] = []
    trails_of: dict[int, list[tuple[int, int]]] = {}
    for low, high in astral.ranges:
        first, last = low - 0x10000, high - 0x10000
        head, tail = first >> 10, last >> 10
        if head == tail:
            trails_of.setdefault(head, []).append((first & 0x3FF, last & 0x3FF))
            continue
        if first & 0x3FF:
            trails_of.setdefault(head, []).append((first & 0x3FF, 0x3FF))
            head += 1
        if last & 0x3FF != 0x3FF:
            trails_of.setdefault(tail, []).append((0, last & 0x3FF))
            tail -= 1
        if head <= tail:
            every.append((head, tail))
    leads_of: dict[tuple[tuple[int, int], ...], list[tuple[int, int]]] = {((0, 0x3FF),): every} if every else {}
    for lead, trails in trails_of.items():
        leads_of.setdefault(tuple(trails), []).append((lead, lead))
    found = []
    for same, leads in leads_of.items():
        first_units = _any_of(_hex_tree(_shifted(0xD800, sorted(leads)), 4))
        found.append(f"{first_units}\\x5cu{_any_of(_hex_tree(_shifted(0xDC00, same), 4))}")
    return found


def _shifted(base: int, ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple((base + low, base + high) for low, high in ranges)
