"""From a formula to the states that satisfy it: unit propagation and case distinction, as in DPLL.

The states that come out cover the formula and need not exclude each other: a grammar is a union anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import is_
from typing import Protocol, Self

from schemas.formula import And, Formula, Literal, Or, conjunction, disjunction
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
    """Assume everything that must hold; the choices that remain, or None when nothing does."""
    pending: list[Formula] = [todo]
    open_choices = list(choices)
    while pending:
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
                case _:
                    pending.append(state.assume(formula))
        remaining: list[Or] = []
        for choice in open_choices:
            reduced = reduce(choice, state, goals)
            if isinstance(reduced, Or):
                remaining.append(reduced)
            elif reduced is False:
                return None
            elif reduced is not True:
                pending.append(reduced)
        open_choices = list(dict.fromkeys(remaining))
    return open_choices


def reduce(formula: Formula, state: State, goals: Goals) -> Formula:
    """The formula without what the state decides."""
    if isinstance(formula, bool):
        return formula
    goals.spend(1)
    if not isinstance(formula, And | Or):
        verdict = state.verdict(formula)
        return formula if verdict is None else verdict
    settled = isinstance(formula, Or)
    """What one part must come to for the whole to be decided."""
    parts: list[Formula] = []
    for part in formula.parts:
        reduced = reduce(part, state, goals)
        if reduced is settled:
            return settled
        parts.append(reduced)
    if all(map(is_, parts, formula.parts)):
        return formula
    return disjunction(parts) if settled else conjunction(parts)
