"""Goals to rules: the driver of the lowering, and scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from schemas.compiled import Residue
from schemas.errors import SchemaError, TooComplex
from schemas.goals import GoalId
from schemas.lengths import Lengths
from schemas.lowering import arrays, objects, root
from schemas.lowering.members import JsonMembers, MemberWriter
from schemas.lowering.quoted import QuotedMembers
from schemas.lowering.text import Text
from schemas.numbers import NumberSet
from schemas.scalars import Scalars
from schemas.spelling import JSON, Keywords, Members, Quoted, Spelling
from schemas.stringset import StringSet, word_terminal

COLON = "/: ?/"
COMMA = "/, ?/"
PYTHON_WORDS = {"null": "None", "true": "True", "false": "False"}


class Lowering:
    """One grammar. Goals become rules when they are first asked for; a queue keeps the recursion flat."""

    def __init__(
        self, lengths: Lengths, *, plainly: bool = False, flatly: bool = False, spelling: Spelling = JSON
    ) -> None:
        """``plainly``: widen string sets that are no plain regular expression, because the lexer gave up on them.
        ``flatly``: count no matches in arrays, because a rule for each number of them makes the grammar too deep."""
        self._plainly = plainly
        self.flatly = flatly
        self.spelling = spelling
        self._python = isinstance(spelling, Keywords)
        self.lengths = lengths
        self.algebra = lengths.algebra
        self.goals = lengths.algebra.goals
        self.text = Text()
        self.residue: dict[Residue, None] = {}
        self.narrowings: dict[Residue, None] = {}
        self.shape_rules: dict[object, str | None] = {}
        self._symbols: dict[GoalId, str] = {}
        self._keys: dict[str, str] = {}
        self._queue: list[tuple[GoalId, str]] = []
        quoted = QuotedMembers(self, spelling) if isinstance(spelling, Quoted) else None
        self._writer: MemberWriter = quoted or JsonMembers(self)
        self._write_strings = quoted.strings if quoted else self._json_strings
        self.members: Members | None = None
        """What the members of the outermost object can be; none of a JSON text."""

    def run(self, goal: GoalId) -> str:
        """The grammar's text. Raises :class:`SchemaError` over ``limits.grammar_bytes``, and where no value can be
        written in this spelling."""
        if self.spelling == JSON:
            start = self.symbol(goal)
        else:
            start, self.members = root.rule(self, goal, self._writer)
        for goal, name in self._queue:  # grows while it is walked
            self.text.rule(name, self._alternatives(goal))
            if self.text.size > self.goals.limits.grammar_bytes:
                limit = self.goals.limits.grammar_bytes
                raise SchemaError(self.goals.path(goal), "", f"the grammar is over the limit grammar_bytes = {limit}")
        return self.text.render(start)

    def exists(self, goal: GoalId) -> bool:
        return self.lengths[goal] is not None

    def symbol(self, goal: GoalId) -> str:
        """The rule or terminal of a goal that has values."""
        known = self._symbols.get(goal)
        if known is None:
            assert self.exists(goal)
            self.goals.spend(10, self.goals.path(goal))
            if self.algebra.arrays(goal) or self.algebra.objects(goal):
                known = self.text.name("v")
                self._queue.append((goal, known))
            else:
                terminals = self._scalars(goal)
                known = terminals[0]
                if len(terminals) > 1:
                    known = self.text.name("v")
                    self.text.rule(known, terminals)
            self._symbols[goal] = known
        return known

    def _alternatives(self, goal: GoalId) -> list[str]:
        return [*self._scalars(goal), *self.nested(goal)]

    def nested(self, goal: GoalId) -> list[str]:
        """The rules of the arrays and objects of a goal."""
        return [*self.arrays(goal), *self.objects(goal)]

    def arrays(self, goal: GoalId) -> list[str]:
        found = self.algebra.arrays(goal)
        if not found:
            return []
        path = self.goals.path(goal)
        return [arrays.rule(self, shape, path) for shape in found if self.lengths.array(shape) is not None]

    def objects(self, goal: GoalId) -> list[str]:
        found = self.algebra.objects(goal)
        if not found:
            return []
        path, writer = self.goals.path(goal), self._writer
        return [objects.rule(self, shape, path, writer) for shape in found if self.lengths.object(shape) is not None]

    def has_nested(self, goal: GoalId) -> bool:
        """Whether there are arrays or objects among the values of a goal."""
        return any(self.lengths.array(array) is not None for array in self.algebra.arrays(goal)) or any(
            self.lengths.object(shape) is not None for shape in self.algebra.objects(goal)
        )

    # scalars

    def _scalars(self, goal: GoalId) -> list[str]:
        """Terminals: one for the fixed words, one for numbers, one for strings."""
        values = self.algebra.reader.scalars(goal)
        words = [word for word, on in (("null", values.null), ("true", values.true), ("false", values.false)) if on]
        if self._python:
            words += [PYTHON_WORDS[word] for word in words]
        found = [self.text.terminal("/" + "|".join(words) + "/")] if words else []
        found.extend(self.numbers(values, self.goals.path(goal)))
        try:
            empty = values.strings.upper.is_empty()
        except TooComplex:
            empty = False
        if not empty:
            self._note(values.strings.residue)
            found.extend(self._write_strings(values.strings.upper, self.goals.path(goal)))
        return found

    def _json_strings(self, strings: StringSet, path: str) -> list[str]:
        return [self.text.terminal(expression) for expression in self.strings(strings, path)]

    def has_numbers(self, values: Scalars) -> bool:
        return not values.numbers.upper.is_empty()

    def numbers(self, values: Scalars, path: str) -> list[str]:
        """Symbols for the numbers: none, or one for all, or one for integers spelled plainly and one for the rest."""
        if not self.has_numbers(values):
            return []
        self._note(values.numbers.residue | values.with_point.residue)
        plain, others = values.spelled_plainly(), values.spelled_both_ways()
        found = [] if plain.is_empty() else [self._spelled(plain, path, _plain_rule)]
        return found + ([] if others.is_empty() else [self._spelled(others, path, _rule)])

    def _spelled(self, numbers: NumberSet, path: str, spelling: Callable[[NumberSet], str]) -> str:
        """The symbol for ``numbers``; for a superset where the set has no spelling of bearable size."""
        if self._plainly and numbers.superset() != numbers:
            self.note(Residue(path, "multipleOf", "together with the others it is too much for the lexer"))
            numbers = numbers.superset()
        try:
            expression = spelling(numbers)
        except TooComplex as error:
            self.note(Residue(path, "multipleOf", error.reason))
            expression = _of_superset(numbers, path, spelling)
        return self.text.symbol(expression)

    def strings(self, strings: StringSet, path: str) -> list[str]:
        """Terminal expressions whose union is ``strings``, or a superset where that would be too much for the lexer.

        What stands beside the first one adds no string: it makes masks cheap.
        """
        return self._quoted(self.bearable(strings, path))

    def _quoted(self, strings: StringSet) -> list[str]:
        found = [strings.terminal(), *strings.shortcuts()]
        return [*found, strings.in_single_quotes()] if self._python else found

    def bearable(self, strings: StringSet, path: str) -> StringSet:
        """``strings``, or a superset where they would be too much for the lexer."""
        bearable, reason = strings.affordable()
        if reason is None and self._plainly and not strings.is_plain():
            bearable, reason = strings.unrestricted(), "together with the others it is too much for the lexer"
        if reason is not None:
            self.note(Residue(path, "pattern", reason))
        return bearable

    def key(self, name: str) -> str:
        """Two symbols: a member's name and its colon.

        The colon is a terminal of its own for every name. The lexer takes the longest match, so a name that went on
        to its colon in one alternative would hide the same name without it in another; and a lexeme that goes on
        after the string takes the engine's shortcut for whole strings away.
        """
        known = self._keys.get(name)
        if known is None:
            expressions = [word_terminal(name)]
            if self._python:
                expressions.append(StringSet.literals([name]).in_single_quotes())
            known = self._keys[name] = self._with_colon(expressions)
        return known

    def keys(self, names: StringSet, path: str) -> str:
        """As :meth:`key`, for any name of a set."""
        return self._with_colon(self.strings(names, path))

    def _with_colon(self, expressions: Sequence[str]) -> str:
        terminal = self.text.terminal
        if len(expressions) == 1:
            return f"{terminal(expressions[0])} {terminal(COLON)}"
        return f"{self.text.choice([terminal(expression) for expression in expressions])} {terminal(COLON)}"

    def comma(self) -> str:
        return self.text.terminal(COMMA)

    def note(self, residue: Residue) -> None:
        self.residue[residue] = None

    def _note(self, residue: frozenset[Residue]) -> None:
        for part in sorted(residue, key=lambda r: (r.path, r.keyword, r.reason)):
            self.note(part)

    def note_all(self, residue: frozenset[Residue]) -> None:
        self._note(residue)


def _of_superset(numbers: NumberSet, path: str, spelling: Callable[[NumberSet], str]) -> str:
    try:
        return spelling(numbers.superset())
    except TooComplex as error:
        raise SchemaError(path, "", f"too complex: {error.reason}") from error


@lru_cache(maxsize=2048)
def _rule(numbers: NumberSet) -> str:
    return numbers.rule()


@lru_cache(maxsize=256)
def _plain_rule(numbers: NumberSet) -> str:
    return numbers.plain_rule()
