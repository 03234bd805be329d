"""The mirror image of a language: every string read backwards."""

from __future__ import annotations

from functools import lru_cache

from schemas.strings.intersections import intersection
from schemas.strings.nodes import Complement, Concat, Intersection, Regex, Repeat, Union, pieces
from schemas.strings.regex import complement, concat, repeat, union


@lru_cache(maxsize=1 << 12)
def reverse(node: Regex) -> Regex:
    """The expression for the reversed strings; the same size as ``node``."""
    match node:
        case Concat():
            return concat(*(reverse(part) for part in reversed(pieces(node))))
        case Union():
            return union(reverse(part) for part in node.parts)
        case Intersection():
            return intersection(reverse(part) for part in node.parts)
        case Complement():
            return complement(reverse(node.inner))
        case Repeat():
            return repeat(reverse(node.inner), node.low, node.high)
    return node
