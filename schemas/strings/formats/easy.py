"""Parts of the larger formats that begin with a repetition in every state: see `schemas.strings.shortcut`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from schemas.strings.assertions import language
from schemas.strings.ecma import parse
from schemas.strings.formats.table import named
from schemas.strings.nodes import Intersection, Regex
from schemas.strings.regex import is_length


@dataclass(frozen=True, slots=True)
class _Part:
    """A pattern with ``N`` for the largest count of each repetition."""

    pattern: str
    longest: int | None
    """The largest N; ``None`` where there is no bound."""
    counts: int
    """How often N stands in it, repetitions multiplied."""
    fixed: int
    """Characters beside those."""

    def fitted(self, high: int | None) -> Regex | None:
        count = self.longest
        if high is not None:
            room = (high - self.fixed) // self.counts
            count = room if count is None else min(count, room)
        return None if count is not None and count < LEAST else self.counted("" if count is None else str(count))

    def counted(self, most: str) -> Regex:
        return language(parse(f"^{self.pattern.replace('N', most)}$")[0])


LEAST = 8
_LABEL = "[A-Za-z0-9]{1,N}"
_HOST = _Part(rf"{_LABEL}(?:\.{_LABEL}){{0,3}}", 60, 4, 3)
_EMAIL = _Part(rf"{_LABEL}(?:\.{_LABEL})?@{_LABEL}(?:\.[A-Za-z0-9]{{2,N}}){{1,2}}", 30, 5, 4)
_ABSOLUTE = _Part("[A-Za-z][a-z0-9]{0,N}://[A-Za-z0-9._~/-]{0,N}", None, 2, 4)
_RELATIVE = _Part("[A-Za-z0-9._~/-]{0,N}", None, 1, 0)

_PARTS: dict[str, tuple[_Part, ...]] = {
    "hostname": (_HOST,),
    "email": (_EMAIL,),
    "uri": (_ABSOLUTE,),
    "iri": (_ABSOLUTE,),
    "uri-reference": (_ABSOLUTE, _RELATIVE),
    "iri-reference": (_ABSOLUTE, _RELATIVE),
}
SIZES = {84: "hostname", 554: "email", 586: "uri", 741: "iri", 1214: "uri-reference", 1577: "iri-reference"}
"""By the size of its expression, the format that one may be: no format need be read to see that it is none."""


@lru_cache(maxsize=256)
def easy_parts(node: Regex, low: int, high: int | None) -> tuple[tuple[Regex, Regex], ...] | None:
    """Parts of the strings of ``low`` to ``high`` characters of a format, each with a small expression of which it is
    itself a part; ``None`` where ``node``, which knows nothing of lengths, is no such format."""
    name = SIZES.get(node.facts.size)
    if name is None or node != without_length(name):
        return None
    found = ((part.fitted(high), part.counted("")) for part in _PARTS[name])
    return tuple((part, around) for part, around in found if part is not None and part.facts.shortest >= low)


def without_length(name: str) -> Regex:
    """The format ``name`` of ``SIZES`` without a bound of the whole length."""
    node = named(name)
    assert node is not None, name
    if isinstance(node, Intersection):
        (node,) = (part for part in node.parts if not is_length(part))
    return node
