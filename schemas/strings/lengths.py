"""Which lengths the members of an expression have: enough to see that one fits an interval, without unrolling."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from schemas.strings.nodes import Chars, Concat, Regex, Repeat, Union, pieces

Progression: TypeAlias = tuple[int, int, int | None]
"""first, step, last (``None``: endless): lengths that certainly occur. A single length has step 1."""

MAX_KEPT = 6


def may_hold_length(node: Regex, low: int, high: int | None) -> bool:
    """Whether a plain ``node`` certainly has a member of ``low`` to ``high`` characters. False is no proof."""
    return any(_meets(known, low, high) for known in _lengths(node))


def _meets(known: Progression, low: int, high: int | None) -> bool:
    first, step, last = known
    at = first if first >= low else first + -(-(low - first) // step) * step
    return (last is None or at <= last) and (high is None or at <= high)


@lru_cache(maxsize=4096)
def _lengths(node: Regex) -> tuple[Progression, ...]:
    match node:
        case Chars():
            return ((1, 1, 1),)
        case Union():
            return _kept([known for part in node.parts for known in _lengths(part)])
        case Concat():
            total: tuple[Progression, ...] = ((0, 1, 0),)
            for part in pieces(node):
                total = _kept([_sum(left, right) for left in total for right in _lengths(part)])
            return total
        case Repeat():
            return _kept([total for known in _lengths(node.inner) for total in _times(known, node.low, node.high)])
    return ((0, 1, 0),)


def _kept(found: list[Progression]) -> tuple[Progression, ...]:
    """The widest few."""
    ordered = sorted(set(found), key=lambda p: (p[2] is not None, -((p[2] or 0) - p[0]), p))
    return tuple(ordered[:MAX_KEPT])


def _sum(left: Progression, right: Progression) -> Progression:
    if left[1] == right[1] or _single(left) or _single(right):
        step = right[1] if _single(left) else left[1]
        last = None if left[2] is None or right[2] is None else left[2] + right[2]
        return left[0] + right[0], step, last
    wide, narrow = (left, right) if left[2] is None or (right[2] is not None and left[2] > right[2]) else (right, left)
    return wide[0] + narrow[0], wide[1], None if wide[2] is None else wide[2] + narrow[0]


def _single(known: Progression) -> bool:
    return known[0] == known[2]


def _times(known: Progression, low: int, high: int | None) -> list[Progression]:
    first, step, last = known
    if _single(known):
        return [(first * low, max(first, 1), None if high is None else first * high)]
    once = max(low, 1)
    found = [(first * once, step, None if last is None else last * once)]
    if step == 1 and last is not None:
        # From this many rounds on, one more leaves no gap.
        dense = max(once, -(-(first - 1) // (last - first)))
        if high is None or dense <= high:
            found.append((first * dense, 1, None if high is None else last * high))
    return found
