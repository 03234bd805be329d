"""JSON with bare names and raw strings between quotes of another kind (`schemas.spelling.Quoted`), at every level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.algebra import strings_empty
from schemas.lowering.keywords import BareMembers
from schemas.lowering.raw_text import fixed, quoted
from schemas.spelling import Quoted
from schemas.stringset import StringSet
from schemas.writable import quoted_names, quoted_strings

if TYPE_CHECKING:
    from schemas.lowering.values import Lowering


class QuotedMembers(BareMembers):
    """Bare names, and strings that stand raw between the spelling's quotes."""

    __slots__ = ("spelling",)

    def __init__(self, lower: Lowering, spelling: Quoted) -> None:
        super().__init__(lower, quoted_names(spelling), ":", empty='"{" "}"', opening='"{"', closing='"}"')
        self.spelling = spelling

    def strings(self, strings: StringSet, path: str) -> list[str]:
        """Symbols for ``strings``."""
        quote, special = self.spelling.quote, self.spelling.special
        raw = self.lower.bearable(strings, path) & quoted_strings(self.spelling)
        if not any(text in quote for text, _ in special):
            terminals = (f"{quoted(quote)} {text} {quoted(quote)}" for text in raw.raw_terminals(quote))
            return [self.lower.text.terminal(expression) for expression in terminals]
        # A terminal matches something: the empty string is two quotes.
        mark = fixed(quote, special)
        choices = [f"{mark} {mark}"] if raw.contains("") else []
        some = raw & ~StringSet.literals([""])
        if not strings_empty(some):
            choices += [f"{mark} {self.lower.text.terminal(text)} {mark}" for text in some.raw_terminals(quote)]
        return choices
