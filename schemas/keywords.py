"""What the keywords of one node say by themselves, subschemas of the same value left aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from schemas import scalars
from schemas.compiled import Residue
from schemas.errors import SchemaError, TooComplex
from schemas.evaluated import Evaluated
from schemas.formula import (
    MAX_NAMES,
    At,
    Count,
    Every,
    Formula,
    From,
    Has,
    Lacks,
    Matching,
    Member,
    Region,
    Unique,
    Unknown,
    conjunction,
    disjunction,
    every,
    rest_of,
)
from schemas.goals import ANYTHING, NOTHING, Goals, Mode
from schemas.node import Node
from schemas.numbers import NumberSet
from schemas.scalars import Bounds, Scalars, exactly
from schemas.strings import Language, PatternError
from schemas.strings.formats import IRREGULAR
from schemas.stringset import StringSet

if TYPE_CHECKING:
    from schemas.reading import Kind, Reader


def is_number(value: Any) -> bool:
    """Whether a JSON value, arrays and objects frozen or not, is a number."""
    return not isinstance(value, bool | str | list | dict | tuple) and value is not None


# scalars


_ON_SCALARS = frozenset({"enum", "const", "multiple_of", "min_length", "max_length", "pattern", "format"}) | {
    f"{exclusive}{bound}" for exclusive in ("", "exclusive_") for bound in ("minimum", "maximum")
}


def own_scalars(node: Node) -> Scalars:
    """The scalars that the node's own keywords allow. Raises SchemaError."""
    if _ON_SCALARS.isdisjoint(vars(node)):
        return _of_types(node.types, node.plain_integers)
    return _of_keywords(node)


@lru_cache(maxsize=256)
def _of_types(types: frozenset[str] | None, plain_integers: bool) -> Scalars:
    return _of_keywords(Node(path="", types=types, plain_integers=plain_integers))


def _of_keywords(node: Node) -> Scalars:
    types = node.types
    total = Scalars(
        null=types is None or "null" in types,
        false=types is None or "boolean" in types,
        true=types is None or "boolean" in types,
        numbers=_numbers(node),
        strings=_strings(node) if types is None or "string" in types else scalars.NONE.strings,
        pointed=scalars.NONE.numbers if _has_plain_integers(node) else None,
    )
    if node.const is not None:
        total = total & scalars_of(node.const)
    if node.enum is not None:
        total = total & scalars_of(node.enum)
    return total


def _has_plain_integers(node: Node) -> bool:
    return node.plain_integers and node.types is not None and "integer" in node.types and "number" not in node.types


def scalars_of(values: Sequence[Any]) -> Scalars:
    """Exactly the scalars among these values."""
    numbers = [value for value in values if is_number(value)]
    strings = [value for value in values if isinstance(value, str)]
    return Scalars(
        null=any(value is None for value in values),
        false=any(value is False for value in values),
        true=any(value is True for value in values),
        numbers=exactly(NumberSet.values(numbers)) if numbers else scalars.NONE.numbers,
        strings=exactly(StringSet.literals(strings)) if strings else scalars.NONE.strings,
    )


def _numbers(node: Node) -> Bounds[NumberSet]:
    if node.types is None or "number" in node.types:
        total = NumberSet.ALL
    elif "integer" in node.types:
        total = NumberSet.INTEGERS
    else:
        return scalars.NONE.numbers
    low, high = (node.minimum, node.exclusive_minimum), (node.maximum, node.exclusive_maximum)
    for bound, is_open in zip(low, (False, True), strict=True):
        if bound is not None:
            total = total & NumberSet.interval(bound, is_open, None, False)
    for bound, is_open in zip(high, (False, True), strict=True):
        if bound is not None:
            total = total & NumberSet.interval(None, False, bound, is_open)
    if node.multiple_of is not None:
        try:
            total = total & NumberSet.multiples(node.multiple_of)
        except TooComplex as error:
            return Bounds(total, NumberSet.NONE, frozenset((Residue(node.path, "multipleOf", str(error)),)))
    return exactly(total)


def _strings(node: Node) -> Bounds[StringSet]:
    total = scalars.ALL.strings
    if node.min_length or node.max_length is not None:
        total = exactly(StringSet.of(Language.length(node.min_length or 0, node.max_length)))
    if node.pattern is not None:
        total = total & pattern(node.pattern, node.path, "pattern")
    if node.format is not None:
        language = Language.named_format(node.format)
        if language is not None:
            total = total & exactly(StringSet.of(language))
        elif node.format in IRREGULAR:
            residue = Residue(node.path, "format", f"{node.format!r} is not regular")
            total = total & Bounds(StringSet.ALL, StringSet.NONE, frozenset((residue,)))
    return total


def pattern(text: str, path: str, keyword: str) -> Bounds[StringSet]:
    """The strings that a pattern matches. Raises SchemaError for what is no pattern; what is too complex is residue."""
    try:
        return exactly(StringSet.of(Language.pattern(text)))
    except PatternError as error:
        raise SchemaError(path, keyword, f"{text!r} is no ECMA-262 pattern: {error}") from error
    except TooComplex as error:
        residue = Residue(path, keyword, str(error))
        return Bounds(StringSet.ALL, StringSet.NONE, frozenset((residue,)))


# objects


