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

from dataclasses import dataclass
from functools import lru_cache

from schemas.errors import TooComplex
from schemas.strings.automaton import shortest
from schemas.strings.charset import ANY, CharSet, from_ranges, of
from schemas.strings.derivative import transitions
from schemas.strings.formats.easy import easy_parts
from schemas.strings.intersections import intersection
from schemas.strings.membership import matches
from schemas.strings.nodes import Chars, Complement, Concat, Empty, Intersection, Nothing, Regex, Repeat, Union, pieces
from schemas.strings.regex import EMPTY, chars, concat, is_length, letter, repeat

MAX_STATES = 96
MAX_WORK = 200
"""Units of `transitions`, as in `schemas.strings.automaton`: some milliseconds, and seldom a tenth of that."""
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
def shortcuts(node: Regex, without: str = "") -> tuple[Regex, ...]:
    """Parts of the language of ``node`` that let llguidance use its slices: none where there are none, or no need.
    ``without``: characters such that a part without one of them is likely; the first is tried first.

    Every string of them is in ``node``. Never raises.
    """
    if _begins_with_repetition(node):
        return ()
    limits = [part for part in node.parts if is_length(part)] if isinstance(node, Intersection) else []
    rest = intersection(part for part in node.parts if part not in limits) if isinstance(node, Intersection) else node
    low, high = (limits[0].low, limits[0].high) if limits else (0, None)
    try:
        return _of_formats(rest, low, high) or _loops(rest, low, high, without)
    except TooComplex:
        return ()


def _of_formats(node: Regex, low: int, high: int | None) -> tuple[Regex, ...]:
    """The easy parts of a format, or those of them that are within all that stands beside it."""
    parts = node.parts if isinstance(node, Intersection) else (node,)
    for part in parts:
        known = easy_parts(part, low, high)
        if known is not None:
            others = [other for other in parts if other is not part]
            return tuple(easy for easy, around in known if all(_is_within(around, other) for other in others))
    return ()


def _is_within(part: Regex, whole: Regex) -> bool:
    """Whether every string of ``part`` is in ``whole``; perhaps no where that is too much work."""
    work = _Work()
    seen = {(part, whole)}
    todo = [(part, whole)]
    while todo:
        small, large = todo.pop()
        if not work.allows(large, len(seen)) or (small.facts.nullable and not large.facts.nullable):
            return False
        for set_, target in transitions(small):
            for other, into in transitions(large):
                if set_ & other and (target, into) not in seen:
                    seen.add((target, into))
                    todo.append((target, into))
                set_ = set_ - other
            if set_:
                return False
    return True


def _begins_with_repetition(node: Regex) -> bool:
    """Whether llguidance sees a repetition in (nearly) every state of the lexeme without our help."""
    parts = pieces(node)
    while parts and isinstance(parts[0], Chars):
        parts.pop(0)
    last = parts[0] if len(parts) == 1 else EMPTY
    return len(parts) < 2 and (isinstance(last, Empty) or (isinstance(last, Repeat) and isinstance(last.inner, Chars)))


def _loops(node: Regex, low: int, high: int | None, without: str) -> tuple[Regex, ...]:
    """Parts ``p·s{m,n}·w`` with large ``s``, which must hold all small letters."""
    prefix: list[Regex] = []
    while isinstance(node, Concat) and isinstance(node.head, Chars) and len(prefix) < MAX_PREFIX:
        prefix.append(node.head)
        node = node.tail
    if isinstance(node, Concat) and isinstance(node.head, Repeat) and isinstance(node.head.inner, Chars):
        found = _from_head(prefix, node.head, node.head.inner.set, node.tail, low, high)
        if found is not None:
            return (found,)
    loops = [(prefix, loop)] if (loop := _loop(node, _Work(), without)) is not None else []
    wanted = ANY - of(without[0]) if without else of(" ")
    if not any(not wanted - loop.set for _, loop in loops):
        # One character on, more may follow: \S.* begins so.
        for set_, target in transitions(node):
            if "a" in set_ and (loop := _loop(target, _Work(), without)) is not None and not wanted - loop.set:
                loops.append(([*prefix, chars(set_)], loop))
    written = (_written(before, loop, low, high) for before, loop in loops)
    return tuple(part for part in written if part is not None)


