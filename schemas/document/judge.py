"""The validator of a schema as it was written: jsonschema-rs, kept off the network."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import jsonschema_rs
import jsonschema_specifications  # type: ignore[import-untyped]

from schemas.document.draft import Draft, draft_of
from schemas.document.resources import Place, Resources
from schemas.document.uri import escape
from schemas.errors import SchemaError
from schemas.strings.formats import IRREGULAR, NAMES


def validator_for(schema: dict[str, Any] | bool) -> Any:
    """A ``jsonschema_rs`` validator for a schema that :func:`schemas.document.load` takes.

    References to meta-schemas of any draft work, nothing is fetched, a tuple written as ``items`` in a 2020-12
    document is one, and brackets in patterns may stand for themselves. Formats are assertions in every draft, as they
    are in the grammar: where a format is negated, a reader that takes it for a remark finds other values.

    Raises :class:`SchemaError` where the schema does not conform to its meta-schema; jsonschema-rs looks also at
    subschemas that the root does not reach.
    """
    try:
        return _build(schema)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        pass
    try:
        return _build(_repaired(schema), _meta_schemas())
    except jsonschema_rs.ValidationError as error:
        tokens = [str(token) for token in error.instance_path]
        path = "".join("/" + escape(token) for token in tokens[:-1])
        raise SchemaError(path, tokens[-1] if tokens else "", error.message) from error
    except (jsonschema_rs.ReferencingError, ValueError) as error:
        raise SchemaError("", "", str(error)) from error


def _build(schema: dict[str, Any] | bool, registry: Any = None) -> Any:
    meta = schema.get("$schema") if isinstance(schema, dict) else None
    old = meta is not None and draft_of(meta, "") < Draft.V2019
    return jsonschema_rs.validator_for(
        schema, offline=True, registry=registry, validate_formats=True, formats=_formats() if old else None
    )


@cache
def _formats() -> dict[str, Callable[[str], bool]]:
    """Every format that the grammar knows or names as residue: jsonschema-rs leaves out what an old draft lacks."""
    return {
        name: jsonschema_rs.validator_for({"format": name}, validate_formats=True).is_valid
        for name in (*NAMES, *IRREGULAR)
    }


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
