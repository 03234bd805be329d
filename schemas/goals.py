"""Goals: hash-consed boolean expressions over the nodes of a document.

A goal stands for a set of JSON values. Equal goals have equal ids, so a recursive schema has finitely many of them
and each becomes one rule of the grammar.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from enum import IntEnum
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias

from schemas.document import Document
from schemas.errors import SchemaError
from schemas.limits import Limits
from schemas.node import Node, NodeId

GoalId: TypeAlias = int

NOTHING: GoalId = 0
"""The goal that no value satisfies."""
ANYTHING: GoalId = 1
"""The goal that every value satisfies."""


class Mode(IntEnum):
    """How objects that say nothing of undeclared members are read."""

    OPEN = 0
    """As the schema is written."""
    INSIDE = 1
    """Part of a cluster that someone else closes; the values below it are clusters of their own."""
    CLUSTER = 2
    """The root of a cluster of subschemas that apply to one value: it is closed as a whole."""


_MODES = len(Mode)


class Goal(NamedTuple):
    kind: Literal["constant", "atom", "not", "and", "or"]
    node: NodeId = -1
    mode: Mode = Mode.OPEN
    parts: tuple[GoalId, ...] = ()


class Goals:
    """The table of goals of one compilation, the nodes (own ones can be added), and the account of work."""

    def __init__(self, document: Document, limits: Limits) -> None:
        self.nodes: list[Node] = list(document.nodes)
        self.limits = limits
        self._work = 0
        self._goals: list[Goal] = [Goal("constant"), Goal("constant", node=1)]
        self._ids: dict[Goal, GoalId] = {}
        self._combined: dict[str, dict[frozenset[GoalId], GoalId]] = {"and": {}, "or": {}}
        self._values: dict[str, GoalId] = {}
        self._negations: dict[GoalId, GoalId] = {NOTHING: ANYTHING, ANYTHING: NOTHING}
        self._aliases: dict[NodeId, NodeId] = {}
        self._atoms: dict[int, GoalId] = {}
        self._complements: set[GoalId] = set()

    def __getitem__(self, goal: GoalId) -> Goal:
        return self._goals[goal]

    def spend(self, units: int, path: str = "") -> None:
        """Count work. Raises :class:`SchemaError` over ``limits.work_units``."""
        self._work += units
        if self._work > self.limits.work_units:
            raise SchemaError(
                path,
                "",
                f"compiling it needs more than the limit work_units = {self.limits.work_units}; simplify the schema "
                "(fewer overlapping alternatives) or raise the limit",
            )

    def spend_on(self, goal: GoalId, units: int) -> None:
        """Count work on a goal."""
        self._work += units
        if self._work > self.limits.work_units:
            self.spend(0, self.path(goal))

    def _intern(self, goal: Goal) -> GoalId:
        known = self._ids.get(goal)
        if known is None:
            known = self._ids[goal] = len(self._goals)
            self._goals.append(goal)
        return known

    def atom(self, node: NodeId, mode: Mode = Mode.OPEN) -> GoalId:
        key = node * _MODES + mode
        known = self._atoms.get(key)
        if known is None:
            known = self._atoms[key] = self._new_atom(self._alias(node), mode)
        return known

    def _new_atom(self, node: NodeId, mode: Mode) -> GoalId:
        always = self.nodes[node].always
        if always is not None:
            return ANYTHING if always else NOTHING
        if says_nothing(self.nodes[node]):
            return ANYTHING
        return self._intern(Goal("atom", node=node, mode=mode))

    def _alias(self, node: NodeId) -> NodeId:
        """Follow nodes that are only a reference. The document has no empty cycles, so this ends."""
        known = self._aliases.get(node)
        if known is not None:
            return known
        start = node
        while is_reference(self.nodes[node]):
            node = self.nodes[node].refs[0]
        self._aliases[start] = node
        return node

    def own_node(self, node: Node) -> NodeId:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def value(self, value: Any) -> GoalId:
        """The goal that exactly ``value`` satisfies."""
        key = value_key(value)
        known = self._values.get(key)
        if known is None:
            known = self._values[key] = self._intern(Goal("atom", node=self.own_node(Node(path="", const=(value,)))))
        return known

    def negate(self, goal: GoalId) -> GoalId:
        known = self._negations.get(goal)
        if known is not None:
            return known
        entry = self._goals[goal]
        if entry.kind == "atom":
            # Closing is a wish for what the model writes; what a schema excludes is meant as it is written.
            opened = self._intern(Goal("atom", node=entry.node))
            result = self._intern(Goal("not", node=entry.node))
            self._negations[result] = opened
            self._complements.add(result)
        elif entry.kind == "not":
            result = self._intern(Goal("atom", node=entry.node))
        elif entry.kind == "and":
            result = self.disjunction(self.negate(part) for part in entry.parts)
        else:
            result = self.conjunction(self.negate(part) for part in entry.parts)
        self._negations[goal] = result
        return result

    def conjunction(self, goals: Iterable[GoalId]) -> GoalId:
        return self._combine("and", goals, NOTHING, ANYTHING)

    def disjunction(self, goals: Iterable[GoalId]) -> GoalId:
        return self._combine("or", goals, ANYTHING, NOTHING)

    def _combine(
        self, kind: Literal["and", "or"], goals: Iterable[GoalId], absorbing: GoalId, neutral: GoalId
    ) -> GoalId:
        parts = set(goals)
        self.spend(len(parts) + 1)
        parts.discard(neutral)
        if absorbing in parts:
            return absorbing
        if len(parts) < 2:
            return parts.pop() if parts else neutral
        combined = self._combined[kind]
        key = frozenset(parts)
        known = combined.get(key)
        if known is None:
            known = combined[key] = self._flat(kind, parts, absorbing)
        return known

    def _flat(self, kind: Literal["and", "or"], parts: set[GoalId], absorbing: GoalId) -> GoalId:
        """Of two parts or more, none of them trivial."""
        for goal in tuple(parts):
            entry = self._goals[goal]
            if entry.kind == kind:
                parts.discard(goal)
                parts.update(entry.parts)
        self.spend(len(parts))
        if not self._complements.isdisjoint(parts) and self._hold_a_complement(parts):
            return absorbing
        return self._intern(Goal(kind, parts=tuple(sorted(parts))))

    def _hold_a_complement(self, parts: set[GoalId]) -> bool:
        """Whether a node and its complement are among ``parts``."""
        negated = {self._goals[part].node for part in parts & self._complements}
        return any(entry.kind == "atom" and entry.node in negated for entry in map(self._goals.__getitem__, parts))

    def path(self, goal: GoalId) -> str:
        """Where in the document the goal comes from, as far as one place can say it."""
        entry = self._goals[goal]
        if entry.node >= 0 and entry.kind != "constant":
            return self.nodes[entry.node].path
        return self.path(entry.parts[0]) if entry.parts else ""


_NO_ASSERTIONS = frozenset({"path", "plain_integers", "contains_evaluates"})
_ONLY_REFERENCES = _NO_ASSERTIONS | {"refs"}
_ABSENT = vars(Node(path=""))


def says_nothing(node: Node) -> bool:
    """Whether no keyword of ``node`` restricts anything."""
    return all(name in _NO_ASSERTIONS or value == _ABSENT[name] for name, value in vars(node).items())


def is_reference(node: Node) -> bool:
    """Whether ``node`` is one reference and nothing else."""
    if len(node.refs) != 1:
        return False
    return vars(node).keys() <= _ONLY_REFERENCES or says_nothing(replace(node, refs=()))


def value_key(value: Any) -> str:
    """Equal for equal JSON values: 1 and 1.0 are, 1 and true are not, order of members is nothing."""
    return json.dumps(_normal(value), sort_keys=True, separators=(",", ":"))


def _normal(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {key: _normal(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(item) for item in value]
    number = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    return number.numerator if number.denominator == 1 else {"\0number": str(number)}
