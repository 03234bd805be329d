"""How a value is written down: as JSON text, or in one of the ways in which models write a call's arguments.

A spelling other than JSON belongs to one call format. It is for schemas whose values are objects, and every object has
one text in it, white space and escapes apart. What a text means depends on the schema: `Members` says of each member
which types its value can have, and reader, grammar and renderer decide by it alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["string", "number", "boolean", "null", "array", "object"]

KIND = "{kind}"
EVERY_KIND: frozenset[Kind] = frozenset({"string", "number", "boolean", "null", "array", "object"})
STRING: frozenset[Kind] = frozenset({"string"})


@dataclass(frozen=True, slots=True)
class Json:
    """JSON text (RFC 8259)."""


@dataclass(frozen=True, slots=True)
class Tags:
    """A tag for each member of the outermost object, all else is JSON: ``key_open NAME to_string TEXT close``.

    A string stands raw. Where the schema leaves a member a choice between strings and other types, and the two are
    not told apart by ``to_other``, text is what it looks like: ``{…}`` an object, ``5`` a number, ``"5"`` a string,
    if these are allowed, and anything else is a string as it stands.
    """

    key_open: str
    to_string: str
    """Between the name and a string."""
    to_other: str
    """Between the name and any other value. May hold ``KIND``, which stands for the value's type."""
    close: str
    """Ends a value: no raw string holds it. No end of it is a beginning of it, or it would not be seen where it is."""
    after: str = ""
    """Behind each member."""
    empty: str = ""
    """All there is of an object without members."""
    python_words: bool = False
    """``True``, ``False`` and ``None`` are written (``true``, ``false`` and ``null`` are read as well)."""
    escapes: tuple[tuple[str, str], ...] = ()
    """Characters that names are written without, and what is written for each, in this order."""
    special: tuple[tuple[str, int], ...] = ()
    """Which texts of these are special tokens, and their ids: to the grammar they are no text."""

    def to(self, kind: Kind) -> str:
        """The text between the name and a value of this type."""
        return self.to_string if kind == "string" else self.to_other.replace(KIND, kind)

    def written_name(self, name: str) -> str:
        """A name as it stands in a tag."""
        for char, text in self.escapes:
            name = name.replace(char, text)
        return name

    def read_name(self, written: str) -> str:
        """The name that stands so in a tag."""
        for char, text in reversed(self.escapes):
            written = written.replace(text, char)
        return written

    @property
    def name_end(self) -> str:
        """Ends a name: no name holds it."""
        return tokens(self.to_string)[0]

    @property
    def tells_strings(self) -> bool:
        """The tag says whether its value is a string."""
        return self.to_string != self.to_other


@dataclass(frozen=True, slots=True)
class Keywords:
    """Python's keyword arguments: ``name=value, …``, with Python literals as values and strings in double quotes."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """JSON with bare names, and strings that stand raw between two ``quote``: ``{a:<|"|>text<|"|>,b:[1,2]}``."""

    quote: str
    special: tuple[tuple[str, int], ...] = ()


Spelling: TypeAlias = Json | Tags | Keywords | Quoted

JSON = Json()


@dataclass(frozen=True, slots=True)
class Members:
    """The types that the members of a schema's outermost object can have: a superset, the same for all who ask."""

    named: Mapping[str, frozenset[Kind]] = field(default_factory=dict)
    others: frozenset[Kind] = EVERY_KIND
    """Of a member that is not named."""

    def kinds(self, key: str) -> frozenset[Kind]:
        """The types of member ``key``: all of them for one that the schema does not know."""
        return self.named.get(key, self.others) or EVERY_KIND


def tokens(markup: str) -> list[str]:
    """Markup cut where white space may be, and behind each ``>``."""
    return re.findall(r"[^\s>]*>|[^\s>]+", markup)


def is_mixed(kinds: frozenset[Kind]) -> bool:
    """Whether a text has to be looked at to tell strings from other values."""
    return "string" in kinds and len(kinds) > 1
