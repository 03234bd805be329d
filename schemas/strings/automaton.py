"""Decisions about a language: emptiness, a shortest member, all members, a random one, by exploring derivatives.

The work is counted in units (states and edges seen, weighed by size), never in seconds, and never depends on what
was computed before: the same question has the same answer, or the same `TooComplex`, on every machine.
"""

from __future__ import annotations

import heapq
import random
from functools import lru_cache

from schemas.errors import TooComplex
from schemas.strings.derivative import transitions
from schemas.strings.lengths import may_hold_length
from schemas.strings.membership import matches
from schemas.strings.nodes import Chars, Concat, Empty, Intersection, Nothing, Regex, Repeat, Union, pieces
from schemas.strings.regex import is_length

BUDGET = 12_000
"""Units of work for one question: about half a second."""
LONGEST = 1 << 20
"""Members longer than this are not written out."""


class Work:
    """A budget that runs out."""

    __slots__ = ("left", "question")

    def __init__(self, question: str, units: int = BUDGET) -> None:
        self.question = question
        self.left = units

    def spend(self, node: Regex) -> None:
        """Charges for the derivatives of one state."""
        self.left -= 1 + min(node.facts.size, BUDGET) // 8
        if self.left < 0:
            raise TooComplex(f"{self.question} would take more than the allowed number of steps")


def shortest(node: Regex) -> str | None:
    """A shortest member, ``None`` when there is none. Raises TooComplex over the budget."""
    found = _shortest(node)
    if isinstance(found, TooComplex):
        raise TooComplex(found.reason)
    return found


@lru_cache(maxsize=1 << 14)
def _shortest(node: Regex) -> str | TooComplex | None:
    try:
        if node.facts.shortest > LONGEST:
            raise TooComplex(f"the shortest member is longer than {LONGEST} characters")
        if isinstance(node, Nothing):
            return None
        return _written(node) if node.facts.plain else _search(node)
    except TooComplex as error:
        return error


@lru_cache(maxsize=1 << 14)
def _written(node: Regex) -> str:
    """A shortest member of a language without intersection and complement, read off the expression."""
    match node:
        case Chars():
            return node.set.first()
        case Concat():
            return "".join(map(_written, pieces(node)))
        case Union():
            return _written(min(node.parts, key=lambda part: (part.facts.shortest, part)))
        case Repeat():
            return _written(node.inner) * node.low
    return ""


def _search(start: Regex) -> str | None:
    """A* over the derivatives, with the lower bound that every expression has of its members' length."""
    work = Work("finding a member of the language")
    parents: dict[Regex, tuple[Regex, str] | None] = {start: None}
    queue: list[tuple[int, int, int, Regex]] = [(start.facts.shortest, 0, 0, start)]
    while queue:
        _, _, depth, state = heapq.heappop(queue)
        if state.facts.nullable:
            return _trail(parents, state)
        if state.facts.plain:
            return _trail(parents, state) + _written(state)
        work.spend(state)
        for set_, target in transitions(state):
            if target not in parents:
                parents[target] = (state, set_.first())
                heapq.heappush(queue, (depth + 1 + target.facts.shortest, len(parents), depth + 1, target))
    return None


def _trail(parents: dict[Regex, tuple[Regex, str] | None], state: Regex) -> str:
    letters = []
    step = parents[state]
    while step is not None:
        letters.append(step[1])
        step = parents[step[0]]
    return "".join(reversed(letters))


def is_empty(node: Regex) -> bool:
    """Whether the language has no member. Raises TooComplex over the budget."""
    if node.facts.plain:
        return isinstance(node, Nothing)
    if node.facts.nullable or (isinstance(node, Intersection) and _has_easy_member(node)):
        return False
    return shortest(node) is None


@lru_cache(maxsize=1 << 14)
def _has_easy_member(node: Regex) -> bool:
    """Whether one of a few likely candidates is a member: shortest members of the parts, one after the other."""
    limits = [part for part in node.parts if is_length(part)] if isinstance(node, Intersection) else []
    rest = [part for part in node.parts if part not in limits] if isinstance(node, Intersection) else [node]
    if limits and len(rest) == 1 and rest[0].facts.plain:
        return may_hold_length(rest[0], limits[0].facts.shortest, limits[0].facts.longest)
    if any(part.facts.shortest > 200 for part in rest):
        return False
    words = [_written(part) for part in rest if part.facts.plain]
    return any(matches(node, word) for word in ["".join(words), "".join(reversed(words)), *words])


def members(node: Regex, limit: int) -> list[str] | None:
    """All members, shortest first, or ``None`` when there are more than ``limit``. Raises TooComplex."""
    if isinstance(node, Nothing):
        return []
    if node.facts.plain and node.facts.longest is None:
        return None
    found: list[str] = []
    work = Work("listing the members of the language")
    layer: list[tuple[str, Regex]] = [("", node)]
    while layer:
        below: list[tuple[str, Regex]] = []
        for word, state in layer:
            if state.facts.nullable:
                found.append(word)
            if isinstance(state, Empty):
                continue
            work.spend(state)
            for set_, target in transitions(state):
                if not target.facts.plain and is_empty(target):
                    continue
                if len(found) + len(below) + len(set_) > limit:
                    return None
                below.extend((word + set_.at(i), target) for i in range(len(set_)))
        if len(found) > limit:
            return None
        layer = below
    return found


def sample(node: Regex, rng: random.Random, *, length: int = 12) -> str:
    """A random member, seldom much longer than ``length`` where the language has a short one.

    Raises ValueError for the empty language, TooComplex over the budget.
    """
    if is_empty(node):
        raise ValueError("the language is empty: it has no member to draw")
    letters: list[str] = []
    work = Work("drawing a member of the language")
    while True:
        if len(letters) >= length and not node.facts.nullable:
            rest = shortest(node)
            return "".join(letters) + (rest or "")
        edges = list(transitions(node))
        if node.facts.nullable and (not edges or rng.random() < 0.15 or len(letters) >= length):
            return "".join(letters)
        work.spend(node)
        # Whether a language is empty can be much work, so only the one that is drawn is asked.
        set_, target = edges.pop(rng.randrange(len(edges)))
        while not target.facts.plain and is_empty(target):
            if not edges:
                return "".join(letters)
            set_, target = edges.pop(rng.randrange(len(edges)))
        letters.append(set_.draw(rng))
        node = target
