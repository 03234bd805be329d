"""From an automaton back to an expression, by eliminating states (Brzozowski and McCluskey, 1963)."""

from __future__ import annotations

from typing import TypeAlias

from schemas.strings.charset import CharSet
from schemas.strings.nodes import Regex
from schemas.strings.regex import EMPTY, NONE, chars, concat, repeat, union

Graph: TypeAlias = dict[Regex, list[tuple[CharSet, Regex]]]
"""A deterministic automaton: per state its edges. States are named by expressions."""

_START, _END = -1, -2


def accepted(graph: Graph, start: Regex, *ends: Regex) -> Regex:
    """The strings that lead from ``start`` to one of ``ends``. No better than exponential in the worst case."""
    number = {state: index for index, state in enumerate(graph)}
    edges: dict[int, dict[int, Regex]] = {index: {} for index in number.values()}
    for state, out in graph.items():
        row = edges[number[state]]
        for set_, next_state in out:
            row[number[next_state]] = union([row.get(number[next_state], NONE), chars(set_)])
    edges[_START] = {number[start]: EMPTY}
    edges[_END] = {}
    for end in ends:
        edges[number[end]][_END] = EMPTY
    left = set(number.values())
    while left:
        into = {index: [i for i, row in edges.items() if index in row and i != index] for index in left}
        # The cheapest first: fewest new edges. Ties by number, so that the result is always the same.
        victim = min(left, key=lambda i: (len(into[i]) * len(edges[i]), i))
        leaving = edges.pop(victim)
        around = repeat(leaving.pop(victim, NONE), 0, None)
        for index in into[victim]:
            first = edges[index].pop(victim)
            for target, last in leaving.items():
                path = concat(first, around, last)
                edges[index][target] = union([edges[index].get(target, NONE), path])
        left.remove(victim)
    return edges[_START].get(_END, NONE)
