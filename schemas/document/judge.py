"""The validator of a schema as it was written: jsonschema-rs, kept off the network."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import jsonschema_rs
import jsonschema_specifications  # type: ignore[import-untyped]

from schemas.document.draft import Draft
from schemas.document.resources import Place, Resources
from schemas.document.uri import escape
from schemas.errors import SchemaError


def validator_for(schema: dict[str, Any] | bool) -> Any:
    """A ``jsonschema_rs`` validator for a schema that :func:`schemas.document.load` takes.

    References to meta-schemas of any draft work, nothing is fetched, a tuple written as ``items`` in a 2020-12
    document is one, and brackets in patterns may stand for themselves. Raises :class:`SchemaError` where the schema
    does not conform to its meta-schema; jsonschema-rs looks also at subschemas that the root does not reach.
    """
    try:
        return jsonschema_rs.validator_for(schema, offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        pass
    try:
        return jsonschema_rs.validator_for(_repaired(schema), offline=True, registry=_meta_schemas())
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


def _repaired(schema: dict[str, Any] | bool) -> dict[str, Any] | bool:
    """A copy that jsonschema-rs reads as the loader reads the schema: tuples, and brackets in patterns."""
    resources = Resources(schema)
    resources.scan()
    places = {place.pointer: place for place in resources.places() if isinstance(place.value, dict)}
    changed: dict[str, Any] | bool = _copy(schema, "", places)
    return changed


def _copy(value: Any, pointer: str, places: dict[str, Place]) -> Any:
    if isinstance(value, list):
        return [_copy(child, f"{pointer}/{index}", places) for index, child in enumerate(value)]
    if not isinstance(value, dict):
        return value
    copied = {key: _copy(child, f"{pointer}/{escape(key)}", places) for key, child in value.items()}
    place = places.get(pointer)
    if place is None:
        return copied
    if place.draft is Draft.V2020 and isinstance(copied.get("items"), list):
        prefix, rest = copied.pop("items"), copied.pop("additionalItems", None)
        if prefix:
            copied["prefixItems"] = prefix
        if rest is not None:
            copied["items"] = rest
    if isinstance(copied.get("pattern"), str):
        copied["pattern"] = _brackets_escaped(copied["pattern"])
    if isinstance(copied.get("patternProperties"), dict):
        copied["patternProperties"] = {_brackets_escaped(k): v for k, v in copied["patternProperties"].items()}
    return copied


_PIECE = re.compile(r"\\[pPu]\{[^}]*\}|\\.|\{[0-9]+(?:,[0-9]*)?\}|\[\^?|.", re.DOTALL)


def _brackets_escaped(pattern: str) -> str:
    """Brackets that can only stand for themselves, escaped.

    ECMA-262 (annex B) reads ``]`` and braces without a count outside a class, and ``[`` inside one, as themselves; the
    regular expressions of Rust do not.
    """
    inside, pieces = False, []
    for piece in _PIECE.findall(pattern):
        if piece == "]":
            pieces.append("]" if inside else r"\]")
            inside = False
        elif piece[0] == "[":
            pieces.append("\\" + piece if inside else piece)
            inside = True
        else:
            pieces.append("\\" + piece if piece in ("{", "}") and not inside else piece)
    return "".join(pieces)
