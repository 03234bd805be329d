"""The validator of a schema as it was written: jsonschema-rs, kept off the network."""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema_rs
import jsonschema_specifications  # type: ignore[import-untyped]

from schemas.document.draft import Draft
from schemas.document.resources import Resources
from schemas.document.uri import escape
from schemas.errors import SchemaError


def validator_for(schema: dict[str, Any] | bool) -> Any:
    """A ``jsonschema_rs`` validator for a schema that :func:`schemas.document.load` takes.

    References to meta-schemas of any draft work, nothing is fetched, and a tuple written as ``items`` in a 2020-12
    document is one. Raises :class:`SchemaError` where the schema does not conform to its meta-schema; jsonschema-rs
    looks also at subschemas that the root does not reach.
    """
    try:
        return jsonschema_rs.validator_for(schema, offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        pass
    try:
        return jsonschema_rs.validator_for(_with_prefix_items(schema), offline=True, registry=_meta_schemas())
    except jsonschema_rs.ValidationError as error:
        tokens = [str(token) for token in error.instance_path]
        path = "".join("/" + escape(token) for token in tokens[:-1])
        raise SchemaError(path, tokens[-1] if tokens else "", error.message) from error
    except (jsonschema_rs.ReferencingError, ValueError) as error:
        raise SchemaError("", "", str(error)) from error


@cache
def _meta_schemas() -> Any:
    registry = jsonschema_specifications.REGISTRY
    return jsonschema_rs.Registry([(uri, registry.contents(uri)) for uri in registry if "draft-03" not in uri])


def _with_prefix_items(schema: dict[str, Any] | bool) -> dict[str, Any] | bool:
    tuples = {
        place.pointer
        for place in Resources(schema).places()
        if place.draft is Draft.V2020 and isinstance(place.value, dict) and isinstance(place.value.get("items"), list)
    }
    changed: dict[str, Any] | bool = _copy(schema, "", tuples) if tuples else schema
    return changed


def _copy(value: Any, pointer: str, tuples: set[str]) -> Any:
    if isinstance(value, list):
        return [_copy(child, f"{pointer}/{index}", tuples) for index, child in enumerate(value)]
    if not isinstance(value, dict):
        return value
    copied = {key: _copy(child, f"{pointer}/{escape(key)}", tuples) for key, child in value.items()}
    if pointer in tuples:
        prefix, rest = copied.pop("items"), copied.pop("additionalItems", None)
        if prefix:
            copied["prefixItems"] = prefix
        if rest is not None:
            copied["items"] = rest
    return copied
