"""Extended regular expressions over Unicode scalar values, with intersection and complement, in a normal form.

The constructors (these, and `schemas.strings.intersections`) keep every expression similar in the sense of Brzozowski,
"Derivatives of Regular Expressions" (1964): associative, commutative and idempotent up to equality, so that an
expression has finitely many derivatives. Counted repetitions are never unrolled.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import TypeGuard

from schemas.strings.charset import ANY, CharSet, of
from schemas.strings.nodes import (
    MAX_SIZE,
    Chars,
    Complement,
    Concat,
    Empty,
    Facts,
    Nothing,
    Regex,
    Repeat,
    Union,
)


def digest(tag: bytes, *parts: bytes) -> bytes:
    """The key of a node of kind ``tag`` with these parts."""
    return blake2b(tag + b"".join(parts), digest_size=16).digest()


NONE = Nothing(Facts(digest(b"none"), False, 0, 0, True, 1))
EMPTY = Empty(Facts(digest(b"empty"), True, 0, 0, True, 1))


@lru_cache(maxsize=1 << 13)
def chars(members: CharSet) -> Regex:
    """One character out of ``members``."""
    if not members:
        return NONE
    key = digest(b"chars", *(b"%x-%x," % pair for pair in members.ranges))
    return Chars(Facts(key, False, 1, 1, True, len(members.ranges)), members)


@lru_cache(maxsize=4096)
def letter(char: str) -> Regex:
    """Exactly this character; no string at all for a lone surrogate."""
    return chars(of(char))


def concat(*parts: Regex) -> Regex:
    """The parts one after the other."""
    result: Regex = EMPTY
    for part in reversed(parts):
        result = _join(part, result)
    return result


def _join(left: Regex, right: Regex) -> Regex:
    if isinstance(left, Nothing) or isinstance(right, Nothing):
        return NONE
    if isinstance(left, Empty):
        return right
    if isinstance(right, Empty):
        return left
    heads = []
    while isinstance(left, Concat):
        heads.append(left.head)
        left = left.tail
    result = _cons(left, right)
    for head in reversed(heads):
        result = _cons(head, result)
    return result


@lru_cache(maxsize=1 << 14)
def _cons(head: Regex, tail: Regex) -> Regex:
    """``head`` is no concatenation. Equal neighbours become one repetition: x*x* is x*, xx{2,3} is x{3,4}."""
    next_, rest = (tail.head, tail.tail) if isinstance(tail, Concat) else (tail, EMPTY)
    if isinstance(next_, Chars) and isinstance(head, Repeat) and isinstance(rest, Concat | Repeat):
        head = _up_to_first(head, next_, rest.head if isinstance(rest, Concat) else rest)
    inner, low, high = _as_repeat(head)
    next_inner, next_low, next_high = _as_repeat(next_)
    if inner == next_inner and not (isinstance(head, Chars) and isinstance(next_, Chars)):
        both = None if high is None or next_high is None else high + next_high
        # x{0,3}x{2,5} may only be joined when the sums leave no gap: they never do, both are intervals.
        return _join(repeat(inner, low + next_low, both), rest)
    a, b = head.facts, tail.facts
    longest = None if a.longest is None or b.longest is None else a.longest + b.longest
    facts = Facts(
        digest(b"concat", a.key, b.key),
        a.nullable and b.nullable,
        a.shortest + b.shortest,
        longest,
        a.plain and b.plain,
        min(a.size + b.size, MAX_SIZE),
    )
    return Concat(facts, head, tail)


def _up_to_first(head: Repeat, char: Chars, after: Regex) -> Regex:
    """a*·c·b* is (a∖c)*·c·b* where b holds a and c: the first c will do, and the expression is deterministic."""
    a, b = head.inner, after.inner if isinstance(after, Repeat) else after
    if not isinstance(a, Chars) or not isinstance(b, Chars) or not isinstance(after, Repeat):
        return head
    if head.low or head.high is not None or after.low or after.high is not None or (a.set | char.set) - b.set:
        return head
    return repeat(chars(a.set - char.set), 0, None)


def _as_repeat(node: Regex) -> tuple[Regex, int, int | None]:
    return (node.inner, node.low, node.high) if isinstance(node, Repeat) else (node, 1, 1)


def repeat(inner: Regex, low: int, high: int | None) -> Regex:
    """``low`` to ``high`` times ``inner``. ``high`` of ``None`` is no bound; ``high < low`` is no string at all."""
    if high is not None and high < low:
        return NONE
    if high == 0 or isinstance(inner, Empty):
        return EMPTY
    if isinstance(inner, Nothing):
        return EMPTY if low == 0 else NONE
    if low == high == 1:
        return inner
    if inner.facts.nullable:
        low = 0
        if high == 1:
            return inner
        if isinstance(inner, Union) and EMPTY in inner.parts:
            return repeat(union(part for part in inner.parts if part != EMPTY), 0, high)
    if isinstance(inner, Repeat):
        flat = _nested(inner, low, high)
        if flat is not None:
            return flat
    return _repeat(inner, low, high)


def _nested(inner: Repeat, low: int, high: int | None) -> Regex | None:
    """(x{a,b}){c,d} as x{a·c,b·d} where the counts in between leave no gap; else ``None``."""
    few, many = inner.low, inner.high
    # The step from n to n+1 rounds leaves no gap when (n+1)·a <= n·b + 1; if so for the first n, then for all.
    if many is not None and few * (low + 1) > many * low + 1 and low != high:
        return None
    if many is None and low == 0 and few > 1:
        return None
    both = None if many is None or high is None else many * high
    return repeat(inner.inner, few * low, both)


@lru_cache(maxsize=1 << 14)
def _repeat(inner: Regex, low: int, high: int | None) -> Regex:
    f = inner.facts
    facts = Facts(
        digest(b"repeat%d,%s" % (low, b"" if high is None else b"%d" % high), f.key),
        low == 0 or f.nullable,
        f.shortest * low,
        None if high is None or f.longest is None else f.longest * high,
        f.plain,
        min(f.size + 1, MAX_SIZE),
    )
    return Repeat(facts, inner, low, high)


MANY = 16
"""More alternatives than this are kept as a tree by their first characters."""

ANY_CHAR = chars(ANY)
ALL = _repeat(ANY_CHAR, 0, None)


def is_length(node: Regex) -> TypeGuard[Repeat]:
    """Whether the node is a pure length interval: any characters, so and so many."""
    return isinstance(node, Repeat) and node.inner == ANY_CHAR


def length(low: int, high: int | None) -> Regex:
    """All strings of ``low`` to ``high`` code points."""
    return repeat(ANY_CHAR, low, high)


@lru_cache(maxsize=1 << 13)
def complement(node: Regex) -> Regex:
    """Every string that is not in ``node``."""
    if isinstance(node, Nothing):
        return ALL
    if isinstance(node, Empty):
        return length(1, None)
    if isinstance(node, Complement):
        return node.inner
    if is_length(node):
        above = NONE if node.high is None else length(node.high + 1, None)
        return union([length(0, node.low - 1), above]) if node.low else above
    f = node.facts
    facts = Facts(digest(b"not", f.key), not f.nullable, 1 if f.nullable else 0, None, False, min(f.size + 1, MAX_SIZE))
    return Complement(facts, node)


def union(parts: Iterable[Regex]) -> Regex:
    """Every string of any part."""
    return _union(tuple(parts))


@lru_cache(maxsize=1 << 14)
def _union(parts: tuple[Regex, ...]) -> Regex:
    pool: dict[Regex, None] = {}
    letters: CharSet | None = None
    todo = list(parts)
    while todo:
        part = todo.pop()
        if isinstance(part, Union):
            todo.extend(part.parts)
        elif isinstance(part, Chars):
            letters = part.set if letters is None else letters | part.set
        elif not isinstance(part, Nothing):
            pool[part] = None
    if letters is not None:
        pool[chars(letters)] = None
    if len(pool) > MANY:
        _share_beginnings(pool)
    if len(pool) > 1:
        _merge_heads(pool)
    if ALL in pool or any(isinstance(part, Complement) and part.inner in pool for part in pool):
        return ALL
    if EMPTY in pool and any(part.facts.nullable for part in pool if part != EMPTY):
        del pool[EMPTY]
    if len(pool) < 2:
        return next(iter(pool), NONE)
    ordered = tuple(sorted(pool))
    keys, nullables, shortest, longest, plains, sizes = zip(*(part.facts for part in ordered), strict=True)
    facts = Facts(
        digest(b"union", *keys),
        any(nullables),
        min(shortest),
        None if None in longest else max(longest),
        all(plains),
        min(sum(sizes) + 1, MAX_SIZE),
    )
    return Union(facts, ordered)


def _share_beginnings(pool: dict[Regex, None]) -> None:
    """ax | ay becomes a(x | y): a long list of words becomes a tree, of which a derivative takes one branch."""
    by_head: dict[Regex, list[Concat]] = {}
    for part in pool:
        if isinstance(part, Concat) and isinstance(part.head, Chars):
            by_head.setdefault(part.head, []).append(part)
    for head, same in by_head.items():
        if len(same) > 1:
            for part in same:
                del pool[part]
            pool[_join(head, union(part.tail for part in same))] = None


def _merge_heads(pool: dict[Regex, None]) -> None:
    """Joins parts that differ in the counts of their first repetition, or in their first character, alone.

    xT | x{2,5}T is x{1,5}T and T | xT is x{0,1}T: without this a counted repetition after an unanchored prefix has
    as many states as its count has subsets.
    """
    groups: dict[tuple[Regex, Regex], list[tuple[int, int | None, Regex]]] = {}
    by_tail: dict[Regex, list[Regex]] = {}
    for part in sorted(pool):
        head, tail = (part.head, part.tail) if isinstance(part, Concat) else (part, EMPTY)
        if isinstance(head, Chars) and tail is not EMPTY:
            by_tail.setdefault(tail, []).append(part)
        inner, low, high = _as_repeat(head)
        groups.setdefault((inner, tail), []).append((low, high, part))
    for (inner, tail), counts in groups.items():
        if tail in pool and all(low > 0 for low, _, _ in counts) and any(low == 1 for low, _, _ in counts):
            counts.append((0, 0, tail))
        if len(counts) < 2:
            continue
        counts.sort(key=lambda c: (c[0], MAX_SIZE if c[1] is None else c[1]))
        joined: list[tuple[int, int | None]] = []
        for low, high, part in counts:
            pool.pop(part, None)
            if joined and (joined[-1][1] is None or low <= joined[-1][1] + 1):
                before = joined[-1][1]
                end = None if before is None or high is None else max(before, high)
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((low, high))
        for low, high in joined:
            pool[_join(repeat(inner, low, high), tail)] = None
    for tail, same in by_tail.items():
        still = [part for part in same if part in pool]
        if len(still) > 1:
            letters = CharSet(())
            for part in still:
                del pool[part]
                if isinstance(part, Concat) and isinstance(part.head, Chars):
                    letters = letters | part.head.set
            pool[_join(chars(letters), tail)] = None
