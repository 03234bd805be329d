"""Tables of allowed combinations as conditions over the fields of a rule's parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from schemas.lowering.text import Condition, all_of, any_of, bits
from schemas.shapes import Conditions


@dataclass(frozen=True, slots=True)
class Field:
    """Bits ``low`` to ``high`` (not included) hold 0 while the member is absent, else the class of its value."""

    low: int
    high: int

    def equals(self, value: int) -> Condition:
        if self.high - self.low == 1:
            return f"bit_set({self.low})" if value else f"bit_clear({self.low})"
        return f"eq({bits(self.low, self.high)}, {value})"


def width(conditions: Conditions) -> int:
    return sum(len(classes).bit_length() for classes in conditions.classes)


class Guards:
    """What a combination of members may still become.

    A member may only be added where some allowed combination is left to reach, so the model never runs into a hole.
    """

    def __init__(self, conditions: Conditions, possible: Callable[[int, int], bool], low: int) -> None:
        """``possible(i, c)``: class ``c`` of key ``i`` has values at all. ``low``: the first free bit."""
        self._accepted = [
            assignment
            for assignment in sorted(conditions.accepted)
            if all(value == 0 or possible(i, value) for i, value in enumerate(assignment))
        ]
        self._sizes = [len(classes) + 1 for classes in conditions.classes]
        self.fields: list[Field] = []
        for classes in conditions.classes:
            high = low + len(classes).bit_length()
            self.fields.append(Field(low, high))
            low = high
        self._live = self._reachable()

    def _reachable(self) -> set[tuple[int, ...]]:
        """States from which an accepted combination can be reached by adding members; 0 is "not yet"."""
        live: set[tuple[int, ...]] = set()
        for assignment in self._accepted:
            live.update(product(*((value, 0) if value else (0,) for value in assignment)))
        return live

    @property
    def accepts_empty(self) -> bool:
        return any(not any(assignment) for assignment in self._accepted)

    def add(self, key: int, value: int) -> Condition:
        """When a member ``key`` of class ``value`` may be added: it is absent, and what comes of it is live."""
        allowed = {(*state[:key], 0, *state[key + 1 :]) for state in self._live if state[key] == value}
        return all_of((self.fields[key].equals(0), self._table(allowed, skip=key)))

    def final(self) -> Condition:
        return self._table(set(self._accepted), skip=None)

    def _table(self, states: set[tuple[int, ...]], skip: int | None) -> Condition:
        """True in exactly ``states``, among the live ones: others never occur."""
        known: dict[tuple[int, frozenset[tuple[int, ...]]], Condition] = {}
        domain = self._live

        def build(key: int, inside: frozenset[tuple[int, ...]], outside: frozenset[tuple[int, ...]]) -> Condition:
            if not outside:
                return bool(inside)
            if not inside:
                return False
            memo = (key, inside)
            if memo in known:
                return known[memo]
            groups: dict[Condition, list[int]] = {}
            for value in range(self._sizes[key]):
                left = frozenset(state for state in inside if state[key] == value)
                right = frozenset(state for state in outside if state[key] == value)
                if left or right:
                    groups.setdefault(build(key + 1, left, right), []).append(value)
            if len(groups) == 1:
                result = next(iter(groups))
            else:
                result = any_of(all_of((self._among(key, values), condition)) for condition, values in groups.items())
            known[memo] = result
            return result

        rest = {state for state in domain if skip is None or state[skip] == 0} - states
        return build(0, frozenset(states), frozenset(rest))

    def _among(self, key: int, values: Sequence[int]) -> Condition:
        field, size = self.fields[key], self._sizes[key]
        if len(values) > size // 2 and 0 not in values and len(values) == size - 1:
            return any_of((f"ne({bits(field.low, field.high)}, 0)",))
        return any_of(field.equals(value) for value in values)
