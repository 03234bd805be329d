"""Where the subschemas of a document are, and what ``$id``, ``$anchor`` and JSON pointers name in it.

A *resource* is a subschema with an ``$id`` of its own, or the root (JSON Schema 2020-12 core, section 4.3.5).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import jsonschema_specifications  # type: ignore[import-untyped]
import orjson

from schemas.document.draft import Draft, Holds, applicators, draft_of, id_keyword, known_draft
from schemas.document.uri import escape, pointer_tokens, resolve
from schemas.errors import SchemaError

RECURSIVE = ""
"""The name under which ``$recursiveAnchor: true`` is kept among the dynamic anchors: no anchor can be called so."""

_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "$comment"})
_JUST_A_TYPE = _ANNOTATIONS | {"type"}
_Name = TypeVar("_Name", str, tuple[str, str])
MAX_TEXT = 8_000_000
"""Bytes of the texts by which subschemas are compared, all together: each has those inside it in it again."""


@dataclass(eq=False, slots=True)
class Place:
    """One subschema where it is written. Two places are the same only when they are the same object."""

    value: Any
    document: str
    """``""`` for the schema itself, else the URI of the meta-schema it came from."""
    pointer: str
    draft: Draft
    base: str
    _resource: Place | None = None
    oldest: Draft = Draft.V2020
    """The oldest of the drafts that some reader sees here; that of the resource alone where all see the same."""
    dynamic_anchors: dict[str, Place] | None = None
    """Of a resource: its ``$dynamicAnchor``s, and :data:`RECURSIVE` when it has ``$recursiveAnchor: true``."""

    @property
    def resource(self) -> Place:
        return self._resource or self

    @property
    def path(self) -> str:
        return f"{self.document}#{self.pointer}" if self.document else self.pointer


class Resources:
    """The places of a schema and of the meta-schemas that it refers to: all of them after ``scan``, before it those
    that were asked for. A schema that names subschemas (``schemas.document.size.Survey``) must be scanned first."""

    def __init__(self, schema: Any) -> None:
        self._places: dict[tuple[str, str], Place] = {}
        self._by_uri: dict[str, Place] = {}
        self._anchors: dict[tuple[str, str], Place] = {}
        self._ambiguous: set[Hashable] = set()
        """URIs, and URIs with an anchor, that name two different subschemas: some readers take the first of them,
        others the last."""
        self._resolved: dict[tuple[str, str], Place] = {}
        self._alike: dict[Hashable, Place] = {}
        """Before a scan: by what they say, or by their pointer where that is not known."""
        self._room = MAX_TEXT
        self.has_dynamic_anchors = False
        self.root = Place(schema, "", "", Draft.V2020, "")
        self._by_uri[""] = self._places["", ""] = self.root
        self._is_scanned = False
        if isinstance(schema, dict):
            self._identify(self.root)

    def scan(self) -> None:
        """Find all subschemas at places where their draft has one, and what they are called."""
        self._is_scanned = True
        if isinstance(self.root.value, dict):
            self._register(_below(self.root))

    def places(self) -> list[Place]:
        """What a scan has found in the document itself."""
        return [place for (document, _), place in self._places.items() if not document]

    def resolve(self, place: Place, keyword: str, reference: str) -> Place:
        """The place that ``reference``, written at ``place``, names. Raises :class:`SchemaError` when there is none."""
        known = self._resolved.get((place.base, reference))
        if known is None:
            known = self._resolved[place.base, reference] = self._resolve(place, keyword, reference)
        return known

    def _resolve(self, place: Place, keyword: str, reference: str) -> Place:
        uri, fragment = resolve(place.base, reference)
        resource = self._by_uri.get(uri)
        if resource is None:
            meta = _meta_schema(uri)
            if meta is None:
                raise SchemaError(place.path, keyword, _unknown(reference, uri))
            resource = self._add_meta_schema(meta, uri)
        if not self._ambiguous.isdisjoint((uri, (uri, fragment), (resource.base, fragment))):
            raise SchemaError(place.path, keyword, f"{reference!r} is ambiguous: different subschemas have that name")
        if fragment and not fragment.startswith("/"):
            anchor = self._anchors.get((uri, fragment)) or self._anchors.get((resource.base, fragment))
            if anchor is None:
                raise SchemaError(place.path, keyword, f"cannot resolve {reference!r}: there is no anchor {fragment!r}")
            return anchor
        tokens = pointer_tokens(fragment)
        try:
            return self._at_pointer(resource, tokens, place, keyword, reference)
        except SchemaError:
            # Documents bundled by hand give each definition an id and still point from the root: "#/definitions/a/...".
            if not (reference.startswith("#") and resource.pointer and resource.document == ""):
                raise
            return self._at_pointer(self.root, tokens, place, keyword, reference)

    def child(self, place: Place, keyword: str) -> Place:
        """The subschema that ``keyword`` has."""
        return self._found(place.value[keyword], f"{place.pointer}/{keyword}", place)

    def member(self, place: Place, keyword: str, name: str) -> Place:
        """The subschema that ``keyword`` has under ``name``."""
        return self._found(place.value[keyword][name], f"{place.pointer}/{keyword}/{escape(name)}", place)

    def item(self, place: Place, keyword: str, index: int) -> Place:
        """The subschema that ``keyword`` has at ``index``."""
        return self._found(place.value[keyword][index], f"{place.pointer}/{keyword}/{index}", place)

    def _found(self, value: Any, pointer: str, above: Place) -> Place:
        """The place at ``pointer``; where no subschema has a name, the first one that says the same."""
        if self._is_scanned or above.document:
            found = self._places.get((above.document, pointer))
            if found is None:
                found = _inside(above, value, pointer)
                self._register([found])
            return found
        key = self._said(value) or pointer
        found = self._alike.get(key)
        if found is None:
            found = self._alike[key] = _inside(above, value, pointer)
        return found

    def _said(self, value: Any) -> Hashable | None:
        """Equal for subschemas that say the same, if that is quick to see: what annotations they have themselves makes
        no difference, those further inside do."""
        if isinstance(value, dict):
            if value.keys() <= _JUST_A_TYPE and isinstance(value.get("type"), str):
                return ("type", value["type"])
            if not _ANNOTATIONS.isdisjoint(value):
                value = {keyword: inner for keyword, inner in value.items() if keyword not in _ANNOTATIONS}
        if self._room <= 0:
            return None
        try:
            text = orjson.dumps(value)
        except TypeError:  # integers over 64 bits, lone surrogates, very deep
            return None
        self._room -= len(text)
        return text

    def _at_pointer(self, resource: Place, tokens: list[str], place: Place, keyword: str, reference: str) -> Place:
        value, pointer, nearest = resource.value, resource.pointer, resource
        for token in tokens:
            if isinstance(value, dict) and token in value:
                value = value[token]
            elif isinstance(value, list) and token.isascii() and token.isdigit() and int(token) < len(value):
                value = value[int(token)]
            else:
                raise SchemaError(place.path, keyword, f"cannot resolve {reference!r}: nothing is at {token!r} there")
            pointer += "/" + escape(token)
            nearest = self._places.get((resource.document, pointer), nearest)
        if nearest.pointer == pointer:
            return nearest
        if not isinstance(value, dict | bool):
            raise SchemaError(place.path, keyword, f"{reference!r} names something that is not a schema")
        return self._found(value, pointer, nearest)

    def _add_meta_schema(self, schema: Any, uri: str) -> Place:
        root = self._by_uri[uri] = Place(schema, uri, "", Draft.V2020, uri)
        self._register([root])
        return root

    def _register(self, pending: list[Place]) -> None:
        """Add places, the last one first, and all that is below them, without recursion."""
        while pending:
            place = pending.pop()
            if (place.document, place.pointer) in self._places:
                continue
            self._places[place.document, place.pointer] = place
            if isinstance(place.value, dict):
                self._identify(place)
                pending.extend(_below(place))

    def _identify(self, place: Place) -> None:
        value = place.value
        starts_document = not place.pointer
        if "$schema" in value:
            if starts_document or "$id" in value or "id" in value:
                place.draft = draft_of(value["$schema"], place.path)
                place.oldest = place.draft
            else:
                _heed_misplaced_draft(place)
        if place.draft <= Draft.V7 and "$ref" in value:
            return
        name = value.get(id_keyword(place.draft))
        if isinstance(name, str):
            uri, fragment = resolve(place.base, name)
            if place.draft <= Draft.V7 and fragment:
                self._name(self._anchors, (uri, fragment), place)
            if not name.startswith("#"):
                place.base = uri
                place._resource = None
                self._name(self._by_uri, uri, place)
        if place.draft >= Draft.V2019:
            self._name_anchors(place)

    def _name(self, table: dict[_Name, Place], name: _Name, place: Place) -> None:
        first = table.setdefault(name, place)
        if first is not place and first is not self.root and first.value != place.value:
            self._ambiguous.add(name)

    def _name_anchors(self, place: Place) -> None:
        resource = place.resource
        for keyword in ("$anchor", "$dynamicAnchor") if place.draft is Draft.V2020 else ("$anchor",):
            name = place.value.get(keyword)
            if name is None:
                continue
            if not isinstance(name, str) or not name:
                raise SchemaError(place.path, keyword, "must be a non-empty string")
            self._name(self._anchors, (place.base, name), place)
            if keyword == "$dynamicAnchor":
                self.has_dynamic_anchors = True
                resource.dynamic_anchors = {name: place} | (resource.dynamic_anchors or {})
        if place.draft is Draft.V2019 and place is resource and place.value.get("$recursiveAnchor") is True:
            self.has_dynamic_anchors = True
            resource.dynamic_anchors = (resource.dynamic_anchors or {}) | {RECURSIVE: place}


def _heed_misplaced_draft(place: Place) -> None:
    """``$schema`` in a subschema that is no resource: all drafts forbid it (2020-12 core, section 8.1.1), some readers
    heed it, others do not, and jsonschema-rs does unless it comes by a reference. What either asserts is asserted."""
    meta = place.value["$schema"]
    draft = known_draft(meta) if isinstance(meta, str) else None
    if draft is not None:
        place.draft, place.oldest = max(place.draft, draft), min(place.oldest, draft)


def _inside(above: Place, value: Any, pointer: str) -> Place:
    return Place(value, above.document, pointer, above.draft, above.base, above.resource, above.oldest)


def _below(place: Place) -> list[Place]:
    """The next subschemas at places where the draft has one, the last one first."""
    found = [_inside(place, value, f"{place.pointer}/{suffix}") for suffix, value in _subschemas(place)]
    found.reverse()
    return found


def _subschemas(place: Place) -> Iterator[tuple[str, Any]]:
    kinds = applicators(place.draft)
    for keyword, value in place.value.items():
        kind = kinds.get(keyword)
        if kind is None:
            continue
        if isinstance(value, dict):
            if kind is Holds.MAP:
                for name, child in value.items():
                    if isinstance(child, dict | bool):
                        yield f"{keyword}/{escape(name)}", child
            elif kind is not Holds.LIST:
                yield keyword, value
        elif isinstance(value, list):
            if kind is Holds.LIST or kind is Holds.ITEMS:
                for index, child in enumerate(value):
                    if isinstance(child, dict | bool):
                        yield f"{keyword}/{index}", child
        elif isinstance(value, bool) and (kind is Holds.SCHEMA or kind is Holds.ITEMS):
            yield keyword, value


@cache
def _meta_schema(uri: str) -> Any:
    try:
        return jsonschema_specifications.REGISTRY.contents(uri)
    except KeyError:
        return None


def _unknown(reference: str, uri: str) -> str:
    if reference.startswith("/"):
        return f"cannot resolve {reference!r}: a pointer into this schema starts with '#', as in '#{reference}'"
    return f"cannot resolve {reference!r}: {uri!r} is another document, and none is fetched; put it under $defs"
