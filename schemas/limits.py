"""Bounds on what compiling one schema may cost: counts, never seconds, so that every machine refuses the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Every bound is inclusive; the error of a schema over one of them names the bound.

    The defaults leave room above the largest public schemas seen (in MaskBench: 340 kB, 3,500 subschemas, 226 members
    in one object, 5,400 enum values, 63 levels), and keep a hostile schema below a second or two.
    """

    document_bytes: int = 4_000_000
    """Size of the schema as compact JSON, in bytes."""
    nesting: int = 200
    """Depth of arrays and objects within each other in the schema text. jsonschema-rs, the judge, reads up to 255."""
    subschemas: int = 50_000
    """Subschemas reachable from the root, those with the same text once, after ``$dynamicRef`` has been specialised per
    dynamic scope."""
    members: int = 5_000
    """Names in one object schema: ``properties``, ``patternProperties``, ``required`` and the like, each."""
    enum_size: int = 20_000
    """Values in one ``enum``."""
    work_units: int = 300_000
    """Steps of the set algebra and of the lowering, all of them together."""
    grammar_bytes: int = 16_000_000
    """Size of the grammar text, in bytes."""
