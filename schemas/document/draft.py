"""The drafts of JSON Schema and which keywords hold subschemas in each."""

from __future__ import annotations

from enum import IntEnum
from functools import cache

from schemas.errors import SchemaError


class Draft(IntEnum):
    """In order of age, so that ``draft >= Draft.V6`` reads as "since draft 6"."""

    V4 = 4
    V6 = 6
    V7 = 7
    V2019 = 2019
    V2020 = 2020


_BY_META: dict[str, Draft] = {
    "json-schema.org/draft-04/schema": Draft.V4,
    "json-schema.org/draft-06/schema": Draft.V6,
    "json-schema.org/draft-07/schema": Draft.V7,
    "json-schema.org/draft/2019-09/schema": Draft.V2019,
    "json-schema.org/draft/2020-12/schema": Draft.V2020,
    # The hyper-schemas add link keywords only; "latest" has meant 2020-12 since 2022.
    "json-schema.org/draft-04/hyper-schema": Draft.V4,
    "json-schema.org/draft-06/hyper-schema": Draft.V6,
    "json-schema.org/draft-07/hyper-schema": Draft.V7,
    "json-schema.org/draft/2019-09/hyper-schema": Draft.V2019,
    "json-schema.org/draft/2020-12/hyper-schema": Draft.V2020,
    "json-schema.org/schema": Draft.V2020,
}
_VOCABULARIES = {"json-schema.org/draft/2019-09/meta/": Draft.V2019, "json-schema.org/draft/2020-12/meta/": Draft.V2020}


def draft_of(meta: object, path: str) -> Draft:
    """The draft that ``$schema`` names. Raises :class:`SchemaError` for a dialect whose meta-schema is not known.

    An own meta-schema may switch keywords off (``$vocabulary``), and it would have to be fetched to know: refused.
    """
    if not isinstance(meta, str):
        raise SchemaError(path, "$schema", "must be a string: the URI of a draft")
    name = meta.removeprefix("http://").removeprefix("https://").rstrip("#").rstrip("/")
    draft = _BY_META.get(name)
    if draft is not None:
        return draft
    for prefix, vocabulary_draft in _VOCABULARIES.items():
        if name.startswith(prefix):
            return vocabulary_draft
    if ":" not in meta:
        return Draft.V2020
    raise SchemaError(
        path,
        "$schema",
        f"unknown dialect {meta!r}: drafts 4, 6, 7, 2019-09 and 2020-12 are supported; name one of them",
    )


@cache
def id_keyword(draft: Draft) -> str:
    return "id" if draft is Draft.V4 else "$id"


@cache
def schema_keywords(draft: Draft) -> frozenset[str]:
    """Keywords whose value is one subschema."""
    words = {"not", "items", "additionalItems", "additionalProperties"}
    if draft >= Draft.V6:
        words |= {"contains", "propertyNames"}
    if draft >= Draft.V7:
        words |= {"if", "then", "else"}
    if draft >= Draft.V2019:
        words |= {"unevaluatedItems", "unevaluatedProperties", "contentSchema"}
    return frozenset(words)


@cache
def list_keywords(draft: Draft) -> frozenset[str]:
    """Keywords whose value is a list of subschemas. ``items`` may be one in every draft (see ``loader``)."""
    words = {"allOf", "anyOf", "oneOf", "items"}
    if draft >= Draft.V2020:
        words.add("prefixItems")
    return frozenset(words)


@cache
def map_keywords(draft: Draft) -> frozenset[str]:
    """Keywords whose value maps names to subschemas. Both spellings of ``$defs`` are looked into in every draft."""
    words = {"properties", "patternProperties", "definitions", "$defs", "dependencies"}
    if draft >= Draft.V2019:
        words.add("dependentSchemas")
    return frozenset(words)
