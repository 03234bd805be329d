"""Who is right about a text or a value: a strict JSON reader, and jsonschema-rs with formats asserted."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, TypeAlias

import jsonschema_rs

from loadtest.exactness.repeats import Pairs, repeated_keys
from schemas.sample import hints_of

Json: TypeAlias = Any
DOUBLE_MAX = int(1.7976931348623157e308)


class NotStrict(ValueError):
    """A text that is not JSON as RFC 8259 and its readers agree on it."""


def strict_tree(text: bytes) -> Json:
    """A JSON text read with every member kept: objects are ``Pairs``.

    Raises NotStrict for what is no JSON, for a number that a double cannot hold, a lone surrogate, a raw control
    character, bytes that are not UTF-8.
    """
    try:
        tree = json.loads(text.decode("utf-8"), object_pairs_hook=Pairs, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise NotStrict(f"not UTF-8: {error}") from error
    except RecursionError as error:
        raise NotStrict("nested too deeply to read") from error
    except ValueError as error:
        # Python also refuses integers of over 4,300 digits here, which no double holds.
        raise NotStrict(str(error)) from error
    _check(tree)
    return tree


def readings(tree: Json) -> Iterator[Json]:
    """The values that different readers give a text with repeated keys: the last one counts, the first one counts."""
    yield _settle(tree, False)
    yield _settle(tree, True)


def strict_json(text: bytes) -> Json:
    """The value of a text without repeated keys. Raises NotStrict, also for a repeated key."""
    tree = strict_tree(text)
    if repeated := repeated_keys(tree):
        raise NotStrict(f"repeated keys {repeated}")
    return _settle(tree, False)


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _settle(tree: Json, first: bool) -> Json:
    if isinstance(tree, Pairs):
        return {key: _settle(item, first) for key, item in (reversed(tree) if first else tree)}
    return [_settle(item, first) for item in tree] if isinstance(tree, list) else tree


def _check(tree: Json) -> None:
    if isinstance(tree, Pairs):
        for key, item in tree:
            _check(key)
            _check(item)
    elif isinstance(tree, list):
        for item in tree:
            _check(item)
    elif isinstance(tree, str):
        if any("\ud800" <= character <= "\udfff" for character in tree):
            raise NotStrict(f"a lone surrogate in {tree!r}")
    elif isinstance(tree, float) and not math.isfinite(tree):
        raise NotStrict("a number overflows a double")
    elif isinstance(tree, int) and abs(tree) > DOUBLE_MAX:
        raise NotStrict("an integer overflows a double")


class Judge:
    """The verdict of jsonschema-rs under the draft that ``$schema`` names (2020-12 by default), formats asserted.

    ``usable`` is false where jsonschema-rs cannot take the schema (a pattern its engine lacks, a remote reference):
    then there is no second opinion and the data's own labels stand.
    """

    def __init__(self, schema: Json) -> None:
        self.hints = hints_of(schema)
        self.schema = schema
        self.problem = ""
        try:
            self._asserting = jsonschema_rs.validator_for(schema, validate_formats=True, offline=True)
            self._annotating = jsonschema_rs.validator_for(schema, validate_formats=False, offline=True)
        except Exception as error:  # ValidationError, ReferencingError and a plain ValueError: all mean the same here
            self.problem = str(error).splitlines()[0][:300]

    @property
    def usable(self) -> bool:
        return not self.problem

    def faults(self, value: Json) -> list[str]:
        """What is wrong with ``value``; empty when it is valid or nothing can be said."""
        if not self.usable:
            return []
        return [
            f"/{'/'.join(map(str, e.instance_path))}: {e.message}"[:300] for e in self._asserting.iter_errors(value)
        ]

    def only_format(self, value: Json) -> bool:
        """Whether nothing but ``format`` speaks against an invalid ``value``."""
        return self.usable and self._annotating.is_valid(value)
