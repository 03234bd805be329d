"""Easy parts of a language, to stand beside it in a grammar: they change no set of strings, but what a mask costs.

llguidance computes a mask by a walk over the whole vocabulary, unless it sees that all tokens of a *slice* of it (say,
those made of letters) may come. It sees that only where one lexeme of the current state begins with a repetition of
characters. In the middle of ``.*-[0-9]{4}.*`` the lexeme is a union of repetition and match, and the walk takes a
millisecond; the same for whatever has an ``&`` or a second ``~`` in it.

So such a language L gets a second lexeme: ``s*w``, with a word w for which every ``u·w``, u ∈ s*, is in L. That is a
part of L, so the union is L; and its derivative by any u is ``s*w`` again, which begins with a repetition. The word
starts with a character that hardly any token starts with.
"""

from __future__ import annotations

from functools import lru_cache

from schemas.errors import TooComplex
from schemas.strings.automaton import shortest
from schemas.strings.charset import ANY, CharSet, from_ranges, of
from schemas.strings.derivative import matches, transitions
from schemas.strings.formats.easy import easy_parts
from schemas.strings.intersections import intersection
from schemas.strings.nodes import Chars, Complement, Concat, Empty, Intersection, Nothing, Regex, Repeat, Union, pieces
from schemas.strings.regex import EMPTY, chars, concat, is_length, letter, repeat

MAX_STATES = 48
MAX_WORK = 400
"""Units of `transitions`, as in `schemas.strings.automaton`: some ten milliseconds, and seldom a tenth of that."""
MAX_PREFIX = 40
LEAST_ROOM = 12
"""A part that ends after fewer characters helps no slice."""

_SMALL_LETTERS = from_ranges([(0x61, 0x7A)])
_LETTERS = from_ranges([(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)])
_LOOPS: tuple[CharSet, ...] = (ANY, _LETTERS | of(" _-./"), _LETTERS | of("_-"), _LETTERS, _SMALL_LETTERS)
"""What may be repeated, the largest first; what breaks the language is taken out, but small letters must stay."""
_RARE = "\ue000\x7f~^`|}@#!;=+*.-_QZ90jqzx"
"""Characters to begin w with: hardly a token starts with the first of them."""


@lru_cache(maxsize=2048)
def shortcuts(node: Regex) -> tuple[Regex, ...]:
    """Parts of the language of ``node`` that let llguidance use its slices: none where there are none, or no need.

    Every string of them is in ``node``. Never raises.
    """
    if _begins_with_repetition(node):
        return ()
    limits = [part for part in node.parts if is_length(part)] if isinstance(node, Intersection) else []
    rest = intersection(part for part in node.parts if part not in limits) if isinstance(node, Intersection) else node
    low, high = (limits[0].low, limits[0].high) if limits else (0, None)
    known = easy_parts(rest, low, high)
    if known is not None:
        return known
    try:
        found = _loops(rest, low, high)
    except TooComplex:
        return ()
    return () if found is None else (found,)


def _begins_with_repetition(node: Regex) -> bool:
    """Whether llguidance sees a repetition in (nearly) every state of the lexeme without our help."""
    parts = pieces(node)
    while parts and isinstance(parts[0], Chars):
        parts.pop(0)
    last = parts[0] if len(parts) == 1 else EMPTY
    return len(parts) < 2 and (isinstance(last, Empty) or (isinstance(last, Repeat) and isinstance(last.inner, Chars)))


def _loops(node: Regex, low: int, high: int | None) -> Regex | None:
    work = _Work()
    prefix = _beginning(node)
    core = node
    for _ in prefix:
        assert isinstance(core, Concat)
        core = core.tail
    if isinstance(core, Concat) and isinstance(core.head, Repeat) and isinstance(core.head.inner, Chars):
        found = _from_head(prefix, core.head, core.head.inner.set, core.tail, low, high)
        if found is not None:
            return found
    first = CharSet(())
    for set_, _ in work.transitions(core):
        first = first | set_
    for most in _LOOPS:
        loop, ending = _loop(core, most & first, work)
        fixed = len(prefix) + len(ending)
        if not loop or (high is not None and high - fixed < LEAST_ROOM):
            continue
        repeated = repeat(chars(loop), max(0, low - fixed), None if high is None else high - fixed)
        return concat(*prefix, repeated, *map(letter, ending))
    return None


