"""The nodes of extended regular expressions over Unicode scalar values. `schemas.strings.regex` builds them."""

from __future__ import annotations

from typing import NamedTuple, Self

from schemas.strings.charset import CharSet

MAX_SIZE = 1 << 40
_string = str.__new__


class Facts(NamedTuple):
    """What every node knows of its language. ``longest`` is ``None`` where there is no bound."""

    key: bytes
    """Digest of the structure: equality, hash and a total order that is the same in every process."""
    nullable: bool
    shortest: int
    """A lower bound of the length of a member (exact without intersection and complement)."""
    longest: int | None
    """An upper bound of the length of a member, in code points."""
    plain: bool
    """No intersection or complement inside: then the language is not empty."""
    size: int
    """Nodes when written as a tree, at most MAX_SIZE."""


class Regex(str):
    """A node is the string of its key: so equality, hash and order of nodes, of which the work on automata mostly
    consists, are those of strings and take no call of ours. It is never used as a text, and never changed."""

    __slots__ = ("facts",)
    facts: Facts

    def __new__(cls, facts: Facts) -> Self:
        self = _string(cls, facts.key, "latin-1")
        self.facts = facts
        return self

    def __reduce__(self) -> tuple[object, ...]:
        names = [name for kind in type(self).__mro__ for name in getattr(kind, "__slots__", ())]
        state = {name: getattr(self, name) for name in names}
        return _string, (type(self), self.facts.key, "latin-1"), (None, state)


class Nothing(Regex):
    """No string at all."""

    __slots__ = ()


class Empty(Regex):
    """The empty string."""

    __slots__ = ()


class Chars(Regex):
    """One character of a set."""

    __slots__ = ("set",)
    set: CharSet

    def __new__(cls, facts: Facts, members: CharSet) -> Self:
        self = _string(cls, facts.key, "latin-1")
        self.facts, self.set = facts, members
        return self


class Concat(Regex):
    """``head`` then ``tail``; ``head`` is itself no concatenation."""

    __slots__ = ("head", "tail")
    head: Regex
    tail: Regex

    def __new__(cls, facts: Facts, head: Regex, tail: Regex) -> Self:
        self = _string(cls, facts.key, "latin-1")
        self.facts, self.head, self.tail = facts, head, tail
        return self


class _Combination(Regex):
    __slots__ = ("parts",)
    parts: tuple[Regex, ...]

    def __new__(cls, facts: Facts, parts: tuple[Regex, ...]) -> Self:
        self = _string(cls, facts.key, "latin-1")
        self.facts, self.parts = facts, parts
        return self


class Union(_Combination):
    """Any of ``parts``."""

    __slots__ = ()


class Intersection(_Combination):
    """All of ``parts`` at once."""

    __slots__ = ()


class Complement(Regex):
    """What is not ``inner``."""

    __slots__ = ("inner",)
    inner: Regex

    def __new__(cls, facts: Facts, inner: Regex) -> Self:
        self = _string(cls, facts.key, "latin-1")
        self.facts, self.inner = facts, inner
        return self


class Variable(Regex):
    """The unknown of an equation, while it is being solved (`schemas.strings.loops`): in no finished language."""

    __slots__ = ("edges",)
    edges: list[tuple[CharSet, Regex]]
    """Its derivatives, filled in once the equation is written down."""

    def __new__(cls, facts: Facts) -> Self:
        self = _string(cls, facts.key, "latin-1")
        self.facts, self.edges = facts, []
        return self


class Repeat(Regex):
    """``low`` to ``high`` times ``inner``; ``high`` is ``None`` for no bound."""

    __slots__ = ("high", "inner", "low")
    inner: Regex
    low: int
    high: int | None

    def __new__(cls, facts: Facts, inner: Regex, low: int, high: int | None) -> Self:
        self = _string(cls, facts.key, "latin-1")
        self.facts, self.inner, self.low, self.high = facts, inner, low, high
        return self


def pieces(node: Regex) -> list[Regex]:
    """The parts of a concatenation in order; of any other node the node itself. Never recurses: literals are long."""
    found: list[Regex] = []
    while isinstance(node, Concat):
        found.append(node.head)
        node = node.tail
    found.append(node)
    return found
