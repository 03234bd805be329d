"""The ways in which the subschemas of one value can hold together, each with what they have looked at: what
``unevaluated*`` and closed objects depend on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from schemas import keywords
from schemas.evaluated import Evaluated
from schemas.formula import Every, Formula, From, Has, Lacks, Unknown, conjunction, disjunction
from schemas.goals import NOTHING, GoalId, Mode
from schemas.node import Node, NodeId

if TYPE_CHECKING:
    from schemas.reading import Kind, Reader

MAX_ALTERNATIVES = 64
"""Combinations of in-place subschemas whose evaluated members or items are told apart."""

Alternative: TypeAlias = tuple[Formula, Evaluated]


def alternatives(reader: Reader, node_id: NodeId, mode: Mode, kind: Kind) -> list[Alternative] | None:
    """Ways in which the node can hold, together all of them, each with what is then evaluated at least.

    More evaluated makes ``unevaluated*`` weaker, so a way that leaves open whether a further subschema holds is
    covered by the way in which it does. ``None`` where there are more than :data:`MAX_ALTERNATIVES`.
    """
    node = reader.goals.nodes[node_id]
    own = reader.own(node, mode, kind)
    total: list[Alternative] = [(own, keywords.own_evaluated(reader, node, kind))]
    for factor in _factors(reader, node, mode, kind):
        if factor is None:
            return None
        crossed = [(conjunction((left, right)), seen | more) for left, seen in total for right, more in factor]
        total = _merged(crossed)
        reader.goals.spend(len(crossed), node.path)
        if len(total) > MAX_ALTERNATIVES:
            return None
    unevaluated = node.unevaluated_properties if kind == "object" else node.unevaluated_items
    if unevaluated is not None:
        goal = reader.goals.atom(unevaluated, _below(mode))
        total = [
            (conjunction((way, _rest(reader, seen, goal, kind))), Evaluated(everything=True)) for way, seen in total
        ]
    return _merged(total)


def _factors(reader: Reader, node: Node, mode: Mode, kind: Kind) -> list[list[Alternative] | None]:
    """The alternatives of each subschema that applies to the same value."""
    factors = [alternatives(reader, child, mode, kind) for child in (*node.refs, *node.all_of)]
    if node.any_of:
        factors.append(_some_of(reader, [alternatives(reader, child, mode, kind) for child in node.any_of], kind))
    if node.one_of:
        factors.append(_one_of(reader, node, mode, kind))
    if node.not_ is not None:
        factors.append([(reader.negated(node.not_, kind), Evaluated())])
    if node.if_ is not None:
        factors.append(_conditional(reader, node, mode, kind))
    if kind == "object":
        for key, child in node.dependencies:
            ways = alternatives(reader, child, mode, kind)
            factors.append(_where(key, None if ways is None else [(way, _unseen(seen)) for way, seen in ways]))
        for key, child in node.dependent_schemas:
            factors.append(_where(key, alternatives(reader, child, mode, kind)))
    return factors


def _where(key: str, ways: list[Alternative] | None) -> list[Alternative] | None:
    """The ways where the member ``key`` is there, and that it is not."""
    if ways is None:
        return None
    return [(Lacks(key), Evaluated()), *((conjunction((Has(key), way)), seen) for way, seen in ways)]


def _unseen(evaluated: Evaluated) -> Evaluated:
    """Of a subschema that evaluates nothing: what it declares stays allowed where undeclared members are forbidden."""
    free = evaluated.everything or evaluated.roomy or bool(evaluated.patterns or evaluated.unknown)
    return Evaluated(demanded=evaluated.names | evaluated.demanded, declares=evaluated.declares, roomy=free)


def _rest(reader: Reader, seen: Evaluated, goal: GoalId, kind: Kind) -> Formula:
    if seen.everything:
        return True
    if seen.unknown:
        return Unknown(min(seen.unknown, key=str))
    if kind == "object":
        return Every(seen.rest(), goal)
    return From(seen.prefix, reader.goals.disjunction((goal, *seen.matched)))


def _one_of(reader: Reader, node: Node, mode: Mode, kind: Kind) -> list[Alternative] | None:
    exact = reader.exactly_one(node, mode, kind)
    ways: list[Alternative] = []
    for child, only in zip(node.one_of, exact, strict=True):
        if only is False:
            continue
        inner = alternatives(reader, child, mode, kind)
        if inner is None:
            return None
        # The branch's own formula is implied by its alternatives; keep what excludes the other branches.
        ways.extend((conjunction((way, only)) if len(inner) > 1 else only, seen) for way, seen in inner)
    return ways


def _conditional(reader: Reader, node: Node, mode: Mode, kind: Kind) -> list[Alternative] | None:
    ways: list[Alternative] = []
    for formula, holding in reader.conditional(node, mode, kind):
        case: list[Alternative] = [(formula, Evaluated())]
        for child in holding:
            inner = alternatives(reader, child, mode, kind)
            if inner is None:
                return None
            case = [
                (conjunction((left, right)) if len(inner) > 1 else left, seen | more)
                for left, seen in case
                for right, more in inner
            ]
        ways.extend(case)
    return ways


def _some_of(reader: Reader, branches: Sequence[list[Alternative] | None], kind: Kind) -> list[Alternative] | None:
    """Every non-empty set of branches that can hold together and evaluates more than its parts do."""
    found: dict[Evaluated, list[Formula]] = {}
    singles: list[Alternative] = []
    for branch in branches:
        if branch is None:
            return None
        singles.extend((way, seen) for way, seen in branch if way is not False)
    layer: list[tuple[int, Formula, Evaluated]] = []
    for index, (way, seen) in enumerate(singles):
        found.setdefault(seen, []).append(way)
        layer.append((index, way, seen))
    while layer:
        deeper: list[tuple[int, Formula, Evaluated]] = []
        for last, way, seen in layer:
            for index in range(last + 1, len(singles)):
                other, more = singles[index]
                reader.goals.spend(1)
                union = seen | more
                if union in (seen, more) or reader.clash(kind, way, other):
                    continue
                both = conjunction((way, other))
                found.setdefault(union, []).append(both)
                deeper.append((index, both, union))
                if len(deeper) > 4 * MAX_ALTERNATIVES:
                    return None
        layer = deeper
    if len(found) > MAX_ALTERNATIVES:
        return None
    return [(disjunction(ways), seen) for seen, ways in found.items()]


def _below(mode: Mode) -> Mode:
    return Mode.OPEN if mode is Mode.OPEN else Mode.CLUSTER


def _merged(ways: Sequence[Alternative]) -> list[Alternative]:
    """Alternatives that evaluate the same become one."""
    by_seen: dict[Evaluated, list[Formula]] = {}
    for way, seen in ways:
        if way is not False:
            by_seen.setdefault(seen, []).append(way)
    return [(disjunction(group), seen) for seen, group in by_seen.items()]


# closed objects


def closed(reader: Reader, node_id: NodeId) -> Formula:
    """The cluster at ``node_id`` without undeclared members, in whichever way its subschemas apply."""
    ways = alternatives(reader, node_id, Mode.INSIDE, "object")
    if ways is not None:
        shut = disjunction(conjunction((formula, _closing(reader, seen))) for formula, seen in ways)
        if len({seen.declares or seen.everything for _, seen in ways}) > 1:
            reader.left_open = True
        if not reader.clash("object", shut, True):
            return shut
    # What the schema demands stays allowed: where no object is left, close less, in the end nothing.
    plain = reader.plain(node_id, Mode.INSIDE, "object")
    shut = conjunction((plain, _closing(reader, _all_declared(reader, node_id))))
    if reader.clash("object", shut, True):
        reader.left_open = True
        return plain
    return shut


def _closing(reader: Reader, seen: Evaluated) -> Formula:
    if seen.declares and not seen.everything and (seen.roomy or seen.unknown):
        reader.left_open = True
        return True
    if seen.everything or not seen.declares:
        return True
    return Every(seen.undeclared(), NOTHING)


def _all_declared(reader: Reader, node_id: NodeId) -> Evaluated:
    """Everything that any subschema of the cluster evaluates, whether it holds or not."""
    total, todo, done = Evaluated(), [node_id], set[NodeId]()
    while todo:
        current = todo.pop()
        if current in done:
            continue
        done.add(current)
        node = reader.goals.nodes[current]
        total = total | keywords.own_evaluated(reader, node, "object")
        todo.extend((*node.refs, *node.all_of, *node.any_of, *node.one_of))
        todo.extend(child for child in (node.if_, node.then_, node.else_) if child is not None)
        todo.extend(child for _, child in (*node.dependencies, *node.dependent_schemas))
    return total