def _from_head(
    prefix: list[Regex], head: Repeat, loop: CharSet, tail: Regex, low: int, high: int | None
) -> Regex | None:
    """The part of a language ``p·s{m,n}·t``: as it stands, but with a rare character before one string of t."""
    rare = next((char for char in _RARE if char in loop), None)
    rest = shortest(tail)
    if _SMALL_LETTERS - loop or rare is None or rest is None or len(rest) > MAX_PREFIX:
        return None
    fixed = len(prefix) + 1 + len(rest)
    least = max(head.low - 1, low - fixed, 0)
    limits = [
        n
        for n in (None if head.high is None else head.high - 1, None if high is None else high - fixed)
        if n is not None
    ]
    if limits and min(limits) < max(LEAST_ROOM, least):
        return None
    repeated = repeat(chars(loop), least, min(limits) if limits else None)
    return concat(*prefix, repeated, letter(rare), *map(letter, rest))


class _Work:
    """Counts what the search explores."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MAX_WORK

    def transitions(self, node: Regex) -> tuple[tuple[CharSet, Regex], ...]:
        self.left -= 1 + node.facts.size // 16
        if self.left < 0:
            raise TooComplex("no easy part was found in the allowed number of steps")
        return transitions(node)


def _beginning(node: Regex) -> list[Regex]:
    """The single characters that every string begins with."""
    found: list[Regex] = []
    while isinstance(node, Concat) and isinstance(node.head, Chars) and len(found) < MAX_PREFIX:
        found.append(node.head)
        node = node.tail
    return found


def _loop(node: Regex, loop: CharSet, work: _Work) -> tuple[CharSet, str]:
    """Characters ``s`` of ``loop`` and a word w such that every string of ``s*`` with w behind it is in ``node``.

    No characters where that takes away a small letter."""
    while not _SMALL_LETTERS - loop:
        ending = _ending(node, loop, work)
        bad = loop if ending is None else _bad(node, loop, ending, work)
        if not bad:
            return loop, ending or ""
        loop = loop - bad
    return CharSet(()), ""


def _ending(node: Regex, loop: CharSet, work: _Work) -> str | None:
    """The likeliest w: a rare character, and a shortest string of what may follow."""
    for rare in _RARE:
        for set_, target in work.transitions(node):
            if rare in set_ and rare in loop:
                rest = shortest(target)
                if rest is not None:
                    return rare + rest if len(rest) <= MAX_PREFIX else None
    return None


def _bad(node: Regex, loop: CharSet, word: str, work: _Work) -> CharSet:
    """Characters of ``loop`` to do without, so that ``word`` may follow everywhere; none where it may already."""
    if isinstance(node, Intersection):
        for part in node.parts:
            bad = _bad(part, loop, word, work)
            if bad:
                return bad
        return bad
    if isinstance(node, Complement) and word[-1] not in _last(node.inner):
        return CharSet(())
    return _explored(node, loop, word, work)


def _explored(node: Regex, loop: CharSet, word: str, work: _Work) -> CharSet:
    seen = {node}
    todo = [node]
    if not matches(node, word):
        return loop
    while todo:
        state = todo.pop()
        outside = loop
        for set_, target in work.transitions(state):
            both = set_ & loop
            outside = outside - both
            if both and target not in seen:
                if not matches(target, word):
                    return both
                if len(seen) >= MAX_STATES:
                    raise TooComplex("no easy part was found in the allowed number of states")
                seen.add(target)
                todo.append(target)
        if outside:
            return outside
    return outside


@lru_cache(maxsize=4096)
def _last(node: Regex) -> CharSet:
    """Characters that a string of ``node`` may end with (perhaps more)."""
    found = CharSet(())
    match node:
        case Chars():
            return node.set
        case Concat():
            for part in reversed(pieces(node)):
                found = found | _last(part)
                if not part.facts.nullable:
                    break
        case Union():
            for part in node.parts:
                found = found | _last(part)
        case Repeat():
            return _last(node.inner)
        case Intersection():
            found = ANY
            for part in node.parts:
                found = found & _last(part)
        case Empty() | Nothing():
            pass
        case _:
            return ANY
    return found
