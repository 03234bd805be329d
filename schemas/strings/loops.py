"""Repetitions with an assertion inside, such as ``(?:(?!--).)*``: least solutions of X = K ∪ f(X).

f prepends and intersects, so X is what an alternating automaton accepts. Its derivatives are positive combinations
of finitely many expressions with the unknown in them; kept as unions of intersections they are the states of a
deterministic automaton, which is turned back into an expression.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b

from schemas.errors import TooComplex
from schemas.strings.charset import ANY, CharSet
from schemas.strings.derivative import transitions
from schemas.strings.edges import starting
from schemas.strings.elimination import Graph, accepted
from schemas.strings.intersections import intersection
from schemas.strings.nodes import Complement, Concat, Facts, Intersection, Regex, Repeat, Union, Variable
from schemas.strings.regex import NONE, concat, union

MAX_STATES = 48
MAX_TERMS = 128
MAX_SIZE = 20_000


def least_solution(constant: Regex, step: Callable[[Regex], Regex]) -> Regex:
    """The least X with X = ``constant`` ∪ ``step(X)``, without the unknown. Raises TooComplex."""
    probe = _unknown(constant, nullable=False)
    nullable = constant.facts.nullable or step(probe).facts.nullable
    unknown = _unknown(step(probe), nullable=nullable)
    definition = _guarded(union([constant, step(unknown)]))
    unknown.edges.extend((set_, _flat(target)) for set_, target in transitions(definition))
    graph: Graph = {}
    todo: list[Regex] = [unknown]
    while todo:
        state = todo.pop()
        if state in graph:
            continue
        if len(graph) >= MAX_STATES:
            raise TooComplex("a repetition of a part with an assertion has too many states")
        graph[state] = _edges(state)
        todo.extend(target for _, target in graph[state])
    result = accepted(graph, unknown, *(state for state in graph if state.facts.nullable))
    if result.facts.size > MAX_SIZE:
        raise TooComplex("a repetition of a part with an assertion is too large when written out")
    return result


def _edges(state: Regex) -> list[tuple[CharSet, Regex]]:
    joined: dict[Regex, CharSet] = {}
    for set_, target in transitions(state):
        flat = _flat(target)
        if flat != NONE:
            joined[flat] = joined[flat] | set_ if flat in joined else set_
    return [(set_, target) for target, set_ in joined.items()]


def _unknown(meaning: Regex, *, nullable: bool) -> Variable:
    key = blake2b(b"unknown%d" % nullable + meaning.facts.key, digest_size=16).digest()
    return Variable(Facts(key, nullable, 0, None, False, 1))


@lru_cache(maxsize=4096)
def _holds_unknown(node: Regex) -> bool:
    match node:
        case Variable():
            return True
        case Concat():
            return _holds_unknown(node.head) or _holds_unknown(node.tail)
        case Union() | Intersection():
            return any(_holds_unknown(part) for part in node.parts)
        case Complement() | Repeat():
            return _holds_unknown(node.inner)
    return False


def _guarded(node: Regex) -> Regex:
    """The part of a definition that reads a character before it comes to the unknown: the rest adds nothing to it."""
    match node:
        case Variable():
            return NONE
        case Concat() if node.head.facts.nullable and _holds_unknown(node.tail):
            return union([concat(starting(node.head, ANY), node.tail), _guarded(node.tail)])
        case Union():
            return union(_guarded(part) for part in node.parts)
        case Intersection():
            return intersection(_guarded(part) for part in node.parts)
    return node


def _flat(node: Regex) -> Regex:
    """The node as a union of intersections, as far as the unknown is concerned."""
    return union(intersection(term) for term in _terms(node)) if _holds_unknown(node) else node


def _terms(node: Regex) -> list[frozenset[Regex]]:
    if not _holds_unknown(node) or not isinstance(node, Union | Intersection):
        return [frozenset([node])]
    if isinstance(node, Union):
        found = [term for part in node.parts for term in _terms(part)]
    else:
        found = [frozenset()]
        for part in node.parts:
            found = _shortest([left | right for left in found for right in _terms(part)])
    return _shortest(found)


def _shortest(terms: list[frozenset[Regex]]) -> list[frozenset[Regex]]:
    """Without the terms that another one implies."""
    different = sorted(set(terms), key=lambda term: (len(term), sorted(term)))
    if len(different) > MAX_TERMS:
        raise TooComplex("a repetition of a part with an assertion combines too many conditions")
    kept: list[frozenset[Regex]] = []
    for term in different:
        if not any(smaller <= term for smaller in kept):
            kept.append(term)
    return kept
