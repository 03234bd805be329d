"""Who writes an object's members: the lowering of objects says which may stand when, a `MemberWriter` how they look."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from schemas.goals import GoalId
from schemas.shapes import ObjectShape
from schemas.stringset import StringSet

if TYPE_CHECKING:
    from schemas.lowering.values import Lowering


class MemberWriter(Protocol):
    """Symbols for the parts of an object; ``""`` where there is nothing to write."""

    @property
    def rules(self) -> dict[ObjectShape, str]:
        """The rules of the shapes that were lowered with this writer."""

    @property
    def empty(self) -> str:
        """An object without members."""

    @property
    def opening(self) -> str: ...

    @property
    def closing(self) -> str: ...

    def separator(self) -> str: ...

    def exists(self, key: str, goal: GoalId) -> bool:
        """Whether member ``key`` with some value of ``goal`` can be written."""

    def others_exist(self, names: StringSet, goal: GoalId) -> bool:
        """The same for a member with a name out of ``names``."""

    def member(self, key: str, goal: GoalId) -> str:
        """Name and value. Only for what exists."""

    def other(self, names: StringSet, goal: GoalId, path: str) -> str:
        """The same for any name out of ``names``; ``path`` is the object's, for what has to be noted."""


@dataclass(slots=True)
class JsonMembers:
    """``{"key":value,…}``"""

    lower: Lowering
    rules: dict[ObjectShape, str] = field(default_factory=dict)
    empty: str = '"{" "}"'
    opening: str = '"{"'
    closing: str = '"}"'

    def separator(self) -> str:
        return self.lower.comma()

    def exists(self, key: str, goal: GoalId) -> bool:
        return self.lower.exists(goal)

    def others_exist(self, names: StringSet, goal: GoalId) -> bool:
        return self.lower.exists(goal)

    def member(self, key: str, goal: GoalId) -> str:
        return f"{self.lower.key(key)} {self.lower.symbol(goal)}"

    def other(self, names: StringSet, goal: GoalId, path: str) -> str:
        return f"{self.lower.keys(names, path)} {self.lower.symbol(goal)}"
