"""Reading nodes: what a goal says of scalars (as a set), of arrays and of objects (as a formula)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

from schemas import keywords, scalars
from schemas.compiled import Residue
from schemas.evaluated import Evaluated
from schemas.formula import Every, Formula, From, Has, Lacks, Unknown, conjunction, disjunction, negate
from schemas.goals import NOTHING, Goal, GoalId, Goals, Mode
from schemas.node import Node, NodeId
from schemas.scalars import Scalars

Kind: TypeAlias = Literal["array", "object"]

MAX_ALTERNATIVES = 64
"""Combinations of in-place subschemas whose evaluated members or items are told apart."""

MAX_HALF_READ = 12

_APPLICATORS = frozenset(
    {"refs", "all_of", "any_of", "one_of", "not_", "if_", "dependent_schemas"}
    | {"unevaluated_properties", "unevaluated_items"}
)
"""What else a node says of the same array or object."""

Alternative: TypeAlias = tuple[Formula, Evaluated]


class Reader:
    """Reads goals, each once. ``clash(kind, f, g)``: two formulas exclude each other, if that is cheap to see."""

    def __init__(self, goals: Goals, clash: Callable[[Kind, Formula, Formula], bool]) -> None:
        self.goals = goals
        self._clash = clash
        self._scalars: dict[GoalId, Scalars] = {}
        self._formulas: dict[Kind, dict[GoalId, Formula]] = {"array": {}, "object": {}}
        self._node_scalars: dict[NodeId, Scalars] = {}
        self._half_read = 0
        self.left_open = False
        """Some object that declares properties, if only in some alternative, was not closed although that was asked
        for."""
        self._node_formulas: dict[tuple[NodeId, Mode, Kind], Formula] = {}

    @property
    def is_busy(self) -> bool:
        """Whether so many nodes are half read that questions about others must wait: a recursive schema would loop."""
        return self._half_read > MAX_HALF_READ

    # goals

    def scalars(self, goal: GoalId) -> Scalars:
        known = self._scalars.get(goal)
        if known is None:
            known = self._scalars[goal] = self._read_scalars(self.goals[goal])
        return known

    def _read_scalars(self, goal: Goal) -> Scalars:
        self.goals.spend(4)
        if goal.kind == "constant":
            return scalars.ALL if goal.node == 1 else scalars.NONE
        if goal.kind == "atom":
            return self.node_scalars(goal.node)
        if goal.kind == "not":
            return ~self.node_scalars(goal.node)
        return self._fold([self.scalars(part) for part in goal.parts], union=goal.kind == "or")

    def _fold(self, parts: Sequence[Scalars], *, union: bool) -> Scalars:
        total = parts[0]
        for part in parts[1:]:
            total = total | part if union else total & part
        return total

    def formula(self, goal: GoalId, kind: Kind) -> Formula:
        known = self._formulas[kind].get(goal)
        if known is None:
            known = self._formulas[kind][goal] = self._read_formula(self.goals[goal], kind)
        return known

    def _read_formula(self, goal: Goal, kind: Kind) -> Formula:
        self.goals.spend(4)
        if goal.kind == "constant":
            return goal.node == 1
        if goal.kind == "atom":
            return self.node_formula(goal.node, goal.mode, kind)
        if goal.kind == "not":
            return self._negated(goal.node, kind)
        parts = (self.formula(part, kind) for part in goal.parts)
        return disjunction(parts) if goal.kind == "or" else conjunction(parts)

    def is_scalar(self, goal: GoalId) -> bool:
        """Whether the goal says nothing of what is in arrays and objects: it takes all of them or none.

        False also where that would take reading on while too much is half read.
        """
        if self.is_busy and not all(goal in known for known in self._formulas.values()):
            return False
        return isinstance(self.formula(goal, "array"), bool) and isinstance(self.formula(goal, "object"), bool)

    # nodes: scalars

    def node_scalars(self, node_id: NodeId) -> Scalars:
        known = self._node_scalars.get(node_id)
        if known is None:
            node = self.goals.nodes[node_id]
            self.goals.spend(8, node.path)
            known = self._node_scalars[node_id] = self._conjoined_scalars(node)
        return known

    def _conjoined_scalars(self, node: Node) -> Scalars:
        if node.always is not None:
            return scalars.ALL if node.always else scalars.NONE
        total = keywords.own_scalars(node)
        for child in (*node.refs, *node.all_of):
            total = total & self.node_scalars(child)
        if node.any_of:
            total = total & self._fold([self.node_scalars(child) for child in node.any_of], union=True)
        if node.one_of:
            seen, twice = scalars.NONE, scalars.NONE
            for child in node.one_of:
                part = self.node_scalars(child)
                seen, twice = seen | part, twice | (seen & part)
            total = total & seen & ~twice
        if node.not_ is not None:
            total = total & ~self.node_scalars(node.not_)
        if node.if_ is not None:
            condition = self.node_scalars(node.if_)
            then = scalars.ALL if node.then_ is None else self.node_scalars(node.then_)
            otherwise = scalars.ALL if node.else_ is None else self.node_scalars(node.else_)
            total = total & ((condition & then) | (~condition & otherwise))
        return total

    # nodes: arrays and objects

    def node_formula(self, node_id: NodeId, mode: Mode, kind: Kind) -> Formula:
        types = self.goals.nodes[node_id].types
        if types is not None and kind not in types:
            return False
        key = (node_id, mode, kind)
        known = self._node_formulas.get(key)
        if known is None:
            self.goals.spend(8, self.goals.nodes[node_id].path)
            self._half_read += 1
            if mode is Mode.CLUSTER and kind == "object":
                known = self._closed(node_id)
            else:
                known = self._plain(node_id, mode, kind)
            self._half_read -= 1
            self._node_formulas[key] = known
        return known

    def _negated(self, node_id: NodeId, kind: Kind) -> Formula:
        return negate(self.node_formula(node_id, Mode.OPEN, kind), self.goals.negate)

    def _plain(self, node_id: NodeId, mode: Mode, kind: Kind) -> Formula:
        node = self.goals.nodes[node_id]
        own: Formula = self._own(node, mode, kind)
        if own is False or _APPLICATORS.isdisjoint(vars(node)):
            return own
        inner = Mode.OPEN if mode is Mode.OPEN else Mode.INSIDE
        unevaluated = node.unevaluated_properties if kind == "object" else node.unevaluated_items
        if unevaluated is not None:
            alternatives = self._alternatives(node_id, inner, kind)
            if alternatives is not None:
                return disjunction(formula for formula, _ in alternatives)
        parts: list[Formula] = [own]
        parts.extend(self.node_formula(child, inner, kind) for child in (*node.refs, *node.all_of))
        if node.any_of:
            parts.append(disjunction(self.node_formula(child, inner, kind) for child in node.any_of))
        if node.one_of:
            parts.append(disjunction(self._exactly_one(node, inner, kind)))
        if node.not_ is not None:
            parts.append(self._negated(node.not_, kind))
        if node.if_ is not None:
            parts.append(disjunction(formula for formula, _ in self._conditional(node, inner, kind)))
        if kind == "object":
            for key, child in node.dependent_schemas:
                parts.append(disjunction((Lacks(key), self.node_formula(child, inner, kind))))
        if unevaluated is not None:
            keyword = "unevaluatedProperties" if kind == "object" else "unevaluatedItems"
            parts.append(Unknown(Residue(node.path, keyword, "too many combinations of subschemas evaluate here")))
        return conjunction(parts)

    def _own(self, node: Node, mode: Mode, kind: Kind) -> Formula:
        if node.always is not None:
            return node.always
        if node.types is not None and kind not in node.types:
            return False
        below = Mode.OPEN if mode is Mode.OPEN else Mode.CLUSTER
        if kind == "object":
            return keywords.own_object(self, node, below)
        return keywords.own_array(self, node, below)

    def _exactly_one(self, node: Node, mode: Mode, kind: Kind) -> list[Formula]:
        """Per branch of ``oneOf``: it holds and no other does. Branches that cannot hold together need no negation."""
        branches = [self.node_formula(child, mode, kind) for child in node.one_of]
        opened = [self.node_formula(child, Mode.OPEN, kind) for child in node.one_of]
        result: list[Formula] = []
        for i, branch in enumerate(branches):
            if branch is False:
                result.append(False)
                continue
            others: list[Formula] = [branch]
            for j, other in enumerate(opened):
                self.goals.spend(1, node.path)
                if i == j or other is False:
                    continue
                if opened[i] == other:
                    others = [False]
                    break
                if not self._clash(kind, branch, other):
                    others.append(negate(other, self.goals.negate))
            result.append(conjunction(others))
        return result

    def _conditional(self, node: Node, mode: Mode, kind: Kind) -> list[tuple[Formula, tuple[NodeId, ...]]]:
        """``if``/``then``/``else`` as two cases, each with the subschemas that hold in it."""
        assert node.if_ is not None
        cases = []
        then = [node.if_] if node.then_ is None else [node.if_, node.then_]
        cases.append((conjunction(self.node_formula(child, mode, kind) for child in then), tuple(then)))
        failed = self._negated(node.if_, kind)
        if node.else_ is None:
            cases.append((failed, ()))
        else:
            cases.append((conjunction((failed, self.node_formula(node.else_, mode, kind))), (node.else_,)))
        return cases

    # what is evaluated

    def _closed(self, node_id: NodeId) -> Formula:
        """The cluster at ``node_id`` without undeclared members, in whichever way its subschemas apply."""
        alternatives = self._alternatives(node_id, Mode.INSIDE, "object")
        if alternatives is not None:
            closed = disjunction(conjunction((formula, self._closing(seen))) for formula, seen in alternatives)
            if len({seen.declares or seen.everything for _, seen in alternatives}) > 1:
                self.left_open = True
            if not self._clash("object", closed, True):
                return closed
        # What the schema demands stays allowed: where no object is left, close less, in the end nothing.
        plain = self._plain(node_id, Mode.INSIDE, "object")
        closed = conjunction((plain, self._closing(self._all_declared(node_id))))
        if self._clash("object", closed, True):
            self.left_open = True
            return plain
        return closed

    def _closing(self, seen: Evaluated) -> Formula:
        if seen.declares and not seen.everything and (seen.roomy or seen.unknown):
            self.left_open = True
            return True
        if seen.everything or not seen.declares:
            return True
        return Every(seen.undeclared(), NOTHING)

    def _all_declared(self, node_id: NodeId) -> Evaluated:
        """Everything that any subschema of the cluster evaluates, whether it holds or not."""
        total, todo, done = Evaluated(), [node_id], set()
        while todo:
            current = todo.pop()
            if current in done:
                continue
            done.add(current)
            node = self.goals.nodes[current]
            total = total | keywords.own_evaluated(self, node, "object", Mode.OPEN)
            todo.extend((*node.refs, *node.all_of, *node.any_of, *node.one_of))
            todo.extend(child for child in (node.if_, node.then_, node.else_) if child is not None)
            todo.extend(child for _, child in node.dependent_schemas)
        return total

    def _alternatives(self, node_id: NodeId, mode: Mode, kind: Kind) -> list[Alternative] | None:
        """Ways in which the node can hold, together all of them, each with what is then evaluated at least.

        More evaluated makes ``unevaluated*`` weaker, so a way that leaves open whether a further subschema holds is
        covered by the way in which it does. ``None`` where there are more than :data:`MAX_ALTERNATIVES`.
        """
        node = self.goals.nodes[node_id]
        own = self._own(node, mode, kind)
        total: list[Alternative] = [(own, keywords.own_evaluated(self, node, kind, _below(mode)))]
        factors: list[list[Alternative] | None] = [
            self._alternatives(child, mode, kind) for child in (*node.refs, *node.all_of)
        ]
        if node.any_of:
            factors.append(self._some_of([self._alternatives(child, mode, kind) for child in node.any_of], kind))
        if node.one_of:
            factors.append(self._one_of(node, mode, kind))
        if node.not_ is not None:
            factors.append([(self._negated(node.not_, kind), Evaluated())])
        if node.if_ is not None:
            factors.extend(self._case_factors(node, mode, kind))
        if kind == "object":
            for key, child in node.dependent_schemas:
                ways = self._alternatives(child, mode, kind)
                absent: Alternative = (Lacks(key), Evaluated())
                present = [(conjunction((Has(key), way)), seen) for way, seen in ways or ()]
                factors.append(None if ways is None else [absent, *present])
        for factor in factors:
            if factor is None:
                return None
            crossed = [(conjunction((left, right)), seen | more) for left, seen in total for right, more in factor]
            total = _merged(crossed)
            self.goals.spend(len(crossed), node.path)
            if len(total) > MAX_ALTERNATIVES:
                return None
        unevaluated = node.unevaluated_properties if kind == "object" else node.unevaluated_items
        if unevaluated is not None:
            goal = self.goals.atom(unevaluated, _below(mode))
            total = [
                (conjunction((way, self._rest(seen, goal, kind))), Evaluated(everything=True)) for way, seen in total
            ]
        return _merged(total)

    def _rest(self, seen: Evaluated, goal: GoalId, kind: Kind) -> Formula:
        if seen.everything:
            return True
        if seen.unknown:
            return Unknown(min(seen.unknown, key=str))
        if kind == "object":
            return Every(seen.rest(), goal)
        return From(seen.prefix, self.goals.disjunction((goal, *seen.matched)))

    def _one_of(self, node: Node, mode: Mode, kind: Kind) -> list[Alternative] | None:
        exact = self._exactly_one(node, mode, kind)
        ways: list[Alternative] = []
        for child, only in zip(node.one_of, exact, strict=True):
            if only is False:
                continue
            inner = self._alternatives(child, mode, kind)
            if inner is None:
                return None
            # The branch's own formula is implied by its alternatives; keep what excludes the other branches.
            ways.extend((conjunction((way, only)) if len(inner) > 1 else only, seen) for way, seen in inner)
        return ways

    def _case_factors(self, node: Node, mode: Mode, kind: Kind) -> list[list[Alternative] | None]:
        ways: list[Alternative] = []
        for formula, holding in self._conditional(node, mode, kind):
            case: list[Alternative] = [(formula, Evaluated())]
            for child in holding:
                inner = self._alternatives(child, mode, kind)
                if inner is None:
                    return [None]
                case = [
                    (conjunction((left, right)) if len(inner) > 1 else left, seen | more)
                    for left, seen in case
                    for right, more in inner
                ]
            ways.extend(case)
        return [ways]

    def _some_of(self, branches: Sequence[list[Alternative] | None], kind: Kind) -> list[Alternative] | None:
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
                    self.goals.spend(1)
                    union = seen | more
                    if union in (seen, more) or self._clash(kind, way, other):
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

    # values

    def value_formula(self, value: Any, kind: Kind) -> Formula:
        return keywords.value_formula(self.goals, value, kind)


def _below(mode: Mode) -> Mode:
    return Mode.OPEN if mode is Mode.OPEN else Mode.CLUSTER


def _merged(ways: Sequence[Alternative]) -> list[Alternative]:
    """Alternatives that evaluate the same become one."""
    by_seen: dict[Evaluated, list[Formula]] = {}
    for way, seen in ways:
        if way is not False:
            by_seen.setdefault(seen, []).append(way)
    return [(disjunction(group), seen) for seen, group in by_seen.items()]
