"""Intersections and complements with a small automaton, written out as plain expressions where that is shorter.

llguidance pays for every ``&`` and ``~`` at each byte; a deterministic expression costs next to nothing.
"""

from __future__ import annotations

from functools import lru_cache

from schemas.strings.charset import CharSet
from schemas.strings.derivative import transitions
from schemas.strings.elimination import Graph, accepted
from schemas.strings.intersections import intersection
from schemas.strings.nodes import Chars, Complement, Intersection, Nothing, Regex, Repeat
from schemas.strings.regex import length, repeat
from schemas.strings.terminal import body

MAX_STATES = 24
MAX_SIZE = 400
"""Larger expressions are left alone: lists of excluded names, which llguidance handles well as they are."""


@lru_cache(maxsize=1024)
def determinised(node: Regex) -> Regex:
    """The same language, plain or with fewer intersections where its automaton is small; else ``node`` itself."""
    if not isinstance(node, Intersection | Complement) or node.facts.size > MAX_SIZE:
        return node
    core, limits = _without_counts(node)
    graph = _automaton(core)
    if graph is None:
        return node
    plain = accepted(graph, core, *(state for state in graph if state.facts.nullable))
    if plain.facts.size > MAX_SIZE:
        return node
    found = intersection([plain, limits])
    return found if isinstance(found, Nothing) or len(body(found)) < len(body(node)) else node


def _without_counts(node: Regex) -> tuple[Regex, Regex]:
    """``node`` as an intersection of one part without counts at its top, and of a length interval."""
    if not isinstance(node, Intersection):
        return node, length(0, None)
    free: list[Regex] = []
    limits: list[Regex] = []
    for part in node.parts:
        if isinstance(part, Repeat) and isinstance(part.inner, Chars):
            free.append(repeat(part.inner, 0, None))
            limits.append(length(part.low, part.high))
        else:
            free.append(part)
    return intersection(free), intersection(limits)


def _automaton(start: Regex) -> Graph | None:
    graph: dict[Regex, list[tuple[CharSet, Regex]]] = {}
    todo = [start]
    while todo:
        state = todo.pop()
        if state in graph:
            continue
        if len(graph) >= MAX_STATES:
            return None
        graph[state] = list(transitions(state))
        todo.extend(target for _, target in graph[state])
    return graph
