"""Is a call valid? Judged apart from the server: Python's JSON parser made strict, and ``jsonschema``."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import jsonschema


class NotStrictJsonError(ValueError):
    """The text is not one RFC 8259 value with each key once."""


def strict_json(text: str) -> Any:
    """Parse RFC 8259 JSON: no NaN or Infinity (nor a number that overflows to it), no repeated keys, no lone
    surrogates, no white space around the value.

    Raises NotStrictJsonError.
    """
    if text != text.strip():
        raise NotStrictJsonError("white space around the value")
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotStrictJsonError(f"a lone surrogate: {error}") from error
    except (ValueError, RecursionError) as error:
        raise NotStrictJsonError(str(error)) from error
    return value


def argument_faults(arguments: str, schema: dict[str, Any] | bool | None) -> list[str]:
    """What is wrong with a call's ``arguments`` text under the tool's ``parameters`` (None: the tool takes nothing)."""
    try:
        value = strict_json(arguments)
    except NotStrictJsonError as error:
        return [f"not strict JSON: {error}: {arguments[:200]!r}"]
    if not isinstance(value, dict):
        return [f"not an object: {arguments[:200]!r}"]
    if schema is None:
        return [] if not value else [f"a tool without parameters got {arguments[:200]!r}"]
    return schema_faults(value, schema)


def schema_faults(value: Any, schema: dict[str, Any] | bool) -> list[str]:
    """What is wrong with a JSON value under a schema (its ``$schema`` names the draft, 2020-12 when it does not)."""
    checker = _validator(json.dumps(schema))
    return [f"{error.json_path}: {error.message[:200]}" for error in checker.iter_errors(value)]


@lru_cache(maxsize=1024)
def _validator(schema_text: str) -> Any:
    schema = json.loads(schema_text)
    return jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)(schema)


def _no_constant(name: str) -> Any:
    raise NotStrictJsonError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise NotStrictJsonError(f"{text[:40]} overflows a double")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotStrictJsonError(f"a key is repeated among {[key for key, _ in pairs]}")
    return members
