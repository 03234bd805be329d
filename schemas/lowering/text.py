"""The text of a grammar in llguidance's Lark dialect: named terminals, rules, and conditions of parametric rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from schemas.stringset import StringSet

Condition: TypeAlias = str | bool
"""An expression behind ``%if``, or what it always is."""

_ANY = StringSet.ALL.terminal()
_NAME = re.compile(r"[a-z]+[0-9]+")
MAX_DEPTH = 1_000
"""Rules within rules. llguidance reads them recursively, and overflows its stack at some 3,000: the process ends."""
SMALL = 250_000
SMALL_PLAIN, PLAIN_TOGETHER = 60_000, 70_000
SMALL_MIXED, MIXED_TOGETHER = 6_000, 20_000
"""Characters: of the grammar, of one plain terminal and of all, of one terminal with ``&`` or ``~`` and of all of them.

A grammar within these needs at most a tenth of the fuel that llguidance gives its lexer by default, over all of
MaskBench. Single terminals that are hard for their length were measured before (``Language.affordable``).
"""


@dataclass(slots=True)
class Text:
    """A grammar under construction. Equal terminals are one, so that the lexer has few."""

    size: int = 0
    _terminals: dict[str, str] = field(default_factory=dict)
    _rules: dict[str, str] = field(default_factory=dict)
    _choices: dict[tuple[str, ...], str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)
    _start: str = ""

    def name(self, prefix: str) -> str:
        number = self._counts.get(prefix, 0)
        self._counts[prefix] = number + 1
        return f"{prefix}{number}"

    def upcoming(self, prefix: str) -> str:
        """What `name` will give next."""
        return f"{prefix}{self._counts.get(prefix, 0)}"

    def terminal(self, expression: str) -> str:
        known = self._terminals.get(expression)
        if known is None:
            if _ANY in expression and expression != _ANY:
                # "Any string but …" stands in most objects: its first half is written once.
                return self.terminal(expression.replace(_ANY, self.terminal(_ANY)))
            known = self._terminals[expression] = self.name("T")
            self.size += len(expression) + 10
        return known

    def symbol(self, expression: str) -> str:
        """The terminal for ``expression`` where it is one regular expression, else a rule for it."""
        if expression.startswith("/") and expression.endswith("/") and "/ |" not in expression:
            return self.terminal(expression)
        known = self._terminals.get(expression)
        if known is None:
            known = self._terminals[expression] = self.name("n")
            self.size += len(expression) + 10
        return known

    def rule(self, name: str, alternatives: Iterable[str], *, parametric: bool = False) -> None:
        """Define rule ``name``. There must be an alternative: a rule that derives nothing is a trap for the model."""
        body = "\n  | ".join(dict.fromkeys(alternatives))
        assert body, name
        rule = self._rules[name] = f"{name}::_: {body}" if parametric else f"{name}: {body}"
        self.size += len(rule) + 1

    def choice(self, symbols: Sequence[str]) -> str:
        """The rule for any of ``symbols``."""
        known = self._choices.get(tuple(symbols))
        if known is None:
            known = self._choices[tuple(symbols)] = self.name("k")
            self.rule(known, symbols)
        return known

    @property
    def is_small(self) -> bool:
        """Whether the engine is sure to take it: few symbols, and no terminals that its lexer could find too hard."""
        if not self.has_few_symbols:
            return False
        plain, mixed = [0], [0]
        for expression in self._terminals:
            if "%json " in expression or "%lark " in expression:
                return False
            (mixed if "&" in expression or "~" in expression else plain).append(len(expression))
        return (
            max(plain) < SMALL_PLAIN
            and sum(plain) < PLAIN_TOGETHER
            and max(mixed) < SMALL_MIXED
            and sum(mixed) < MIXED_TOGETHER
        )

    @property
    def has_few_symbols(self) -> bool:
        """Whether the engine can refuse nothing of it but its terminals."""
        return self.size < SMALL

    @property
    def is_deep(self) -> bool:
        """Whether a reader of the rendered text that goes from rule to rule goes more than ``MAX_DEPTH`` deep."""
        if len(self._rules) <= MAX_DEPTH:
            return False
        seen: set[str] = set()
        path = [iter(_NAME.findall(self._start))]
        while path:
            name = next(path[-1], None)
            if name is None:
                path.pop()
            elif name not in seen and name in self._rules:
                seen.add(name)
                path.append(iter(_NAME.findall(self._rules[name])))
                if len(path) > MAX_DEPTH:
                    return True
        return False

    def terminals_alone(self) -> str:
        """A grammar of any one terminal: all the work of its lexer, and hardly any of its parser."""
        names = " | ".join(self._terminals.values())
        return "\n".join([f"start: {names}", *(f"{name}: {text}" for text, name in self._terminals.items()), ""])

    def render(self, start: str) -> str:
        self._start = start
        lines = [f"start: {start}", *self._rules.values()]
        lines.extend(f"{name}: {expression}" for expression, name in self._terminals.items())
        return "\n".join(lines) + "\n"


def joined(*symbols: str) -> str:
    """One symbol after the other, without those that are empty; the empty text for none."""
    return " ".join(filter(None, symbols)) or '""'


def when(symbols: str, condition: Condition) -> str | None:
    """An alternative of a parametric rule; None when its condition never holds."""
    if condition is False:
        return None
    return symbols if condition is True else f"{symbols} %if {condition}"


def all_of(conditions: Iterable[Condition]) -> Condition:
    parts: dict[str, None] = {}
    for condition in conditions:
        if condition is False:
            return False
        if condition is not True:
            parts[condition] = None
    return _nested("and", list(parts)) if parts else True


def any_of(conditions: Iterable[Condition]) -> Condition:
    parts: dict[str, None] = {}
    for condition in conditions:
        if condition is True:
            return True
        if condition is not False:
            parts[condition] = None
    return _nested("or", list(parts)) if parts else False


def _nested(function: str, parts: list[str]) -> str:
    """``and`` and ``or`` take two conditions: a balanced tree keeps the nesting small."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return f"{function}({_nested(function, parts[:middle])}, {_nested(function, parts[middle:])})"


def bits(low: int, high: int) -> str:
    return f"[{low}:{high}]"
