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
    draft = known_draft(meta)
    if draft is not None:
        return draft
    if ":" not in meta:
        return Draft.V2020
    raise SchemaError(
        path,
        "$schema",
        f"unknown dialect {meta!r}: drafts 4, 6, 7, 2019-09 and 2020-12 are supported; name one of them",
    )


def known_draft(meta: str) -> Draft | None:
    """The draft that a URI names, or None."""
    name = meta.removeprefix("http://").removeprefix("https://").rstrip("#").rstrip("/")
    draft = _BY_META.get(name)
    if draft is not None:
        return draft
    return next((draft for prefix, draft in _VOCABULARIES.items() if name.startswith(prefix)), None)


@cache
def id_keyword(draft: Draft) -> str:
    return "id" if draft is Draft.V4 else "$id"


class Holds(IntEnum):
    """What a keyword's value is, as far as subschemas go. ``ITEMS`` is one or a list of them, in every draft."""

    SCHEMA = 1
    LIST = 2
    MAP = 3
    ITEMS = 4


@cache
def applicators(draft: Draft) -> dict[str, Holds]:
    """The keywords with subschemas. Both spellings of ``$defs`` are looked into in every draft."""
    words = dict.fromkeys(("not", "additionalItems", "additionalProperties"), Holds.SCHEMA)
    words |= dict.fromkeys(("allOf", "anyOf", "oneOf"), Holds.LIST)
    words |= dict.fromkeys(("properties", "patternProperties", "definitions", "$defs", "dependencies"), Holds.MAP)
    words["items"] = Holds.ITEMS
    if draft >= Draft.V6:
        words |= dict.fromkeys(("contains", "propertyNames"), Holds.SCHEMA)
    if draft >= Draft.V7:
        words |= dict.fromkeys(("if", "then", "else"), Holds.SCHEMA)
    if draft >= Draft.V2019:
        words |= dict.fromkeys(("unevaluatedItems", "unevaluatedProperties", "contentSchema"), Holds.SCHEMA)
        words["dependentSchemas"] = Holds.MAP
    if draft >= Draft.V2020:
        words["prefixItems"] = Holds.LIST
    return words
