"""How the numbers of a set are written in JSON (RFC 8259, section 6), as regular expressions.

Exact sets meet inexact readers here: text with a fraction or an exponent is read as an IEEE double. A spelling is
let through only when both its exact value and the double that it reads as are in the set, and every double of the set
keeps the spelling that ``json.dumps`` and ``JSON.stringify`` print for it (but for those between 1.7e308 and the
largest, and multiples beyond 2^53). Digits are bounded, because models ramble in them:

* integers have at most :data:`WHOLE` digits, larger values are written with an exponent (in the plain spelling not at
  all); multiples have at most :data:`MULTIPLE_WHOLE`;
* at most :data:`PLACES` digits after a point; integers may have zeros there;
* an exponent follows a normalised mantissa: one digit, not 0, before the point and at most :data:`MANTISSA` after;
* ``-0`` and ``-0.0`` are spellings of zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from schemas.errors import TooComplex
from schemas.numbers import lattice as lat
from schemas.numbers.digits import either, group
from schemas.numbers.kinds import MULTIPLE_WHOLE, integers, multiples_of_tens, reals
from schemas.numbers.lattice import Lattice
from schemas.numbers.multiples import power_of_ten
from schemas.numbers.periodic import Part, one, periodic
from schemas.numbers.points import WHOLE, single
from schemas.numbers.regions import Region


def parts(regions: tuple[Region, ...], *, plain: bool) -> list[Part]:
    """The spellings of the numbers in ``regions``; with ``plain`` only integers, without fraction and exponent.

    Raises :class:`TooComplex` when multiples are asked for that no expression of bearable size spells.
    """
    signs: dict[Part, set[str]] = {}
    points: dict[str, list[Fraction]] = {}
    for region in regions:
        for sign, side in _sides(region):
            if side.point is not None:
                # Zero, cut off from a region that may be of all numbers but multiples.
                if any(term.contains(side.point) for term in side.terms):
                    points.setdefault(sign, []).append(side.point)
                continue
            for part in _unsigned(side, plain):
                signs.setdefault(part, set()).add(sign)
    for sign, values in points.items():
        for part in one(single(values, plain=plain)):
            signs.setdefault(part, set()).add(sign)
    if regions and not signs:
        raise TooComplex(
            f"no such number has a short text: integers have at most {WHOLE} digits, multiples {MULTIPLE_WHOLE}"
        )
    signed = [_signed(part, found) for part, found in signs.items()]
    simple = either([part.every[0] for part in signed if part.is_one_expression])
    rest = [part for part in signed if not part.is_one_expression]
    return [Part((simple,)), *rest] if simple is not None else rest


def _signed(part: Part, signs: set[str]) -> Part:
    if signs == {""}:
        return part
    sign = "-?" if "" in signs else "-"
    if part.native:
        return Part((), native=f'"-"{sign[1:]} {part.native}')
    return Part(tuple(sign + group(p) for p in part.every), tuple(sign + group(p) for p in part.none))


def _unsigned(side: Region, plain: bool) -> list[Part]:
    """The spellings of numbers from zero up."""
    found: list[Part] = []
    for term in lat.ordered(side.terms):
        if not _is_simple(term):
            found.extend(periodic(side, term, plain))
        elif plain or term.step == 1:
            found.extend(one(integers(side, plain)))
        else:
            found.extend(one(reals(side) if term.step is None else multiples_of_tens(side, term.step)))
    return found


def _is_simple(term: Lattice) -> bool:
    step = term.step
    return not term.without and (step is None or (step.numerator == 1 and power_of_ten(step.denominator) is not None))


def _sides(region: Region) -> Iterator[tuple[str, Region]]:
    """The region's numbers from zero up, and the mirror image of those from zero down."""
    zero = Fraction(0)
    if region.end > (zero, 0):
        yield "", Region(max(region.start, (zero, 0)), region.end, region.terms)
    if region.start < (zero, 1):
        start, end = (-region.end[0], 1 - region.end[1]), (-region.start[0], 1 - region.start[1])
        yield "-", Region(max(start, (zero, 0)), end, region.terms)
