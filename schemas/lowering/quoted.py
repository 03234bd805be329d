"""JSON with bare names and raw strings between quotes of another kind (`schemas.spelling.Quoted`), at every level."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schemas.algebra import strings_empty
from schemas.goals import GoalId
from schemas.lowering.raw_text import fixed, quoted
from schemas.shapes import ObjectShape
from schemas.spelling import Quoted
from schemas.stringset import StringSet
from schemas.writable import quoted_names, quoted_strings

if TYPE_CHECKING:
    from schemas.lowering.values import Lowering


@dataclass(slots=True)
class QuotedMembers:
    lower: Lowering
    spelling: Quoted
    rules: dict[ObjectShape, str] = field(default_factory=dict)
    empty: str = '"{" "}"'
    opening: str = '"{"'
    closing: str = '"}"'

    def separator(self) -> str:
        return self.lower.comma()

    def exists(self, key: str, goal: GoalId) -> bool:
        return quoted_names(self.spelling).contains(key) and self.lower.exists(goal)

    def others_exist(self, names_: StringSet, goal: GoalId) -> bool:
        return self.lower.exists(goal) and not strings_empty(names_ & quoted_names(self.spelling))

    def member(self, key: str, goal: GoalId) -> str:
        return f"{quoted(key + ':')} {self.lower.symbol(goal)}"

    def other(self, names_: StringSet, goal: GoalId, path: str) -> str:
        name = (self.lower.bearable(names_, path) & quoted_names(self.spelling)).raw()
        head = self.lower.text.terminal(f'{name} ":"')
        return f"{head} {self.lower.symbol(goal)}"

    def strings(self, strings: StringSet, path: str) -> list[str]:
        """Symbols for ``strings``."""
        quote, special = self.spelling.quote, self.spelling.special
        raw = self.lower.bearable(strings, path) & quoted_strings(self.spelling)
        if not any(text in quote for text, _ in special):
            return [self.lower.text.terminal(f"{quoted(quote)} {raw.raw()} {quoted(quote)}")]
        # A terminal matches something: the empty string is two quotes.
        mark = fixed(quote, special)
        choices = [f"{mark} {mark}"] if raw.contains("") else []
        some = raw & ~StringSet.literals([""])
        if not strings_empty(some):
            choices.append(f"{mark} {self.lower.text.terminal(some.raw())} {mark}")
        return choices
