"""Number spellings as llguidance 1.7.6 takes them: a regular expression, a Lark terminal, or a Lark rule.

Regular expressions there know no intersection and complement, terminals do (``&``, ``~``), and only rules may hold
``%json``. Nested ``%lark`` blocks bring a terminal into a rule.
"""

from __future__ import annotations

from functools import lru_cache

from schemas.errors import TooComplex
from schemas.numbers.periodic import Part
from schemas.numbers.regions import Region
from schemas.numbers.spelling import parts

_NOTHING = r"/[^\s\S]/"


@lru_cache(maxsize=4096)
def regex(regions: tuple[Region, ...], *, plain: bool) -> str:
    found = parts(regions, plain=plain)
    if not found:
        return _NOTHING[1:-1]
    if len(found) > 1 or not found[0].is_one_expression:
        raise TooComplex("these multiples take more than one regular expression")
    return found[0].every[0]


@lru_cache(maxsize=4096)
def terminal(regions: tuple[Region, ...], *, plain: bool) -> str:
    found = parts(regions, plain=plain)
    if any(part.native for part in found):
        raise TooComplex("these multiples are spelled by a rule only")
    return " | ".join(map(_terminal, found)) or _NOTHING


@lru_cache(maxsize=4096)
def rule(regions: tuple[Region, ...], *, plain: bool) -> str:
    found = parts(regions, plain=plain)
    return " | ".join(map(_element, found)) or _NOTHING


def _terminal(part: Part) -> str:
    if part.is_one_expression:
        return f"/{part.every[0]}/"
    return "(" + " & ".join([*(f"/{p}/" for p in part.every), *(f"~/{p}/" for p in part.none)]) + ")"


def _element(part: Part) -> str:
    if part.native:
        return part.native
    if part.is_one_expression:
        return f"/{part.every[0]}/"
    return f"%lark {{\nstart: NUMBER\nNUMBER: {_terminal(part)}\n}}"