def own_object(reader: Reader, node: Node, below: Mode) -> Formula:
    """What the node's own keywords say of objects. Raises SchemaError."""
    goals = reader.goals
    parts: list[Formula] = []
    for name, child in node.properties:
        # Also where anything will do: a declared name gets a place of its own and so comes once.
        parts.append(Member(name, goals.atom(child, below)))
    patterns: list[StringSet] = []
    unknown: list[Residue] = []
    for text, child in node.pattern_properties:
        known = _names(text, node.path)
        unknown.extend(sorted(known.residue, key=str))
        goal = goals.atom(child, below)
        if not known.residue:
            patterns.append(known.upper)
            parts.append(every(known.upper, goal) if goal != ANYTHING else True)
        elif goal != ANYTHING:
            parts.append(Unknown(unknown[-1]))
    if node.additional_properties is not None:
        goal = goals.atom(node.additional_properties, below)
        if goal != ANYTHING:
            names = [name for name, _ in node.properties]
            parts.append(Unknown(unknown[-1]) if unknown else Every(rest_of(names, patterns), goal))
    if node.property_names is not None:
        allowed = reader.scalars(goals.atom(node.property_names)).strings
        parts.append(every(~allowed.upper, NOTHING))
        parts.extend(Unknown(residue) for residue in sorted(allowed.residue, key=str))
    parts.extend(Has(name) for name in node.required)
    if node.min_properties or node.max_properties is not None:
        parts.append(Count(node.min_properties or 0, node.max_properties))
    for name, needed in node.dependent_required:
        parts.append(disjunction((Lacks(name), conjunction(Has(other) for other in needed))))
    parts.extend(_values(goals, node, "object"))
    return conjunction(parts)


def _names(text: str, path: str) -> Bounds[StringSet]:
    """The names that a pattern matches, one by one where they are few."""
    known = pattern(text, path, "patternProperties")
    return known if known.residue else exactly(_listed(known.upper))


@lru_cache(maxsize=1024)
def _listed(names: StringSet) -> StringSet:
    if not names.is_finite_by_form():
        return names
    try:
        words = names.enumerate(MAX_NAMES)
    except TooComplex:
        return names
    return names if words is None else StringSet.literals(words)


def _values(goals: Goals, node: Node, kind: Kind) -> Iterator[Formula]:
    for values in (node.const, node.enum):
        if values is not None:
            yield disjunction(value_formula(goals, value, kind) for value in values)


def value_formula(goals: Goals, value: Any, kind: Kind) -> Formula:
    """Exactly ``value``, as far as values of ``kind`` go."""
    if kind == "object" and isinstance(value, dict):
        parts: list[Formula] = [Every(Region(names=frozenset(value)), NOTHING)]
        for name, item in value.items():
            parts.extend((Has(name), Member(name, goals.value(item))))
        return conjunction(parts)
    if kind == "array" and isinstance(value, list | tuple):
        items: list[Formula] = [Count(len(value), len(value))]
        items.extend(At(index, goals.value(item)) for index, item in enumerate(value))
        return conjunction(items)
    return False


# arrays


def own_array(reader: Reader, node: Node, below: Mode) -> Formula:
    """What the node's own keywords say of arrays. Raises SchemaError."""
    goals = reader.goals
    parts: list[Formula] = []
    for index, child in enumerate(node.prefix_items):
        goal = goals.atom(child, below)
        parts.append(At(index, goal) if goal != ANYTHING else True)
    if node.items is not None:
        goal = goals.atom(node.items, below)
        parts.append(From(len(node.prefix_items), goal) if goal != ANYTHING else True)
    if node.min_items or node.max_items is not None:
        parts.append(Count(node.min_items or 0, node.max_items))
    if node.contains is not None:
        least = 1 if node.min_contains is None else node.min_contains
        if least or node.max_contains is not None:
            parts.append(Matching(0, goals.atom(node.contains), least, node.max_contains))
    if node.unique_items:
        parts.append(
            Unique(True, Residue(node.path, "uniqueItems", "items of infinitely many values cannot be kept apart"))
        )
    parts.extend(_values(goals, node, "array"))
    return conjunction(parts)


# what is evaluated


def own_evaluated(reader: Reader, node: Node, kind: Kind) -> Evaluated:
    """What the node's own keywords evaluate, for ``unevaluatedItems`` and ``unevaluatedProperties`` around them."""
    if kind == "array":
        matched = frozenset((reader.goals.atom(node.contains),)) if node.contains is not None else frozenset()
        return Evaluated(
            everything=node.items is not None,
            prefix=len(node.prefix_items),
            matched=matched if node.contains_evaluates else frozenset(),
        )
    patterns: set[StringSet] = set()
    unknown: set[Residue] = set()
    for text, _ in node.pattern_properties:
        known = _names(text, node.path)
        patterns.add(known.upper)
        unknown.update(known.residue)
    demanded = set(node.required)
    for _, names in node.dependent_required:
        demanded.update(names)
    for value in (*(node.const or ()), *(node.enum or ())):
        demanded.update(value if isinstance(value, dict) else ())
    declared = frozenset(name for name, _ in node.properties)
    return Evaluated(
        everything=node.additional_properties is not None,
        names=declared,
        patterns=frozenset(patterns),
        demanded=frozenset(demanded),
        declares=bool(declared),
        roomy=(node.min_properties or 0) > len(declared) > 0,
        unknown=frozenset(unknown),
    )