def _written(prefix: list[Regex], loop: _Loop, low: int, high: int | None) -> Regex | None:
    fixed = len(prefix) + len(loop.ending)
    limits = [count for count in (loop.most, None if high is None else high - fixed) if count is not None]
    least = max(0, low - fixed)
    if limits and min(limits) < max(LEAST_ROOM, least):
        return None
    repeated = repeat(chars(loop.set), least, min(limits) if limits else None)
    return concat(*prefix, repeated, *map(letter, loop.ending))


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

    def allows(self, node: Regex, states: int) -> bool:
        self.left -= 1 + node.facts.size // 16
        return self.left >= 0 and states <= MAX_STATES

    def transitions(self, node: Regex) -> tuple[tuple[CharSet, Regex], ...]:
        if not self.allows(node, 0):
            raise TooComplex("no easy part was found in the allowed number of steps")
        return transitions(node)


@dataclass(frozen=True, slots=True)
class _Loop:
    """``set{0,most}`` with ``ending`` behind it: a part of a language."""

    set: CharSet
    ending: str
    most: int | None = None


def _loop(node: Regex, work: _Work, without: str) -> _Loop | None:
    try:
        return _largest(node, work, without)
    except TooComplex:
        return None


def _largest(node: Regex, work: _Work, without: str) -> _Loop | None:
    first = from_ranges(pair for set_, _ in work.transitions(node) for pair in set_.ranges)
    for most in (*(ANY - of(char) for char in without), *_LOOPS):
        loop = most & first
        while not _SMALL_LETTERS - loop:
            ending = _ending(node, loop, work)
            if ending is None:
                break
            found = _judged(node, loop, ending, work)
            if isinstance(found, _Loop):
                return found
            loop = loop - found
    return None


def _ending(node: Regex, loop: CharSet, work: _Work) -> str | None:
    """The likeliest w: a rare character, and a shortest string of what may follow."""
    for rare in _RARE:
        for set_, target in work.transitions(node):
            if rare in set_ and rare in loop:
                rest = shortest(target)
                if rest is not None:
                    return rare + rest if len(rest) <= MAX_PREFIX else None
    return None


def _judged(node: Regex, loop: CharSet, word: str, work: _Work) -> _Loop | CharSet:
    """The longest loop after which ``word`` may come at any time; or characters of ``loop`` that must not be in it."""
    if isinstance(node, Intersection):
        most: int | None = None
        for part in node.parts:
            found = _judged(part, loop, word, work)
            if isinstance(found, CharSet):
                return found
            if found.most is not None:
                most = found.most if most is None else min(most, found.most)
        return _Loop(loop, word, most)
    if isinstance(node, Complement) and word[-1] not in _last(node.inner):
        return _Loop(loop, word)
    return _explored(node, loop, word, work)


def _explored(node: Regex, loop: CharSet, word: str, work: _Work) -> _Loop | CharSet:
    """As `_judged`, by the states that characters of ``loop`` lead to, the nearest first."""
    if not matches(node, word):
        return loop
    seen, near, depth = {node}, [node], 0
    while near:
        further: list[Regex] = []
        for state in near:
            if not work.allows(state, len(seen)):
                return _Loop(loop, word, depth)
            good: list[tuple[int, int]] = []
            for set_, target in transitions(state):
                both = set_ & loop
                if both and (target in seen or matches(target, word)):
                    good.extend(both.ranges)
                    if target not in seen:
                        seen.add(target)
                        further.append(target)
            bad = loop - from_ranges(good)
            if bad:
                return bad if depth < LEAST_ROOM else _Loop(loop, word, depth)
        near, depth = further, depth + 1
    return _Loop(loop, word)


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
