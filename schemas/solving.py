"""From a formula to the states that satisfy it: unit propagation and case distinction, as in DPLL.

The states that come out cover the formula and need not exclude each other: a grammar is a union anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Protocol, Self, TypeVar

from schemas.formula import (
    ANY_MEMBER,
    And,
    Formula,
    Literal,
    Or,
    conjunction,
    disjunction,
    member_of,
)
from schemas.goals import Goals


class State(Protocol):
    """Literals that hold together."""

    def copy(self) -> Self: ...

    def verdict(self, literal: Literal) -> bool | None:
        """Whether ``literal`` follows from the state (True), contradicts it (False), or neither."""

    def assume(self, literal: Literal) -> Formula:
        """Add ``literal``: False on contradiction, otherwise what must hold besides (often True)."""

    def absorb(self, choices: Sequence[Or]) -> Sequence[Or]:
        """The choices that need a case distinction. When there are none, the state has taken over all ``choices``."""


S = TypeVar("S", bound=State)


class TooManyCases(Exception):
    """More cases than asked for."""


def cases(formula: Formula, start: S, goals: Goals, limit: int) -> Iterator[S]:
    """Raises :class:`TooManyCases` after ``limit`` cases, found and failed together."""
    stack: list[tuple[S, Formula, list[Or], bool]] = [(start, formula, [], True)]
    seen = 0
    while stack:
        state, todo, choices, is_last = stack.pop()
        if not is_last:
            state = state.copy()
        left = _propagate(state, todo, choices, goals)
        seen += 1
        if seen > limit:
            raise TooManyCases
        if left is None:
            continue
        hard = state.absorb(left) if left else ()
        if not hard:
            yield state
            continue
        chosen = min(hard, key=lambda choice: len(choice.parts))
        rest = [choice for choice in left if choice is not chosen]
        last = chosen.parts[-1]
        stack.extend((state, part, rest, part is last) for part in reversed(chosen.parts))


def _propagate(state: State, todo: Formula, choices: list[Or], goals: Goals) -> list[Or] | None:
    """Assume everything that must hold; the choices that remain, or None when nothing does.

    ``choices`` are reduced as far as ``state`` goes; so only those that look at what is assumed here are looked at.
    """
    pending: list[Formula] = [todo]
    reduced, fresh = list(choices), list[Or]()
    while pending:
        assumed: list[Literal] = []
        while pending:
            formula = pending.pop()
            if isinstance(formula, And):
                pending.extend(reversed(formula.parts))
            elif isinstance(formula, Or):
                fresh.append(formula)
            elif formula is False:
                return None
            elif formula is not True:
                assumed.append(formula)
                consequence = state.assume(formula)
                if consequence is not True:
                    pending.append(consequence)
        goals.spend(1 + len(assumed))
        if not (reduced or fresh):
            break
        reduction = _Reduction(state, goals, {member_of(literal) for literal in assumed})
        remaining: dict[Or, None] = {}
        for formula in chain(map(reduction.again, reduced), map(reduction.first, fresh)):
            if isinstance(formula, Or):
                remaining[formula] = None
            elif formula is False:
                return None
            elif formula is not True:
                pending.append(formula)
        reduced, fresh = list(remaining), []
    return reduced


class _Reduction:
    """Formulas without what a state decides. What a part comes to is kept: alternatives that exclude each other have
    most of their literals in common."""

    def __init__(self, state: State, goals: Goals, news: set[str]) -> None:
        """``news``: the members that were spoken of since formulas were last reduced."""
        self._state = state
        self._goals = goals
        self._all_is_news = ANY_MEMBER in news
        self._news = news | {ANY_MEMBER}
        self._known: dict[Formula, Formula] = {}

    def first(self, formula: Formula) -> Formula:
        """Of a formula that was never reduced before."""
        known = self._known.get(formula)
        if known is None:
            known = self._known[formula] = self._reduced(formula, self.first)
        return known

    def again(self, formula: Formula) -> Formula:
        """Of one that was, or of a part of it: only what looks at the news can have changed."""
        if not (self._all_is_news or self._looks_at_news(formula)):
            return formula
        known = self._known.get(formula)
        if known is None:
            known = self._known[formula] = self._reduced(formula, self.again)
        return known

    def _looks_at_news(self, formula: Formula) -> bool:
        if isinstance(formula, (And, Or)):
            return not self._news.isdisjoint(formula.members)
        return not isinstance(formula, bool) and member_of(formula) in self._news

    def _reduced(self, formula: Formula, part_of: Callable[[Formula], Formula]) -> Formula:
        self._goals.spend(1)
        if isinstance(formula, bool):
            return formula
        if not isinstance(formula, (And, Or)):
            verdict = self._state.verdict(formula)
            return formula if verdict is None else verdict
        settled = isinstance(formula, Or)
        """What one part must come to for the whole to be decided."""
        parts: list[Formula] = []
        changed = False
        for part in formula.parts:
            reduced = part_of(part)
            if reduced is settled:
                return settled
            changed |= reduced is not part
            parts.append(reduced)
        if not changed:
            return formula
        return disjunction(parts) if settled else conjunction(parts)
