"""Derivatives of extended regular expressions by character classes.

`transitions(node)` gives all of Brzozowski's derivatives at once, as a partition of the alphabet: the outgoing edges of
a state in a deterministic automaton whose states are expressions (Owens, Reppy and Turon, "Regular-expression
derivatives re-examined", 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

from schemas.strings.charset import ANY, CharSet, from_ranges
from schemas.strings.intersections import intersection
from schemas.strings.nodes import Chars, Complement, Concat, Intersection, Nothing, Regex, Repeat, Union, Variable
from schemas.strings.regex import ALL, EMPTY, complement, concat, repeat, union

Edges: TypeAlias = tuple[tuple[CharSet, Regex], ...]
"""Disjoint character sets with their derivative; a character in none of them leads to the empty language."""


@lru_cache(maxsize=1 << 16)
def transitions(node: Regex) -> Edges:
    """The derivatives of ``node``, one edge for each different one, the empty language left out."""
    match node:
        case Chars():
            return ((node.set, EMPTY),)
        case Concat():
            return _concat_edges(node)
        case Repeat():
            rest = repeat(node.inner, max(node.low - 1, 0), None if node.high is None else node.high - 1)
            return _joined([(set_, concat(target, rest)) for set_, target in transitions(node.inner)])
        case Union():
            return overlay([transitions(part) for part in node.parts], union)
        case Intersection():
            return overlay([transitions(part) for part in node.parts], intersection, every=True)
        case Complement():
            edges = [(set_, complement(target)) for set_, target in transitions(node.inner)]
            outside = ANY - from_ranges(pair for set_, _ in edges for pair in set_.ranges)
            return _joined([*edges, (outside, ALL)])
        case Variable():
            return tuple(node.edges)
    return ()


def _concat_edges(node: Concat) -> Edges:
    layers: list[Edges] = []
    rest: Regex = node
    while isinstance(rest, Concat):
        tail = rest.tail
        layers.append(_joined([(set_, concat(target, tail)) for set_, target in transitions(rest.head)]))
        if not rest.head.facts.nullable:
            break
        rest = tail
    else:
        layers.append(transitions(rest))
    return layers[0] if len(layers) == 1 else overlay(layers, union)


def _joined(edges: Sequence[tuple[CharSet, Regex]]) -> Edges:
    """Edges with the same target become one, those to the empty language none."""
    by_target: dict[Regex, CharSet] = {}
    for set_, target in edges:
        if set_ and not isinstance(target, Nothing):
            known = by_target.get(target)
            by_target[target] = set_ if known is None else known | set_
    return tuple((set_, target) for target, set_ in by_target.items())


def overlay(layers: Sequence[Edges], combine: Callable[[Sequence[Regex]], Regex], *, every: bool = False) -> Edges:
    """The edges of a combination: per smallest character class, ``combine`` of the targets there.

    With ``every``, a class that one layer lacks has no edge (intersection).
    """
    targets: list[Regex] = []
    changes: dict[int, int] = {}
    """Per place the targets (as bits) that begin or end there."""
    for layer in layers:
        for set_, target in layer:
            bit = 1 << len(targets)
            for low, high in set_.ranges:
                changes[low] = changes.get(low, 0) ^ bit
                changes[high + 1] = changes.get(high + 1, 0) ^ bit
            targets.append(target)
    found: dict[int, list[tuple[int, int]]] = {}
    active = at = 0
    for place in sorted(changes):
        if active and (not every or active.bit_count() == len(layers)):
            found.setdefault(active, []).append((at, place - 1))
        active ^= changes[place]
        at = place
    # No two neighbours have the same targets, and no range reaches into the surrogates: these are ranges of a CharSet.
    return _joined([(CharSet(tuple(ranges)), combine(_chosen(targets, bits))) for bits, ranges in found.items()])


def _chosen(targets: Sequence[Regex], bits: int) -> list[Regex]:
    return [target for index, target in enumerate(targets) if bits >> index & 1]
