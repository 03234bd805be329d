"""The length of a shortest text per goal, as a least fixpoint; a goal without one is empty.

With recursive schemas that is the only sure emptiness test: ``n`` = "an object whose member ``next`` is an ``n``" has
no finite value. The lengths are of compact JSON in UTF-8 bytes, also for a spelling in which some values have no text.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from schemas.algebra import Algebra
from schemas.errors import SchemaError
from schemas.goals import NOTHING, GoalId
from schemas.machine import Machine, machine
from schemas.scalars import Bounds
from schemas.shapes import ArrayShape, Conditions, ObjectShape
from schemas.spelling import JSON, Quoted, Spelling
from schemas.stringset import StringSet
from schemas.text_lengths import key_length, scalars_length, string_length
from schemas.writable import quoted_names, quoted_strings

CANNOT = "has no value that can be written in the model's call format"


class Lengths:
    """Lengths of all goals below a root. ``lengths[goal]`` is None for an empty goal."""

    def __init__(self, algebra: Algebra, root: GoalId, spelling: Spelling = JSON) -> None:
        self.algebra = algebra
        self._spelling = spelling
        self._length: dict[GoalId, int] = {}
        self._machines: dict[ArrayShape, Machine | None] = {}
        self._keys: dict[str, int | None] = {}
        self._names: dict[StringSet, int] = {}
        self._solve(root)

    def __getitem__(self, goal: GoalId) -> int | None:
        return self._length.get(goal)

    def add_scalar(self, goal: GoalId) -> None:
        """Take up a goal without arrays and objects that is not below the root."""
        length = self._scalars_length(goal)
        if length is not None:
            self._length[goal] = length

    def _solve(self, root: GoalId) -> None:
        order, users = self._discover(root)
        for goal in order:
            length = self._scalars_length(goal)
            if length is not None:
                self._length[goal] = length
        # Leaves have the lengths of their scalars; what is above them comes after them, as far as there are no cycles.
        queue = deque(goal for goal in reversed(order) if self._nested(goal))
        waiting = set(queue)
        while queue:
            goal = queue.popleft()
            waiting.discard(goal)
            self.algebra.goals.spend(2)
            best = self._best(goal)
            if best is not None and best < self._length.get(goal, best + 1):
                self._length[goal] = best
                for user in users[goal]:
                    if user not in waiting:
                        waiting.add(user)
                        queue.append(user)

    def _nested(self, goal: GoalId) -> bool:
        """Whether there can be arrays or objects in the goal."""
        return bool(self.algebra.arrays(goal) or self.algebra.objects(goal))

    def _scalars_length(self, goal: GoalId) -> int | None:
        scalars = self.algebra.reader.scalars(goal)
        if isinstance(self._spelling, Quoted):
            writable = scalars.strings.upper & quoted_strings(self._spelling)
            scalars = replace(scalars, strings=Bounds(writable, writable))
        return scalars_length(scalars)

    def _discover(self, root: GoalId) -> tuple[list[GoalId], dict[GoalId, list[GoalId]]]:
        order: list[GoalId] = [root]
        users: dict[GoalId, list[GoalId]] = {root: []}
        for goal in order:  # grows while it is walked
            self.algebra.goals.spend_on(goal, 10)
            for child in self._children(goal):
                if child == NOTHING:
                    continue
                if child not in users:
                    users[child] = []
                    order.append(child)
                users[child].append(goal)
        return order, users

    def _children(self, goal: GoalId) -> dict[GoalId, None]:
        found: list[GoalId] = []
        for array in self.algebra.arrays(goal):
            built = self.machine(array)
            if built is not None:
                for steps in built.steps:
                    found.extend([item for item, _ in steps])
            found.extend(array.prefix)
            found.append(array.rest)
        for shape in self.algebra.objects(goal):
            found.extend([inner for _, inner, _ in shape.slots])
            for other in shape.others:
                found.append(other.goal)
                found.extend([inner for _, inner in other.witness])
            for table in shape.conditions:
                for classes in table.classes:
                    found.extend(classes)
        return dict.fromkeys(found)

    def machine(self, shape: ArrayShape) -> Machine | None:
        """The machine of an array that counts matches; None for other arrays and where it would be too large."""
        if not shape.contains:
            return None
        if shape not in self._machines:
            self._machines[shape] = machine(shape, self.algebra)
        return self._machines[shape]

    def _best(self, goal: GoalId) -> int | None:
        lengths = [self.array(shape) for shape in self.algebra.arrays(goal)]
        lengths.extend(self.object(shape) for shape in self.algebra.objects(goal))
        return min((length for length in lengths if length is not None), default=None)

    # arrays

    def array(self, shape: ArrayShape) -> int | None:
        built = self.machine(shape)
        if built is not None:
            return self._machine_length(built)
        total = 2
        for index in range(min(shape.least, len(shape.prefix))):
            length = self[shape.prefix[index]]
            if length is None:
                return None
            total += length + 1
        more = shape.least - len(shape.prefix)
        if more > 0:
            length = self[shape.rest]
            if length is None:
                return None
            total += more * (length + 1)
        return total - (1 if shape.least else 0)

    def _machine_length(self, built: Machine) -> int | None:
        """Bellman and Ford; item lengths are not negative and few states change late."""
        best: dict[int, int] = {0: 2}
        waiting = [0]
        while waiting:
            state = waiting.pop(0)
            self.algebra.goals.spend(1)
            for goal, target in built.steps[state]:
                length = self[goal]
                if length is None:
                    continue
                total = best[state] + length + (1 if state else 0)
                if total < best.get(target, total + 1):
                    best[target] = total
                    waiting.append(target)
        return min((length for state, length in best.items() if built.final[state]), default=None)

    # objects

    def object(self, shape: ObjectShape) -> int | None:
        if not (shape.least or shape.witnesses or shape.conditions):
            return self._required_length(shape)
        conditional = {key for table in shape.conditions for key in table.keys}
        members: list[int] = []
        optional: list[int] = []
        for slot in shape.slots:
            if not (slot.required or shape.least) or slot.key in conditional:
                continue
            length = self._member_length(slot.key, slot.goal)
            if length is not None:
                (members if slot.required else optional).append(length)
            elif slot.required:
                return None
        more = self._cheapest_other(shape) if shape.least > len(members) else None
        for index in range(shape.witnesses):
            found = [
                self._name_length(other.names) + length
                for other in shape.others
                for mask, goal in other.witness
                if mask >> index & 1 and (length := self[goal]) is not None
            ]
            if not found:
                return None
            members.append(min(found))
        for table in shape.conditions:
            extra = self._conditional_length(table)
            if extra is None:
                return None
            members.extend(extra)
        optional.sort()
        while len(members) < shape.least:
            if optional and (more is None or optional[0] <= more):
                members.append(optional.pop(0))
            elif more is not None:
                members.append(more)
            else:
                return None
        return 1 + len(members) + sum(members) if members else 2

    def _required_length(self, shape: ObjectShape) -> int | None:
        """Of an object with the required members alone."""
        total = 1
        for slot in shape.slots:
            if slot.required:
                length = self._member_length(slot.key, slot.goal)
                if length is None:
                    return None
                total += length + 1
        return max(total, 2)

    def _member_length(self, key: str, goal: GoalId) -> int | None:
        """Of the shortest member with this name; None where it has no value or its name cannot be written."""
        if key not in self._keys:
            written = not isinstance(self._spelling, Quoted) or quoted_names(self._spelling).contains(key)
            self._keys[key] = key_length(key) if written else None
        name, value = self._keys[key], self._length.get(goal)
        return None if name is None or value is None else name + value

    def _cheapest_other(self, shape: ObjectShape) -> int | None:
        found = [
            self._name_length(other.names) + length
            for other in shape.others
            if (length := self[other.goal]) is not None
        ]
        return min(found, default=None)

    def _conditional_length(self, conditions: Conditions) -> list[int] | None:
        """The lengths of the members of the shortest combination (of those, the first in order)."""
        costs: list[list[int | None]] = []
        for key, classes in zip(conditions.keys, conditions.classes, strict=True):
            lengths = [self._member_length(key, goal) for goal in classes]
            costs.append([0, *(None if length is None else length + 1 for length in lengths)])
        space = conditions.space()
        known: dict[tuple[int, int], tuple[int, tuple[int, ...]] | None] = {}

        def best(at: int, tail: int) -> tuple[int, tuple[int, ...]] | None:
            """Of the combinations ``tail`` of the members from ``at`` on: bytes, commas included, and the classes."""
            if at == len(costs):
                return (0, ()) if tail else None
            if (at, tail) not in known:
                found = []
                for value, (cost, rest) in enumerate(zip(costs[at], space.tails(tail, at), strict=True)):
                    more = best(at + 1, rest) if rest and cost is not None else None
                    if cost is not None and more is not None:
                        found.append((cost + more[0], (value, *more[1])))
                known[at, tail] = min(found, default=None)
            return known[at, tail]

        shortest = best(0, conditions.accepted)
        if shortest is None:
            return None
        return [(cost[value] or 1) - 1 for cost, value in zip(costs, shortest[1], strict=True) if value]

    def _name_length(self, names: StringSet) -> int:
        if names not in self._names:
            self._names[names] = string_length(names) + 1
        return self._names[names]

    def check(self, root: GoalId) -> int:
        """The length of the root. Raises :class:`SchemaError` when no value satisfies it, or none has a text."""
        length = self[root]
        if length is None:
            plain = Lengths(self.algebra, root)
            if plain[root] is None:
                reason = "unsatisfiable: no JSON value is valid against the schema"
            else:
                root, reason = self._unwritable(root, plain), f"it {CANNOT}"
            raise SchemaError(self.algebra.goals.path(root), "", reason)
        return length

    def _unwritable(self, goal: GoalId, plain: Lengths) -> GoalId:
        """The innermost goal, by required members, that has values and none with a text."""
        seen = {goal}
        while True:
            inner = [
                slot.goal
                for shape in self.algebra.objects(goal)
                for slot in shape.slots
                if slot.required and self[slot.goal] is None and plain[slot.goal] is not None
            ]
            if not inner or inner[0] in seen:
                return goal
            goal = inner[0]
            seen.add(goal)
