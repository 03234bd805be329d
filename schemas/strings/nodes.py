"""The nodes of extended regular expressions over Unicode scalar values. `schemas.strings.regex` builds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from schemas.strings.charset import CharSet

MAX_SIZE = 1 << 40


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


# Nodes are never changed. They are not declared frozen, because it takes four times as long to make one that is.


@dataclass(slots=True, eq=False)
class Regex:
    facts: Facts

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Regex) and self.facts.key == other.facts.key)

    def __hash__(self) -> int:
        return hash(self.facts.key)


@dataclass(slots=True, eq=False)
class Nothing(Regex):
    """No string at all."""


@dataclass(slots=True, eq=False)
class Empty(Regex):
    """The empty string."""


@dataclass(slots=True, eq=False)
class Chars(Regex):
    """One character of a set."""

    set: CharSet


@dataclass(slots=True, eq=False)
class Concat(Regex):
    """``head`` then ``tail``; ``head`` is itself no concatenation."""

    head: Regex
    tail: Regex


@dataclass(slots=True, eq=False)
class Union(Regex):
    parts: tuple[Regex, ...]


@dataclass(slots=True, eq=False)
class Intersection(Regex):
    parts: tuple[Regex, ...]


@dataclass(slots=True, eq=False)
class Complement(Regex):
    inner: Regex


@dataclass(slots=True, eq=False)
class Variable(Regex):
    """The unknown of an equation, while it is being solved (`schemas.strings.loops`): in no finished language."""

    edges: list[tuple[CharSet, Regex]]
    """Its derivatives, filled in once the equation is written down."""


@dataclass(slots=True, eq=False)
class Repeat(Regex):
    """``low`` to ``high`` times ``inner``; ``high`` is ``None`` for no bound."""

    inner: Regex
    low: int
    high: int | None


def pieces(node: Regex) -> list[Regex]:
    """The parts of a concatenation in order; of any other node the node itself. Never recurses: literals are long."""
    found: list[Regex] = []
    while isinstance(node, Concat):
        found.append(node.head)
        node = node.tail
    found.append(node)
    return found
