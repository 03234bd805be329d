"""One subschema with its keywords normalised to draft 2020-12, whatever draft it was written in."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

NodeId: TypeAlias = int
"""Index into ``Document.nodes``."""

Json: TypeAlias = Any


@dataclass(frozen=True)
class Node:
    """Every assertion and applicator of one subschema. ``None`` and ``()`` mean that the keyword is absent.

    Children are ids, so that a recursive schema is a finite table. ``$ref``, ``$anchor``, ``$dynamicRef`` and
    ``$recursiveRef`` are resolved already: ``refs`` holds the targets, which apply beside the other keywords.

    Without slots: of forty fields a node has three or four, and the others are the class's (:func:`node_of`).
    """

    path: str
    """JSON pointer into the document, for error messages and residue."""
    always: bool | None = None
    """A boolean schema's value; ``None`` for an object schema."""
    refs: tuple[NodeId, ...] = ()
    types: frozenset[str] | None = None
    """Subset of null, boolean, integer, number, string, array, object."""
    plain_integers: bool = False
    """Draft 4: only a number spelled without fraction and exponent is an ``integer``; ``1.0`` is not."""
    enum: tuple[Json, ...] | None = None
    const: tuple[Json] | None = None
    # numbers
    minimum: Fraction | None = None
    maximum: Fraction | None = None
    exclusive_minimum: Fraction | None = None
    exclusive_maximum: Fraction | None = None
    multiple_of: Fraction | None = None
    # strings
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    # arrays
    prefix_items: tuple[NodeId, ...] = ()
    items: NodeId | None = None
    """Applies to the items after ``prefix_items``."""
    contains: NodeId | None = None
    contains_evaluates: bool = True
    """Whether items that match ``contains`` count as evaluated: from 2020-12 on; in 2019-09 they do not."""
    min_contains: int | None = None
    max_contains: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    unique_items: bool = False
    unevaluated_items: NodeId | None = None
    # objects
    properties: tuple[tuple[str, NodeId], ...] = ()
    pattern_properties: tuple[tuple[str, NodeId], ...] = ()
    additional_properties: NodeId | None = None
    property_names: NodeId | None = None
    required: tuple[str, ...] = ()
    min_properties: int | None = None
    max_properties: int | None = None
    dependent_required: tuple[tuple[str, tuple[str, ...]], ...] = ()
    dependent_schemas: tuple[tuple[str, NodeId], ...] = ()
    dependencies: tuple[tuple[str, NodeId], ...] = ()
    """As ``dependent_schemas``, but evaluating nothing: the old keyword in the drafts that have ``unevaluated*``."""
    unevaluated_properties: NodeId | None = None
    # applicators
    all_of: tuple[NodeId, ...] = ()
    any_of: tuple[NodeId, ...] = ()
    one_of: tuple[NodeId, ...] = ()
    not_: NodeId | None = None
    if_: NodeId | None = None
    then_: NodeId | None = None
    else_: NodeId | None = None


def node_of(said: dict[str, Any]) -> Node:
    """As ``Node(**said)``, in a tenth of the time."""
    node = object.__new__(Node)
    node.__dict__.update(said)
    return node
