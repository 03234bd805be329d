"""Keys that a schema says nothing of, found in a value without the help of the compiler that should prevent them.

The rule: where an object declares properties and says nothing of further ones, arguments hold keys that are declared
or demanded and no others. The search is cautious: a key counts as declared or demanded when *any* subschema that could
apply at its place says so, an object counts as closed when *every* alternative declares properties, and a place whose
subschemas cannot all be found is left alone. So what it finds is always a fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("if", "then", "else")
_IN_PLACE_MAPS = ("dependentSchemas", "dependencies")
_OPENERS = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_ITEMS = ("prefixItems", "items", "additionalItems", "unevaluatedItems", "contains")
_UNKNOWN = ("$dynamicRef", "$recursiveRef")


class _Unknown(Exception):
    """A subschema that cannot be found."""


def undeclared_key(schema: Any, value: Any) -> str | None:
    """The JSON pointer of the first undeclared key in ``value``, or ``None``."""
    return _search([schema], value, schema, "")


def declared_names(schema: Any) -> set[str]:
    """Every name that the schema declares anywhere: as a property, or as required."""
    names: set[str] = set()
    left = [schema]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            properties, required = part.get("properties"), part.get("required")
            names.update(properties if isinstance(properties, dict) else ())
            names.update(name for name in (required if isinstance(required, list) else ()) if isinstance(name, str))
            left += part.values()
        elif isinstance(part, list):
            left += part
    return names


def _search(schemas: list[Any], value: Any, root: Any, path: str) -> str | None:
    if not isinstance(value, dict | list) or not value:
        return None
    try:
        parts = _applicable(schemas, root)
        said = [schema for schema in schemas if schema is not False]
        closed = bool(said) and all(_closes(schema, root, ()) for schema in said)
        # Where one of several may be the one that applies, and says nothing, nothing is said further inside either.
        free = [True] if len(said) > 1 and not closed else []
        if isinstance(value, list):
            items = (_search(_item_schemas(parts, n) + free, item, root, f"{path}/{n}") for n, item in enumerate(value))
            return next((fault for fault in items if fault is not None), None)
        closed = closed and not any(opener in part for part in parts for opener in _OPENERS)
        return _search_object(parts, value, root, path, closed, free)
    except _Unknown:
        return None


def _search_object(
    parts: list[Mapping[str, Any]], value: dict[str, Any], root: Any, path: str, closed: bool, free: list[Any]
) -> str | None:
    demanded = {name for part in parts for name in _demanded(part)}
    for key, member in value.items():
        schemas = list(_member_schemas(parts, key))
        here = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
        if closed and not schemas and key not in demanded:
            return here
        fault = _search(schemas + free, member, root, here)
        if fault is not None:
            return fault
    return None


def _closes(schema: Any, root: Any, above: tuple[int, ...]) -> bool:
    """Whether objects of ``schema`` have declared properties whichever alternatives apply, or it has no objects.

    What stands under ``not`` and ``if`` declares nothing. ``above``: the schemas being looked at, by identity.
    """
    if not isinstance(schema, Mapping) or id(schema) in above:
        return schema is False
    above = (*above, id(schema))
    types = schema.get("type")
    if schema.get("properties") or (types is not None and types != "object" and "object" not in types):
        return True
    joined = [*(schema.get("allOf") or ()), *([_target(schema["$ref"], root)] if "$ref" in schema else ())]
    if any(_closes(part, root, above) for part in joined):
        return True
    choices = [branches for name in ("anyOf", "oneOf") if (branches := schema.get(name))]
    return any(all(_closes(branch, root, above) for branch in branches) for branches in choices)


def _demanded(part: Mapping[str, Any]) -> Iterator[str]:
    """Names of members that an object must have, or must have beside others, or has as a value that is written out."""
    required = part.get("required")
    yield from required if isinstance(required, list) else ()
    for name in ("dependentRequired", "dependencies"):
        for needed in (part.get(name) or {}).values():
            yield from needed if isinstance(needed, list) else ()
    for value in (part.get("const"), *(part.get("enum") or ())):
        yield from value if isinstance(value, dict) else ()


def _member_schemas(parts: list[Mapping[str, Any]], key: str) -> Iterator[Any]:
    for part in parts:
        declared = part.get("properties")
        if isinstance(declared, Mapping) and key in declared:
            yield declared[key]
        for pattern, schema in (part.get("patternProperties") or {}).items():
            if _may_match(pattern, key):
                yield schema
        if "additionalProperties" in part and key not in (declared or ()):
            yield part["additionalProperties"]
        if "unevaluatedProperties" in part:
            yield part["unevaluatedProperties"]


def _item_schemas(parts: list[Mapping[str, Any]], position: int) -> list[Any]:
    found: list[Any] = []
    for part in parts:
        for name in ("prefixItems", "items"):
            entry = part.get(name)
            if isinstance(entry, list):
                found += entry[position : position + 1]
            elif entry is not None:
                found.append(entry)
        found += [part[n] for n in ("additionalItems", "unevaluatedItems") if n in part]
        if "contains" in part:
            found += [part["contains"], True]  # this item need not be the one
    return found


def _applicable(schemas: list[Any], root: Any) -> list[Mapping[str, Any]]:
    """Every object schema that may apply to the same value as ``schemas``."""
    found: dict[tuple[int, bool], Mapping[str, Any]] = {}
    left = [(schema, False) for schema in schemas]
    while left:
        schema, denied = left.pop()
        if isinstance(schema, bool) or (id(schema), denied) in found:
            continue
        if not isinstance(schema, Mapping) or any(name in schema for name in _UNKNOWN):
            raise _Unknown
        found[id(schema), denied] = _names_alone(schema) if denied else schema
        joined = [_target(schema["$ref"], root)] if "$ref" in schema else []
        for name in _IN_PLACE_LISTS:
            joined += schema.get(name) or ()
        joined += [schema[name] for name in _IN_PLACE if name in schema]
        for name in _IN_PLACE_MAPS:
            joined += [branch for branch in (schema.get(name) or {}).values() if not isinstance(branch, list)]
        left += [(part, denied) for part in joined]
        if "not" in schema:
            left.append((schema["not"], True))
    return list(found.values())


def _names_alone(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of what stands under ``not``: the names of members, and nothing of what is in them or in items."""
    said = {name: True for name in (*_ITEMS, *_OPENERS) if name in schema}
    maps = ("properties", "patternProperties")
    return {**schema, **said, **{name: dict.fromkeys(schema[name], True) for name in maps if schema.get(name)}}


def _target(ref: Any, root: Any) -> Any:
    """What a JSON pointer within the document points at. Raises _Unknown for any other reference."""
    if ref == "#":
        return root
    if not isinstance(ref, str) or not ref.startswith("#/"):
        raise _Unknown
    target = root
    for step in ref[2:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping) and key in target:
            target = target[key]
        elif isinstance(target, list) and key.isdecimal() and int(key) < len(target):
            target = target[int(key)]
        else:
            raise _Unknown
    return target


def _may_match(pattern: str, key: str) -> bool:
    try:
        return re.search(pattern, key) is not None
    except re.error:
        return True
