"""Members of the outermost object as tags (`schemas.spelling.Tags`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schemas.algebra import strings_empty
from schemas.compiled import Residue
from schemas.errors import TooComplex
from schemas.goals import GoalId
from schemas.lowering.raw_text import before, behind, fixed
from schemas.numbers import NumberSet
from schemas.scalars import Scalars
from schemas.shapes import ObjectShape
from schemas.spelling import Kind, Members, Tags, is_mixed
from schemas.stringset import StringSet
from schemas.writable import free_of, holds_name, tag_names, tag_strings

if TYPE_CHECKING:
    from schemas.lowering.values import Lowering


@dataclass(slots=True)
class TagMembers:
    """``members`` are those of the object whose rule this writes."""

    lower: Lowering
    tags: Tags
    members: Members
    rules: dict[ObjectShape, str] = field(default_factory=dict)
    opening: str = ""
    closing: str = ""
    _known: dict[tuple[str, frozenset[Kind], GoalId], str] = field(default_factory=dict)

    @property
    def empty(self) -> str:
        return fixed(self.tags.empty, self.tags.special)

    def separator(self) -> str:
        return ""

    def exists(self, key: str, goal: GoalId) -> bool:
        return holds_name(self.tags, key) and self._has_values(self.members.kinds(key), goal)

    def others_exist(self, names_: StringSet, goal: GoalId) -> bool:
        return not strings_empty(names_ & tag_names(self.tags)) and self._has_values(self.members.others, goal)

    def _has_values(self, kinds: frozenset[Kind], goal: GoalId) -> bool:
        if not self.lower.exists(goal):
            return False
        values = self.lower.algebra.reader.scalars(goal)
        if values.null or values.true or values.false or self.lower.has_numbers(values) or self.lower.has_nested(goal):
            return True
        strings = values.strings.upper
        return self._quotes(kinds, strings) or not strings_empty(strings & tag_strings(self.tags, kinds))

    def _quotes(self, kinds: frozenset[Kind], strings: StringSet) -> bool:
        """Whether some of the strings, of a member of these types, have to stand in quotes."""
        if not is_mixed(kinds) or self.tags.tells_strings:
            return False
        return not strings_empty(strings & ~tag_strings(self.tags, kinds))

    def member(self, key: str, goal: GoalId) -> str:
        tags = self.tags
        begin = f"{tags.key_open}{tags.written_name(key)}"
        return self._member(lambda kind: fixed(f"{begin}{tags.to(kind)}", tags.special), self.members.kinds(key), goal)

    def other(self, names_: StringSet, goal: GoalId, path: str) -> str:
        found = (self.lower.bearable(names_, path) & tag_names(self.tags)).raw()
        return self._member(lambda kind: self._open_tag(found, self.tags.to(kind)), self.members.others, goal)

    def _open_tag(self, name: str, to: str) -> str:
        expression, after = behind(name, to, self.tags.special)
        first, expression = before(self.tags.key_open, expression, self.tags.special)
        return " ".join(filter(None, [first, self.lower.text.terminal(expression), after]))

    def _member(self, tag: Callable[[Kind], str], kinds: frozenset[Kind], goal: GoalId) -> str:
        """The member behind its opening tag, which may depend on the value's type."""
        if not self.tags.tells_strings:
            return f"{tag('string')} {self._value(kinds, goal)}"
        values: list[tuple[Kind, str]] = [("string", text) for text in self._strings(kinds, goal)]
        values += self._others(kinds, goal)
        choices = list(dict.fromkeys(f"{tag(kind)} {text}" for kind, text in values))
        if len(choices) == 1:
            return choices[0]
        name = self.lower.text.name("g")
        self.lower.text.rule(name, choices)
        return name

    def _value(self, kinds: frozenset[Kind], goal: GoalId) -> str:
        key = ("", kinds, goal)
        known = self._known.get(key)
        if known is None:
            choices = [*self._strings(kinds, goal), *(text for _, text in self._others(kinds, goal))]
            known = choices[0]
            if len(choices) > 1:
                known = self.lower.text.name("g")
                self.lower.text.rule(known, choices)
            self._known[key] = known
        return known

    # values, each with what closes it

    def _closed(self, expression: str) -> str:
        """A terminal of ``expression`` and the closing text."""
        whole, after = behind(expression, self.tags.close + self.tags.after, self.tags.special)
        return " ".join(filter(None, [self.lower.text.terminal(whole), after]))

    def _closes_by_token(self) -> bool:
        return any(self.tags.close.startswith(text) for text, _ in self.tags.special)

    def _strings(self, kinds: frozenset[Kind], goal: GoalId) -> list[str]:
        values = self.lower.algebra.reader.scalars(goal)
        strings = values.strings.upper
        if strings_empty(strings):
            return []
        path = self.lower.goals.path(goal)
        self.lower.note_all(values.strings.residue)
        found = []
        raw = self.lower.bearable(strings, path) & tag_strings(self.tags, kinds)
        if raw.contains("") and self._closes_by_token():
            # A terminal matches something: the empty string is just what closes it.
            found.append(fixed(self.tags.close + self.tags.after, self.tags.special))
            raw = raw & ~StringSet.literals([""])
        if not strings_empty(raw):
            found += [self._closed(text) for text in raw.raw_terminals(self.tags.close)]
        if self._quotes(kinds, strings):
            # No raw line break is in JSON's strings; any other closing text could be.
            inside = "" if "\n" in self.tags.close else f" & {free_of(self.tags.close).raw()}"
            found.append(self._closed(f"( ( {self.lower.bearable(strings, path).terminal()} ){inside} )"))
        return found

    def _others(self, kinds: frozenset[Kind], goal: GoalId) -> list[tuple[Kind, str]]:
        """Values that are no strings, by their types."""
        values = self.lower.algebra.reader.scalars(goal)
        path = self.lower.goals.path(goal)
        found = self._words(values)
        close = fixed(self.tags.close + self.tags.after, self.tags.special)
        if is_mixed(kinds) and not self.tags.tells_strings:
            # Beside raw text a number has to reach to the closing text: see `behind`.
            number = self._number(values, path)
            found += [("number", self._closed(f"( {number} )"))] if number else []
        else:
            found += [("number", f"{number} {close}") for number in self.lower.numbers(values, path)]
        found += [("array", f"{nested} {close}") for nested in self.lower.arrays(goal)]
        return [*found, *(("object", f"{nested} {close}") for nested in self.lower.objects(goal))]

    def _words(self, values: Scalars) -> list[tuple[Kind, str]]:
        there = {"null": values.null, "true": values.true, "false": values.false}
        python = {"null": "None", "true": "True", "false": "False"}
        words = [word for word, on in there.items() if on]
        words += [python[word] for word in words] if self.tags.python_words else []
        kinds: list[tuple[Kind, list[str]]] = [("null", words)]
        if self.tags.to("null") != self.tags.to("boolean"):
            kinds = [("null", [w for w in words if w == "null"]), ("boolean", [w for w in words if w != "null"])]
        return [(kind, self._closed(f"/(?:{'|'.join(some)})/")) for kind, some in kinds if some]

    def _number(self, values: Scalars, path: str) -> str:
        """A terminal's expression for the numbers; for a superset where they have none of bearable size."""
        if not self.lower.has_numbers(values):
            return ""
        self.lower.note_all(values.numbers.residue | values.with_point.residue)
        try:
            plain, others = values.spelled_plainly(), values.spelled_both_ways()
            parts = [] if plain.is_empty() else [plain.plain_terminal()]
            return " | ".join(parts if others.is_empty() else [*parts, others.terminal()])
        except TooComplex as error:
            self.lower.note(Residue(path, "multipleOf", error.reason))
            return NumberSet.ALL.terminal()
