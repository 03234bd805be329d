"""Members of the outermost object as Python's keyword arguments (`schemas.spelling.Keywords`)."""

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
class KeywordMembers:
    lower: Lowering
    rules: dict[ObjectShape, str] = field(default_factory=dict)
    empty: str = ""
    opening: str = ""
    closing: str = ""

    def separator(self) -> str:
        return self.lower.comma()

    def exists(self, key: str, goal: GoalId) -> bool:
        return keyword_names().contains(key) and self.lower.exists(goal)

    def others_exist(self, names_: StringSet, goal: GoalId) -> bool:
        return self.lower.exists(goal) and not strings_empty(names_ & keyword_names())

    def member(self, key: str, goal: GoalId) -> str:
        return f"{quoted(key + '=')} {self.lower.symbol(goal)}"

    def other(self, names_: StringSet, goal: GoalId, path: str) -> str:
        name = (self.lower.bearable(names_, path) & keyword_names()).raw()
        head = self.lower.text.terminal(f'{name} "="')
        return f"{head} {self.lower.symbol(goal)}"
