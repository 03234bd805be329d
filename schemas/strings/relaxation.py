"""Supersets of a language that the lexer bears: what the grammar falls back to, and the caller then checks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from schemas.errors import TooComplex
from schemas.strings import automaton
from schemas.strings.determinise import determinised
from schemas.strings.intersections import intersection
from schemas.strings.nodes import Concat, Intersection, Nothing, Regex, Repeat, Union, pieces
from schemas.strings.probe import FEW, own_words, suspicious, too_costly
from schemas.strings.regex import ALL, concat, is_length, repeat, union


@lru_cache(maxsize=2048)
def affordable(node: Regex) -> tuple[Regex, str | None]:
    """The tightest known superset of ``node`` that the lexer bears, and why it is not ``node``; ``None`` when it is."""
    if isinstance(node, Nothing):
        return node, None
    reason: str | None = None
    for candidate in chain((node,), _wider(node)):
        written = determinised(candidate)
        if isinstance(written, Nothing):
            # The language is empty, which its own budget did not show: all strings, and a reason, are as good.
            reason = reason or "it is empty"
            continue
        own = own_words(node) if suspicious(written) and suspicious(node) else ()
        try:
            fault = too_costly(written, own)
        except TooComplex as error:
            fault = error.reason
        if fault is None:
            return written, reason
        reason = reason or fault
    return ALL, reason


def _wider(node: Regex) -> Iterator[Regex]:
    """Supersets, from tight to loose."""
    if isinstance(node, Intersection):
        rest = [part for part in node.parts if not is_length(part)]
        if len(rest) < len(node.parts):
            yield intersection(rest)
        yield intersection(_uncounted(part) for part in node.parts)
        yield intersection(_uncounted(part) for part in rest)
        for part in sorted(rest, key=lambda part: part.facts.size):
            yield part
        for part in node.parts:
            if is_length(part):
                yield part
    yield _uncounted(node)


def is_empty(node: Regex) -> bool:
    """Whether the language, or a superset that is easier to look through, has no member. Raises TooComplex."""
    try:
        return automaton.is_empty(node)
    except TooComplex:
        parts = node.parts if isinstance(node, Intersection) else (node,)
        if automaton.is_empty(intersection(_uncounted(part) for part in parts if not is_length(part))):
            return True
        raise


def _uncounted(node: Regex) -> Regex:
    """A superset in which what was counted up to more than a few may come any number of times."""
    match node:
        case Repeat() if not is_length(node):
            inner = _uncounted(node.inner)
            many = node.low > FEW or (node.high or 0) > FEW
            return repeat(inner, min(node.low, 1), None) if many else repeat(inner, node.low, node.high)
        case Concat():
            return concat(*map(_uncounted, pieces(node)))
        case Union():
            return union(map(_uncounted, node.parts))
        case Intersection():
            return intersection(map(_uncounted, node.parts))
    return node
