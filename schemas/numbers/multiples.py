"""Regular expressions for the spellings of multiples: digits, perhaps a point and more digits, whatever the bounds.

With step = a / 10^k and a = s · c, where s divides a power of ten and c shares no factor with ten: a number is a
multiple of a / 10^k exactly when its last digits say that s divides it and c divides the number that its digits spell
without the point (appended zeros do not change divisibility by c).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from schemas.errors import TooComplex
from schemas.numbers.digits import Pattern, group

_MAX_SUFFIX = 4
"""Digits that decide divisibility by s; each more multiplies the alternatives by ten."""
_COPRIME = (1, 3, 7)
"""Values of c whose expression stays small (113 bytes for 3, 14 kB for 7, 240 kB for 9)."""


def decimal_places(step: Fraction) -> int:
    """The smallest k for which 10^k · step is an integer. Raises ``ValueError`` when there is none."""
    places, scaled = 0, step
    while scaled.denominator != 1:
        scaled *= 10
        places += 1
        if places > 400:
            raise ValueError(f"{step} has no finite decimal expansion")
    return places


def power_of_ten(value: int) -> int | None:
    text = str(value)
    return len(text) - 1 if text.strip("0") == "1" else None


@cache
def multiples(step: Fraction) -> tuple[Pattern, ...]:
    """Expressions that all match a spelling ``digits(.digits)?`` exactly when it is a multiple of ``step``.

    Raises :class:`TooComplex` when one of them would be too large.
    """
    places = decimal_places(step)
    smooth, coprime = 1, (step * 10**places).numerator
    for prime in (2, 5):
        while coprime % prime == 0:
            coprime //= prime
            smooth *= prime
    if coprime not in _COPRIME:
        raise TooComplex(f"multiples of {step} need an automaton with {coprime} states")
    patterns = [_suffix(smooth, places)]
    if coprime > 1:
        patterns.append(_digit_sum(coprime))
    return tuple(patterns)


def _suffix(smooth: int, places: int) -> Pattern:
    length = next((n for n in range(_MAX_SUFFIX + 1) if 10**n % smooth == 0), None)
    if length is None:
        zeros = power_of_ten(smooth)
        if zeros is None or places:
            raise TooComplex(f"the last digits of multiples of {smooth} have too many forms")
        return rf"(?:0|[0-9]*0{{{zeros}}})(?:\.0+)?"
    ends = [str(n * smooth).rjust(length, "0") for n in range(10**length // smooth)] if length else [""]
    before = max(0, places - length)  # free digits after the point, before the ones that matter
    whole = length - (places - before)  # digits that matter before the point
    return "|".join(_spellings(ends, whole, before, length - whole))


def _spellings(ends: list[str], whole: int, free: int, after: int) -> list[Pattern]:
    """Each end with a point after ``whole`` of its digits, and ``free`` digits there; zeros left off or added."""
    by_whole: dict[str, list[str]] = {}
    for end in ends:
        by_whole.setdefault(end[:whole], []).append(end[whole:])
    fractions: dict[tuple[str, ...], list[str]] = {}
    for head, rests in by_whole.items():
        fractions.setdefault(tuple(rests), []).append(head)
    return [_whole(heads, whole) + _fraction(list(tails), free, after) for tails, heads in fractions.items()]


def _whole(heads: list[str], length: int) -> Pattern:
    if length == 0:
        return "[0-9]+"
    short = sorted({head.lstrip("0") or "0" for head in heads})
    long = "[0-9]*" + group("|".join(heads))
    return group("|".join([*short, long]))


def _fraction(rests: list[str], free: int, after: int) -> Pattern:
    """The point and digits: ``free`` any digits and one of ``rests``; digits left off at the end count as zeros."""
    start = f"[0-9]{{{free}}}" if free else ""
    body = [f"{start}{rest}0*" for rest in rests if free or rest] or ["0+"]
    for length in range(1, after):
        body += sorted({start + rest[:length] for rest in rests if not rest[length:].strip("0")})
    whole_is_enough = any(not rest.strip("0") for rest in rests)
    if whole_is_enough and free:
        body.append(f"[0-9]{{1,{free}}}")
    return rf"(?:\.{group('|'.join(body))})" + ("?" if whole_is_enough else "")


@cache
def _digit_sum(divisor: int) -> Pattern:
    """Digits, with at most one point between them, that spell a multiple of ``divisor``: states left out one by one."""
    edges: dict[tuple[int, int], Pattern] = {}
    for state in range(divisor):
        by_next: dict[int, str] = {}
        for d in range(10):
            by_next[(10 * state + d) % divisor] = by_next.get((10 * state + d) % divisor, "") + str(d)
        for following, digits in by_next.items():
            edges[state, following] = rf"[{digits}]\.?"
    for gone in range(divisor - 1, 0, -1):
        loop = edges.pop((gone, gone), None)
        middle = group(loop) + "*" if loop else ""
        entering = [(a, edges.pop((a, gone))) for a in range(gone) if (a, gone) in edges]
        leaving = [(b, edges.pop((gone, b))) for b in range(gone) if (gone, b) in edges]
        for a, into in entering:
            for b, out in leaving:
                path = group(into) + middle + group(out)
                edges[a, b] = f"{edges[a, b]}|{path}" if (a, b) in edges else path
    # The point may stand anywhere: the expression is met with one that says where.
    return group(edges[0, 0]) + "+"
