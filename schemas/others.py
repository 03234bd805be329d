"""The members of an object whose names are no slots: their names fall into classes by the patterns that they match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from schemas.compiled import Residue
from schemas.errors import TooComplex
from schemas.formula import Region
from schemas.goals import ANYTHING, GoalId
from schemas.shapes import NameClass, Others
from schemas.stringset import StringSet

if TYPE_CHECKING:
    from schemas.algebra import Algebra
    from schemas.objects import ObjectState

MAX_OVERLAPPING = 20
"""Patterns of names that are told apart although they overlap; any number of them when they do not."""


def others(state: ObjectState, names: Sequence[str]) -> Iterator[Others]:
    """The names beside ``names``, split by the patterns that tell their values apart."""
    regions = list(state.every.items())
    patterns: dict[StringSet, None] = {}
    for region in (*state.every, *(some.region for some in state.some)):
        patterns.update(dict.fromkeys(region.without))
        if region.within is not None:
            patterns[region.within] = None
    classes = _known_classes(state.algebra, tuple(patterns))
    if classes is None:
        yield _any_other(state, names)
        return
    without = StringSet.literals(sorted(names)) if names else StringSet.NONE
    joined: dict[tuple[GoalId, tuple[tuple[int, GoalId], ...]], StringSet] = {}
    for language, matched in classes:
        goal = state.algebra.goals.conjunction(goal for region, goal in regions if _covers(region, matched))
        if state.algebra.is_empty(goal):
            continue
        left = language & ~without if names else language
        if names and language != StringSet.ALL and _is_empty(left):
            continue
        witness = tuple(_witnesses(state, goal, matched))
        known = joined.get((goal, witness))
        joined[goal, witness] = left if known is None else known | left
    for (goal, witness), language in joined.items():
        yield Others(language, goal, witness)


def _known_classes(algebra: Algebra, patterns: tuple[StringSet, ...]) -> list[NameClass] | None:
    known = algebra.name_classes
    if patterns not in known:
        known[patterns] = _classes(algebra, patterns)
    return known[patterns]


def _classes(algebra: Algebra, patterns: tuple[StringSet, ...]) -> list[NameClass] | None:
    """All names, split by the patterns that they match; None where the patterns overlap in too many ways."""
    classes: list[NameClass] = []
    for count, pattern in enumerate(patterns, 1):
        own = pattern
        split: list[NameClass] = []
        for language, inside in classes:
            algebra.goals.spend(20)
            hit, miss = language & pattern, language
            if not _is_empty(hit):
                split.append((hit, inside | {pattern}))
                # Only what overlaps is cut, so that classes of patterns that do not stay as simple as these are.
                own, miss = own & ~language, language & ~pattern
            if miss is language or not _is_empty(miss):
                split.append((miss, inside))
        if own is pattern or not _is_empty(own):
            split.append((own, frozenset((pattern,))))
        classes = split
        # Patterns that overlap freely double the classes, and each question about one takes longer than the last.
        if len(classes) > 8 + 3 * count or (count > MAX_OVERLAPPING and len(classes) > count + 4):
            return None
    rest = StringSet.ALL
    for pattern in patterns:
        rest = rest & ~pattern
    if not patterns or not _is_empty(rest):
        classes.append((rest, frozenset()))
    return classes


def _any_other(state: ObjectState, names: Sequence[str]) -> Others:
    """Any value under any other name, where the patterns overlap in too many ways."""
    path = state.algebra.goals.path(next(iter(state.every.values()), ANYTHING))
    why = "the patterns overlap in too many ways"
    state.residue[Residue(path, "patternProperties", why)] = None
    mask = (1 << len(state.some)) - 1
    return Others(~StringSet.literals(names), ANYTHING, ((mask, ANYTHING),) if mask else ())


def _witnesses(state: ObjectState, goal: GoalId, matched: frozenset[StringSet]) -> Iterator[tuple[int, GoalId]]:
    """Sets of witnesses that one member with a name of this class can be at once."""
    found: list[tuple[int, GoalId]] = [(0, goal)]
    for bit, some in enumerate(state.some):
        if _covers(some.region, matched):
            for mask, values in list(found):
                joint = state.algebra.goals.conjunction((values, some.goal))
                if not state.algebra.is_empty(joint):
                    found.append((mask | 1 << bit, joint))
    yield from found[1:]


def _covers(region: Region, matched: frozenset[StringSet]) -> bool:
    """Whether a class of names that match exactly ``matched`` lies in ``region``, whose names are slots."""
    return (region.within is None or region.within in matched) and not any(p in matched for p in region.without)


def _is_empty(language: StringSet) -> bool:
    try:
        return language.is_empty()
    except TooComplex:
        return False
