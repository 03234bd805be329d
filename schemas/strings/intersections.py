"""Intersections in normal form; length intervals go into the counts of the other parts where that is exact."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from schemas.strings.charset import CharSet
from schemas.strings.nodes import (
    MAX_SIZE,
    Chars,
    Complement,
    Empty,
    Facts,
    Intersection,
    Nothing,
    Regex,
    Repeat,
    Union,
    pieces,
)
from schemas.strings.regex import EMPTY, NONE, chars, concat, digest, is_length, length, repeat, union

MAX_CASES = 8


def intersection(parts: Iterable[Regex]) -> Regex:
    """Every string that is in all parts."""
    return _intersection(tuple(parts))


@lru_cache(maxsize=1 << 14)
def _intersection(parts: tuple[Regex, ...]) -> Regex:
    pool: dict[Regex, None] = {}
    letters: CharSet | None = None
    low, high = 0, None
    todo = list(parts)
    while todo:
        part = todo.pop()
        if isinstance(part, Intersection):
            todo.extend(part.parts)
        elif isinstance(part, Chars):
            letters = part.set if letters is None else letters & part.set
        elif is_length(part):
            low = max(low, part.low)
            high = part.high if high is None or (part.high is not None and part.high < high) else high
        else:
            pool[part] = None
    if letters is not None:
        pool[chars(letters)] = None
    if not pool:
        return length(low, high)
    if any(isinstance(part, Nothing) or (isinstance(part, Complement) and part.inner in pool) for part in pool):
        return NONE
    if EMPTY in pool:
        return EMPTY if low == 0 and all(part.facts.nullable for part in pool) else NONE
    if low or high is not None:
        _apply_length(pool, low, high)
        if any(isinstance(part, (Nothing, Empty)) for part in pool):
            return intersection(pool)
    if len(pool) == 1:
        return next(iter(pool))
    ordered = tuple(sorted(pool))
    keys, nullables, shortest, longest, _, sizes = zip(*(part.facts for part in ordered), strict=True)
    least, most = max(shortest), min((length for length in longest if length is not None), default=None)
    if most is not None and least > most:
        return NONE
    facts = Facts(digest(b"intersection", *keys), all(nullables), least, most, False, min(sum(sizes) + 1, MAX_SIZE))
    return Intersection(facts, ordered)


def _apply_length(pool: dict[Regex, None], low: int, high: int | None) -> None:
    """Takes the length interval into one part where that is exact, else adds it as a part of its own."""
    for part in list(pool):
        fitted = _fit_length(part, low, high)
        if fitted is not None:
            del pool[part]
            pool[fitted] = None
            return
    pool[length(low, high)] = None


def _fit_length(node: Regex, low: int, high: int | None) -> Regex | None:
    """The strings of ``node`` with ``low`` to ``high`` characters, without an intersection; ``None`` if unknown."""
    f = node.facts
    if f.shortest >= low and (high is None or (f.longest is not None and f.longest <= high)):
        return node
    if (high is not None and f.shortest > high) or (f.longest is not None and f.longest < low):
        return NONE
    if isinstance(node, Union):
        fitted = [_fit_length(part, low, high) for part in node.parts]
        return union(part for part in fitted if part is not None) if None not in fitted else None
    parts = pieces(node)
    loose = [i for i, part in enumerate(parts) if part.facts.shortest != part.facts.longest]
    if not f.plain:
        return None
    if len(loose) > 1:
        return _fit_each(parts, loose, low, high)
    part = parts[loose[0]]
    if not isinstance(part, Repeat) or part.inner.facts.shortest != part.inner.facts.longest:
        return None
    step = part.inner.facts.shortest
    fixed = f.shortest - part.facts.shortest
    least = max(part.low, -((fixed - low) // step))
    most = None if high is None else (high - fixed) // step
    if part.high is not None:
        most = part.high if most is None else min(most, part.high)
    parts[loose[0]] = repeat(part.inner, least, most)
    return concat(*parts)


def _fit_each(parts: list[Regex], loose: list[int], low: int, high: int | None) -> Regex | None:
    """As `_fit_length`, with one of the smaller loose parts (an optional letter, a few words) split into its cases."""
    choices = [(_cases(parts[i]), i) for i in loose]
    cases, at = min(((found, i) for found, i in choices if found), key=lambda c: len(c[0]), default=(None, 0))
    if cases is None or len(cases) ** (len(loose) - 1) > MAX_CASES:
        return None
    fitted = [_fit_length(concat(*parts[:at], case, *parts[at + 1 :]), low, high) for case in cases]
    return None if None in fitted else union(part for part in fitted if part is not None)


def _cases(part: Regex) -> list[Regex] | None:
    """The part as a few parts of one length each, ``None`` where they would be many."""
    found: list[Regex] = []
    if isinstance(part, Union):
        found = list(part.parts)
    elif isinstance(part, Repeat) and part.high is not None and part.high - part.low < MAX_CASES:
        found = [repeat(part.inner, count, count) for count in range(part.low, part.high + 1)]
    fixed = all(case.facts.shortest == case.facts.longest for case in found)
    return found if found and fixed and len(found) <= MAX_CASES else None
