"""From a formula to the states that satisfy it: unit propagation and case distinction, as in DPLL.

The states that come out cover the formula and need not exclude each other: a grammar is a union anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, Self

from schemas.formula import (
    ANY_MEMBER,
    And,
    Formula,
    Has,
    Lacks,
    Literal,
    Member,
    Or,
    conjunction,
    disjunction,
    members_of,
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


class TooManyCases(Exception):
    """More cases than asked for."""


def cases(formula: Formula, start: State, goals: Goals, limit: int) -> Iterator[State]:
    """Raises :class:`TooManyCases` after ``limit`` cases, found and failed together."""
    stack: list[tuple[State, Formula, list[Or]]] = [(start, formula, [])]
    seen = 0
    while stack:
        state, todo, choices = stack.pop()
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
        stack.extend((state.copy(), part, rest) for part in reversed(chosen.parts))


def _propagate(state: State, todo: Formula, choices: list[Or], goals: Goals) -> list[Or] | None:
    """Assume everything that must hold; the choices that remain, or None when nothing does.

    ``choices`` are reduced as far as ``state`` goes; so only those that look at what is assumed here are looked at.
    """
    pending: list[Formula] = [todo]
    open_choices = list(choices)
    while pending:
        assumed: set[str] = set()
        fresh: set[Or] = set()
        while pending:
            formula = pending.pop()
            goals.spend(1)
            match formula:
                case True:
                    continue
                case False:
                    return None
                case And(parts):
                    pending.extend(reversed(parts))
                case Or():
                    open_choices.append(formula)
                    fresh.add(formula)
                case _:
                    assumed |= members_of(formula)
                    pending.append(state.assume(formula))
        remaining: list[Or] = []
        for choice in open_choices:
            reduced = reduce(choice, state, goals, None if choice in fresh or ANY_MEMBER in assumed else assumed)
            if isinstance(reduced, Or):
                remaining.append(reduced)
            elif reduced is False:
                return None
            elif reduced is not True:
                pending.append(reduced)
        open_choices = list(dict.fromkeys(remaining))
    return open_choices


def reduce(formula: Formula, state: State, goals: Goals, news: set[str] | None) -> Formula:
    """The formula without what the state decides. ``news``: the members that were spoken of since it was last reduced,
    None for a formula that never was."""
    if isinstance(formula, bool) or (news is not None and not _is_touched(formula, news)):
        return formula
    goals.spend(1)
    if not isinstance(formula, And | Or):
        verdict = state.verdict(formula)
        return formula if verdict is None else verdict
    settled = isinstance(formula, Or)
    """What one part must come to for the whole to be decided."""
    parts: list[Formula] = []
    changed = False
    for part in formula.parts:
        if news is not None and not _is_touched(part, news):
            parts.append(part)
            continue
        reduced = reduce(part, state, goals, news)
        if reduced is settled:
            return settled
        changed |= reduced is not part
        parts.append(reduced)
    if not changed:
        return formula
    return disjunction(parts) if settled else conjunction(parts)


_KEYED = Has | Lacks | Member


def _is_touched(formula: Formula, news: set[str]) -> bool:
    """Whether ``formula`` looks at one of the members ``news``."""
    if isinstance(formula, _KEYED):
        return formula.key in news or not formula.key
    if isinstance(formula, And | Or):
        return not news.isdisjoint(formula.members) or ANY_MEMBER in formula.members
    return True
