"""Reading nodes: what a goal says of scalars (as a set), of arrays and of objects (as a formula)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from schemas import keywords, scalars
from schemas.alternatives import alternatives, closed
from schemas.compiled import Residue
from schemas.errors import SchemaError, TooComplex
from schemas.formula import Formula, Lacks, Unknown, conjunction, disjunction, negate
from schemas.goals import Goal, GoalId, Goals, Mode
from schemas.node import Node, NodeId
from schemas.scalars import Scalars

Kind: TypeAlias = Literal["array", "object"]

MAX_HALF_READ = 12

_APPLICATORS = frozenset(
    {"refs", "all_of", "any_of", "one_of", "not_", "if_", "dependent_schemas", "dependencies"}
    | {"unevaluated_properties", "unevaluated_items"}
)
"""What else a node says of the same array or object."""


class Reader:
    """Reads goals, each once. ``clash(kind, f, g)``: two formulas exclude each other, if that is cheap to see."""

    def __init__(self, goals: Goals, clash: Callable[[Kind, Formula, Formula], bool]) -> None:
        self.goals = goals
        self.clash = clash
        self._scalars: dict[GoalId, Scalars] = {}
        self._formulas: dict[Kind, dict[GoalId, Formula]] = {"array": {}, "object": {}}
        self._node_scalars: dict[NodeId, Scalars] = {}
        self._is_scalar: dict[GoalId, bool] = {}
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
            return self.negated(goal.node, kind)
        parts = (self.formula(part, kind) for part in goal.parts)
        return disjunction(parts) if goal.kind == "or" else conjunction(parts)

    def is_scalar(self, goal: GoalId) -> bool:
        """Whether the goal says nothing of what is in arrays and objects: it takes all of them or none.

        False also where that would take reading on while too much is half read.
        """
        known = self._is_scalar.get(goal)
        if known is None:
            if self.is_busy and not all(goal in known for known in self._formulas.values()):
                return False
            known = isinstance(self.formula(goal, "array"), bool) and isinstance(self.formula(goal, "object"), bool)
            self._is_scalar[goal] = known
        return known

    # nodes: scalars

    def node_scalars(self, node_id: NodeId) -> Scalars:
        known = self._node_scalars.get(node_id)
        if known is None:
            node = self.goals.nodes[node_id]
            self.goals.spend(8, node.path)
            try:
                known = self._node_scalars[node_id] = self._conjoined_scalars(node)
            except TooComplex as error:
                raise SchemaError(node.path, "", f"too complex: {error.reason}") from error
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
                known = closed(self, node_id)
            else:
                known = self.plain(node_id, mode, kind)
            self._half_read -= 1
            self._node_formulas[key] = known
        return known

    def negated(self, node_id: NodeId, kind: Kind) -> Formula:
        return negate(self.node_formula(node_id, Mode.OPEN, kind), self.goals.negate)

    def plain(self, node_id: NodeId, mode: Mode, kind: Kind) -> Formula:
        node = self.goals.nodes[node_id]
        own: Formula = self.own(node, mode, kind)
        if own is False or _APPLICATORS.isdisjoint(vars(node)):
            return own
        inner = Mode.OPEN if mode is Mode.OPEN else Mode.INSIDE
        unevaluated = node.unevaluated_properties if kind == "object" else node.unevaluated_items
        if unevaluated is not None:
            ways = alternatives(self, node_id, inner, kind)
            if ways is not None:
                return disjunction(formula for formula, _ in ways)
        parts: list[Formula] = [own]
        parts.extend(self.node_formula(child, inner, kind) for child in (*node.refs, *node.all_of))
        if node.any_of:
            parts.append(disjunction(self.node_formula(child, inner, kind) for child in node.any_of))
        if node.one_of:
            parts.append(disjunction(self.exactly_one(node, inner, kind)))
        if node.not_ is not None:
            parts.append(self.negated(node.not_, kind))
        if node.if_ is not None:
            parts.append(disjunction(formula for formula, _ in self.conditional(node, inner, kind)))
        if kind == "object":
            for key, child in (*node.dependencies, *node.dependent_schemas):
                parts.append(disjunction((Lacks(key), self.node_formula(child, inner, kind))))
        if unevaluated is not None:
            keyword = "unevaluatedProperties" if kind == "object" else "unevaluatedItems"
            parts.append(Unknown(Residue(node.path, keyword, "too many combinations of subschemas evaluate here")))
        return conjunction(parts)

    def own(self, node: Node, mode: Mode, kind: Kind) -> Formula:
        if node.always is not None:
            return node.always
        if node.types is not None and kind not in node.types:
            return False
        below = Mode.OPEN if mode is Mode.OPEN else Mode.CLUSTER
        if kind == "object":
            return keywords.own_object(self, node, below)
        return keywords.own_array(self, node, below)

    def exactly_one(self, node: Node, mode: Mode, kind: Kind) -> list[Formula]:
        """Per branch of ``oneOf``: it holds and no other does. Branches that cannot hold together need no negation."""
        branches = [self.node_formula(child, mode, kind) for child in node.one_of]
        opened = [self.node_formula(child, Mode.OPEN, kind) for child in node.one_of]
        failed: dict[int, Formula] = {}
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
                if not self.clash(kind, branch, other):
                    if j not in failed:
                        failed[j] = negate(other, self.goals.negate)
                    others.append(failed[j])
            result.append(conjunction(others))
        return result

    def conditional(self, node: Node, mode: Mode, kind: Kind) -> list[tuple[Formula, tuple[NodeId, ...]]]:
        """``if``/``then``/``else`` as two cases, each with the subschemas that hold in it."""
        assert node.if_ is not None
        cases = []
        then = [node.if_] if node.then_ is None else [node.if_, node.then_]
        cases.append((conjunction(self.node_formula(child, mode, kind) for child in then), tuple(then)))
        failed = self.negated(node.if_, kind)
        if node.else_ is None:
            cases.append((failed, ()))
        else:
            cases.append((conjunction((failed, self.node_formula(node.else_, mode, kind))), (node.else_,)))
        return cases
