"""Who is right about a text or a value: a strict JSON reader, and jsonschema-rs with formats asserted."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, TypeAlias

import jsonschema_rs

Json: TypeAlias = Any
DOUBLE_MAX = int(1.7976931348623157e308)


class NotStrict(ValueError):
    """A text that is not JSON as RFC 8259 and its readers agree on it."""


class _Pairs(list[tuple[str, Json]]):
    """An object's members in the order and number in which they were written."""


def strict_json(text: bytes) -> tuple[Json, list[str]]:
    """The value of a JSON text and the keys repeated in one object, each once. A repeated key's last value counts.

    Raises NotStrict for what is no JSON, for a number that a double cannot hold, a lone surrogate, a raw control
    character, bytes that are not UTF-8.
    """
    try:
        tree = json.loads(text.decode("utf-8"), object_pairs_hook=_Pairs, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise NotStrict(f"not UTF-8: {error}") from error
    except RecursionError as error:
        raise NotStrict("nested too deeply to read") from error
    except ValueError as error:
        # Python also refuses integers of over 4,300 digits here, which no double holds.
        raise NotStrict(str(error)) from error
    repeated: list[str] = []
    return _settle(tree, repeated), repeated


def readings(text: bytes) -> Iterator[Json]:
    """The values that different readers give a text with repeated keys: the last one counts, the first one counts."""
    tree = json.loads(text, object_pairs_hook=_Pairs)
    yield _settle(tree, [])
    yield _settle(_reverse(tree), [])


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _reverse(tree: Json) -> Json:
    if isinstance(tree, _Pairs):
        return _Pairs((key, _reverse(item)) for key, item in reversed(tree))
    return [_reverse(item) for item in tree] if isinstance(tree, list) else tree


def _settle(tree: Json, repeated: list[str]) -> Json:
    if isinstance(tree, _Pairs):
        found: dict[str, Json] = {}
        for key, item in tree:
            if key in found and key not in repeated:
                repeated.append(key)
            _check_text(key)
            found[key] = _settle(item, repeated)
        return found
    if isinstance(tree, list):
        return [_settle(item, repeated) for item in tree]
    if isinstance(tree, str):
        _check_text(tree)
    elif isinstance(tree, float) and not math.isfinite(tree):
        raise NotStrict("a number overflows a double")
    elif isinstance(tree, int) and abs(tree) > DOUBLE_MAX:
        raise NotStrict("an integer overflows a double")
    return tree


def _check_text(text: str) -> None:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise NotStrict(f"a lone surrogate in {text!r}")


class Judge:
    """The verdict of jsonschema-rs under the draft that ``$schema`` names (2020-12 by default), formats asserted.

    ``usable`` is false where jsonschema-rs cannot take the schema (a pattern its engine lacks, a remote reference):
    then there is no second opinion and the data's own labels stand.
    """

    def __init__(self, schema: Json) -> None:
        self.declared = frozenset(_declared(schema))
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


def _declared(schema: Json) -> Iterator[str]:
    """Every name under any ``properties`` of the document: a repeated one of these is a fault in itself."""
    if isinstance(schema, dict):
        for keyword, child in schema.items():
            if keyword == "properties" and isinstance(child, dict):
                yield from child
            yield from _declared(child)
    elif isinstance(schema, list):
        for child in schema:
            yield from _declared(child)
