"""Lowers a string language to a terminal of llguidance's Lark dialect that matches the JSON texts of its strings, or
the strings themselves.

Without intersection and complement the terminal is one ``/…/``. Otherwise it is an expression of the terminal level,
where llguidance takes ``&`` (binds tighter than ``|``) and ``~`` (tightest), which its ``/…/`` does not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from schemas.strings.charset import ANY, CharSet
from schemas.strings.nodes import Chars, Complement, Concat, Empty, Intersection, Nothing, Regex, Repeat, Union, pieces
from schemas.strings.quoting import char_class, single_quoted, spelling
from schemas.strings.regex import ALL, chars, is_length, repeat

Spell: TypeAlias = Callable[[CharSet], tuple[str, ...]]
"""The spellings of one character of a set, as regular expressions."""

UNBOUNDED = 1 << 24
"""A repetition of more than this is lowered without its bound: no answer of a model is that long (16 M characters)."""


def terminal(node: Regex) -> str:
    """The terminal expression for the JSON strings of ``node``, quotes included. Raises ValueError when it is empty."""
    if isinstance(node, Nothing):
        raise ValueError("the empty language has no terminal: decide emptiness before lowering")
    if node.facts.plain:
        return f'/"{_regex(node, spelling)}"/'
    return f'"\\"" {_expression(node, spelling)} "\\""'


def body(node: Regex) -> str:
    """As `terminal`, without the quotes: for a terminal that adds its own text around the string."""
    if isinstance(node, Nothing):
        raise ValueError("the empty language has no terminal: decide emptiness before lowering")
    return _expression(node, spelling)


def in_single_quotes(node: Regex) -> str:
    """As `terminal`, for strings in single quotes (`schemas.strings.quoting.single_quoted`)."""
    if isinstance(node, Nothing):
        raise ValueError("the empty language has no terminal: decide emptiness before lowering")
    return f"/'{_regex(node, single_quoted)}'/" if node.facts.plain else f'"\'" {_expression(node, single_quoted)} "\'"'


def raw(node: Regex) -> str:
    """One operand of the terminal level for the strings of ``node`` themselves, without quotes and escapes. Raises
    ValueError when it is empty."""
    if isinstance(node, Nothing):
        raise ValueError("the empty language has no terminal: decide emptiness before lowering")
    return _expression(node, _as_it_is)


def _as_it_is(members: CharSet) -> tuple[str, ...]:
    return (char_class(members),)


def _bounds(low: int, high: int | None) -> tuple[int, int | None]:
    return min(low, UNBOUNDED), None if high is None or high > UNBOUNDED else high


def _quantifier(low: int, high: int | None) -> str:
    low, high = _bounds(low, high)
    match low, high:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
    if low == high:
        return f"{{{low}}}"
    return f"{{{low},{'' if high is None else high}}}"


@lru_cache(maxsize=4096)
def _regex(node: Regex, spell: Spell) -> str:
    """A node without intersection and complement in the Rust ``regex`` syntax."""
    match node:
        case Chars():
            options = spell(node.set)
            return options[0] if len(options) == 1 else f"(?:{'|'.join(options)})"
        case Concat():
            return "".join(_regex(part, spell) for part in pieces(node))
        case Union():
            return f"(?:{'|'.join(_regex(part, spell) for part in node.parts)})"
        case Repeat():
            inner = _regex(node.inner, spell)
            single = isinstance(node.inner, Chars | Union) and len(_spellings(node.inner, spell)) != 1
            if not single and not _is_class(inner):
                inner = f"(?:{inner})"
            return inner + _quantifier(node.low, node.high)
    return ""


def _narrowed(parts: tuple[Regex, ...]) -> list[Regex]:
    """The parts of an intersection, with a bound of the length over those characters only that the others have.

    The same language, and half the work for the lexer: it need not follow each escape through the count.
    """
    letters = ANY
    for part in parts:
        if not is_length(part):
            letters = letters & _alphabet(part)
    if letters == ANY or not letters:
        return list(parts)
    return [repeat(chars(letters), part.low, part.high) if is_length(part) else part for part in parts]


@lru_cache(maxsize=4096)
def _alphabet(node: Regex) -> CharSet:
    """The characters of the strings of ``node``, perhaps more."""
    match node:
        case Chars():
            return node.set
        case Repeat():
            return _alphabet(node.inner)
        case Concat() | Union():
            found = CharSet(())
            for part in pieces(node) if isinstance(node, Concat) else node.parts:
                found = found | _alphabet(part)
            return found
        case Intersection():
            found = ANY
            for part in node.parts:
                found = found & _alphabet(part)
            return found
    return CharSet(()) if isinstance(node, Empty) else ANY


def _spellings(node: Regex, spell: Spell) -> tuple[str, ...]:
    return spell(node.set) if isinstance(node, Chars) else ()


def _is_class(text: str) -> bool:
    return len(text) == 1 or (text[0] == "[" and text.find("]") == len(text) - 1)


def _expression(node: Regex, spell: Spell) -> str:
    """Any node as one operand of the terminal level."""
    if isinstance(node, Empty):
        return '""'
    if node.facts.plain:
        return f"/{_regex(node, spell)}/"
    match node:
        case Concat():
            parts: list[str] = []
            rest: Regex = node
            while isinstance(rest, Concat) and not rest.facts.plain:
                parts.append(_expression(rest.head, spell))
                rest = rest.tail
            parts.append(_expression(rest, spell))
            return f"( {' '.join(parts)} )"
        case Union():
            return f"( {' | '.join(_expression(part, spell) for part in node.parts)} )"
        case Intersection():
            positive = [_expression(part, spell) for part in _narrowed(node.parts) if not isinstance(part, Complement)]
            negative = [f"~{_expression(part.inner, spell)}" for part in node.parts if isinstance(part, Complement)]
            return f"( {' & '.join([*(positive or [_expression(ALL, spell)]), *negative])} )"
        case Complement():
            return f"( {_expression(ALL, spell)} & ~{_expression(node.inner, spell)} )"
        case Repeat():
            return f"( {_expression(node.inner, spell)} ){_quantifier(node.low, node.high)}"
    raise AssertionError(f"a plain node must not come here: {type(node).__name__}")
