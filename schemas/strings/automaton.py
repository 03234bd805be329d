"""Decisions about a language: emptiness, a shortest member, all members, a random one, by exploring derivatives.

The work is counted in units (states and edges seen, weighed by size), never in seconds, and never depends on what
was computed before: the same question has the same answer, or the same `TooComplex`, on every machine.
"""

from __future__ import annotations

import random
from collections import deque
from functools import lru_cache

from schemas.errors import TooComplex
from schemas.strings.derivative import transitions
from schemas.strings.nodes import Empty, Nothing, Regex

BUDGET = 200_000
"""Units of work for one question: about half a second."""


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


@lru_cache(maxsize=1 << 14)
def _shortest(node: Regex) -> str | TooComplex | None:
    work = Work("finding a member of the language")
    parents: dict[Regex, tuple[Regex, str] | None] = {node: None}
    queue = deque([node])
    try:
        while queue:
            state = queue.popleft()
            if state.facts.nullable:
                return _trail(parents, state)
            work.spend(state)
            for set_, target in transitions(state):
                if target not in parents:
                    parents[target] = (state, set_.first())
                    queue.append(target)
    except TooComplex as error:
        return error
    return None


def _trail(parents: dict[Regex, tuple[Regex, str] | None], state: Regex) -> str:
    letters = []
    step = parents[state]
    while step is not None:
        letters.append(step[1])
        step = parents[step[0]]
    return "".join(reversed(letters))


def shortest(node: Regex) -> str | None:
    """A shortest member, ``None`` when there is none. Raises TooComplex over the budget."""
    found = _shortest(node)
    if isinstance(found, TooComplex):
        raise TooComplex(found.reason)
    return found


def is_empty(node: Regex) -> bool:
    """Whether the language has no member. Raises TooComplex over the budget."""
    if node.facts.plain:
        return isinstance(node, Nothing)
    if node.facts.nullable:
        return False
    return shortest(node) is None


def members(node: Regex, limit: int) -> list[str] | None:
    """All members, shortest first, or ``None`` when there are more than ``limit``. Raises TooComplex."""
    if isinstance(node, Nothing):
        return []
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
                if is_empty(target):
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
        edges = [(set_, target) for set_, target in transitions(node) if not is_empty(target)]
        if node.facts.nullable and (not edges or rng.random() < 0.15 or len(letters) >= length):
            return "".join(letters)
        work.spend(node)
        if len(letters) >= length:
            rest = shortest(node)
            if rest is not None:
                return "".join(letters) + rest
        set_, node = edges[rng.randrange(len(edges))]
        low, high = set_.ranges[rng.randrange(len(set_.ranges))] if rng.random() < 0.2 else set_.ranges[0]
        letters.append(set_.first() if rng.random() < 0.3 else chr(rng.randint(low, high)))
