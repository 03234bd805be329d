"""What may stand before a match: the step of the assertion compiler over a part without assertions."""

from __future__ import annotations

from schemas.errors import TooComplex
from schemas.strings.charset import CharSet
from schemas.strings.derivative import transitions
from schemas.strings.edges import as_last, ending
from schemas.strings.elimination import Graph, accepted
from schemas.strings.intersections import intersection
from schemas.strings.nodes import Regex
from schemas.strings.regex import ALL, NONE, concat

MAX_STATES = 64


def before(part: Regex, past: Regex, future: Regex) -> list[tuple[Regex, Regex]]:
    """The places (x, v·w) where v is in ``part``, x·v in ``past`` and w in ``future``.

    x is sorted by the state it leaves the automaton of ``past`` in: from each state q, v must be in ``part`` and lead
    from q to acceptance. Raises TooComplex when ``past`` has more than MAX_STATES states.
    """
    if past == ALL:
        return [(ALL, concat(part, future))]
    empty = [(past, future)] if part.facts.nullable else []
    condition = as_last(past)
    if condition is not None:
        return [*empty, (ALL, concat(ending(part, condition[0]), future))]
    graph = automaton(past)
    found = []
    for state in graph:
        allowed = intersection([part, state])
        if allowed is not NONE:
            found.append((accepted(graph, past, state), concat(allowed, future)))
    return found


def automaton(node: Regex) -> Graph:
    """The deterministic automaton of ``node``: its derivatives as states, the empty language among them."""
    graph: dict[Regex, list[tuple[CharSet, Regex]]] = {}
    todo = [node]
    while todo:
        state = todo.pop()
        if state in graph:
            continue
        if len(graph) >= MAX_STATES:
            raise TooComplex("a look-behind, or what stands before an assertion, has too many states")
        graph[state] = list(transitions(state))
        todo.extend(target for _, target in graph[state])
    return graph
