"""Members with bare names: of the outermost object as Python's keyword arguments (`schemas.spelling.Keywords`), or of
every object (`schemas.lowering.quoted`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schemas.algebra import strings_empty
from schemas.goals import GoalId
from schemas.lowering.raw_text import quoted
from schemas.shapes import ObjectShape
from schemas.stringset import StringSet
from schemas.writable import keyword_names

if TYPE_CHECKING:
    from schemas.lowering.values import Lowering


@dataclass(slots=True)
class BareMembers:
    """``name`` + ``joint`` + value, for the names that can stand bare: ``names``."""

    lower: Lowering
    names: StringSet
    joint: str
    empty: str = ""
    opening: str = ""
    closing: str = ""
    rules: dict[ObjectShape, str] = field(default_factory=dict)

    def separator(self) -> str:
        return self.lower.comma()

    def exists(self, key: str, goal: GoalId) -> bool:
        return self.names.contains(key) and self.lower.exists(goal)

    def others_exist(self, names: StringSet, goal: GoalId) -> bool:
        return self.lower.exists(goal) and not strings_empty(names & self.names)

    def member(self, key: str, goal: GoalId) -> str:
        return f"{quoted(key + self.joint)} {self.lower.symbol(goal)}"

    def other(self, names: StringSet, goal: GoalId, path: str) -> str:
        name = (self.lower.bearable(names, path) & self.names).raw()
        head = self.lower.text.terminal(f'{name} "{self.joint}"')
        return f"{head} {self.lower.symbol(goal)}"


def keyword_members(lower: Lowering) -> BareMembers:
    return BareMembers(lower, keyword_names(), "=")
