"""Periodic sets of numbers: the multiples of one number without the multiples of others, and unions of such sets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from schemas.errors import TooComplex

MAX_TERMS = 64
"""Lattices in one union. Real schemas have one or two; a hostile ``not``/``oneOf`` of multiples grows exponentially."""


def fraction_lcm(a: Fraction, b: Fraction) -> Fraction:
    """The smallest positive number that is an integer multiple of both."""
    scale = lcm(a.denominator, b.denominator)
    return Fraction(lcm((a * scale).numerator, (b * scale).numerator), scale)


def divides(step: Fraction, value: Fraction) -> bool:
    """Whether ``value`` is an integer multiple of ``step``."""
    return (value / step).denominator == 1


@dataclass(frozen=True, slots=True)
class Lattice:
    """Multiples of ``step`` (all real numbers when ``None``) that are multiples of none of ``without``.

    In normal form: each of ``without`` is a proper multiple of ``step`` and of no other of ``without``.
    """

    step: Fraction | None = None
    without: frozenset[Fraction] = frozenset()

    def contains(self, value: Fraction) -> bool:
        if self.step is not None and not divides(self.step, value):
            return False
        return not any(divides(other, value) for other in self.without)


EVERY = Lattice()
Union: TypeAlias = frozenset[Lattice]
FULL: Union = frozenset({EVERY})
EMPTY: Union = frozenset()


def _normal(step: Fraction | None, without: frozenset[Fraction]) -> Lattice | None:
    if step is not None:
        without = frozenset(fraction_lcm(step, other) for other in without)
        if step in without:
            return None
    kept = frozenset(n for n in without if not any(m != n and divides(m, n) for m in without))
    return Lattice(step, kept)


def meet(a: Lattice, b: Lattice) -> Lattice | None:
    """The common elements; ``None`` when there are none."""
    step = a.step if b.step is None else b.step if a.step is None else fraction_lcm(a.step, b.step)
    return _normal(step, a.without | b.without)


def simplify(terms: set[Lattice]) -> Union:
    """The same union without terms inside others and with ``A without n`` and ``A's multiples of n`` joined.

    Raises TooComplex over ``MAX_TERMS`` of them."""
    changed = True
    while changed and len(terms) > 1:
        changed = False
        for a in sorted(terms, key=_order):
            if any(b != a and meet(a, b) == a for b in terms):
                terms.discard(a)
                continue
            for n in a.without:
                rest = _normal(a.step, a.without - {n})
                part = meet(rest, Lattice(n)) if rest is not None else None
                if part is not None and part in terms:
                    terms -= {a, part}
                    assert rest is not None
                    terms.add(rest)
                    changed = True
                    break
            if changed:
                break
    if len(terms) > MAX_TERMS:
        raise TooComplex(f"a set of numbers is a union of more than {MAX_TERMS} sets of multiples")
    return frozenset(terms)


def _order(lattice: Lattice) -> tuple[Fraction, list[Fraction]]:
    return (lattice.step or Fraction(0), sorted(lattice.without))


def ordered(terms: Union) -> list[Lattice]:
    """The terms in an order that is the same in every run."""
    return sorted(terms, key=_order)


def intersect(a: Union, b: Union) -> Union:
    """What is in both. Raises TooComplex, as ``simplify`` does."""
    if a == FULL:
        return b
    if b == FULL:
        return a
    return simplify({m for x in a for y in b if (m := meet(x, y)) is not None})


def unite(a: Union, b: Union) -> Union:
    """What is in either. Raises TooComplex."""
    return simplify(set(a | b))


def complement(terms: Union) -> Union:
    """All other numbers. Raises TooComplex."""
    result = FULL
    for term in ordered(terms):
        outside = {Lattice(n) if term.step is None else Lattice(fraction_lcm(n, term.step)) for n in term.without}
        if term.step is not None:
            outside.add(Lattice(None, frozenset({term.step})))
        result = intersect(result, frozenset(outside))
    return result
