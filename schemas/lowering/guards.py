"""Tables of allowed combinations as conditions over the fields of a rule's parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
        self._space = conditions.space()
        self._accepted = conditions.accepted
        for at, classes in enumerate(conditions.classes):
            gone = [value for value in range(1, len(classes) + 1) if not possible(at, value)]
            self._accepted &= ~self._space.where(at, gone)
        self.fields: list[Field] = []
        for classes in conditions.classes:
            high = low + len(classes).bit_length()
            self.fields.append(Field(low, high))
            low = high
        self._live = self._reachable()

    def _reachable(self) -> int:
        """States from which an accepted combination can be reached by adding members; 0 is "not yet"."""
        live = self._accepted
        for at, size in enumerate(self._space.sizes):
            for value in range(1, size):
                live |= self._space.moved(live, at, value)
        return live

    @property
    def accepts_empty(self) -> bool:
        return bool(self._accepted & 1)

    def add(self, key: int, value: int) -> Condition:
        """When a member ``key`` of class ``value`` may be added: it is absent, and what comes of it is live."""
        allowed = self._space.moved(self._live, key, value)
        absent = self._live & self._space.where(key, (0,))
        return all_of((self.fields[key].equals(0), self._table(allowed, absent & ~allowed)))

    def final(self) -> Condition:
        return self._table(self._accepted, self._live & ~self._accepted)

    def _table(self, inside: int, outside: int) -> Condition:
        """True in all states ``inside``, False in those ``outside``: others never occur."""
        known: dict[tuple[int, int, int], Condition] = {}

        def build(key: int, inside: int, outside: int) -> Condition:
            if not outside:
                return bool(inside)
            if not inside:
                return False
            memo = (key, inside, outside)
            if memo in known:
                return known[memo]
            groups: dict[Condition, list[int]] = {}
            tails = zip(self._space.tails(inside, key), self._space.tails(outside, key), strict=True)
            for value, (left, right) in enumerate(tails):
                if left or right:
                    groups.setdefault(build(key + 1, left, right), []).append(value)
            if len(groups) == 1:
                result = next(iter(groups))
            else:
                result = any_of(all_of((self._among(key, values), condition)) for condition, values in groups.items())
            known[memo] = result
            return result

        return build(0, inside, outside)

    def _among(self, key: int, values: Sequence[int]) -> Condition:
        field, size = self.fields[key], self._space.sizes[key]
        if len(values) > size // 2 and 0 not in values and len(values) == size - 1:
            return any_of((f"ne({bits(field.low, field.high)}, 0)",))
        return any_of(field.equals(value) for value in values)
