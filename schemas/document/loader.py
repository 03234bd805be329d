"""A schema document becomes a table of nodes, draft differences and references resolved."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from schemas.document import values
from schemas.document.cycles import refuse_empty_cycles
from schemas.document.draft import Draft
from schemas.document.resources import RECURSIVE, Place, Resources
from schemas.document.sharing import shared
from schemas.document.size import survey
from schemas.document.uri import resolve
from schemas.errors import SchemaError
from schemas.limits import Limits
from schemas.node import Node, NodeId, node_of

Scope: TypeAlias = tuple[tuple[str, int, Place], ...]
"""What the dynamic scope can still decide: per dynamic anchor the outermost place that has it, sorted by name."""


@dataclass(frozen=True, slots=True)
class Document:
    """The subschemas that are reachable from the root, breadth first, members by name, equal ones once: so schemas that
    differ only in annotations and in the order of members are one document."""

    nodes: tuple[Node, ...]
    """The root is the first."""
    key: str
    """SHA-256, as hex, of the nodes: equal for schemas that mean the same in the same places."""
    root: NodeId = 0


def load(schema: dict[str, Any] | bool, limits: Limits | None = None) -> Document:
    """Parse ``schema``.

    Drafts 4, 6, 7, 2019-09 and 2020-12 by ``$schema`` (2020-12 when there is none), also per embedded resource.
    References to the drafts' meta-schemas are resolved, every other remote reference is refused.

    Raises:
        SchemaError: a keyword's value has the wrong type, a reference cannot be resolved, a cycle of references
            consumes nothing, or a limit is passed.
    """
    limits = limits or Limits()
    if not isinstance(schema, dict | bool):
        raise SchemaError("", "", "a schema is an object, true or false")
    seen = survey(schema, limits)
    resources = Resources(schema)
    if seen.names_places:
        resources.scan()
    nodes = _Builder(resources, limits).run()
    refuse_empty_cycles(nodes)
    nodes = shared(nodes)
    return Document(nodes, hashlib.sha256("".join(map(_text, nodes)).encode()).hexdigest())


def _text(node: Node) -> str:
    said = vars(node)
    types = said.get("types")
    # A set has no order of its own.
    return repr(said if types is None else said | {"types": sorted(types)})


class _Builder:
    """Nodes are asked for by (place, dynamic scope) and built in the order in which they were first asked for."""

    def __init__(self, resources: Resources, limits: Limits) -> None:
        self._resources = resources
        self._limits = limits
        self._ids: dict[tuple[int, Scope], NodeId] = {}
        self._pending: deque[tuple[Place, Scope]] = deque()

    def run(self) -> Sequence[Node]:
        nodes: list[Node] = []
        self._node(self._resources.root, ())
        while self._pending:
            nodes.append(node_of(self._fields(*self._pending.popleft())))
        return nodes

    def _node(self, place: Place, scope: Scope) -> NodeId:
        if self._resources.has_dynamic_anchors:
            scope = _enter(scope, place.resource)
        key = (id(place), scope)
        known = self._ids.get(key)
        if known is None:
            known = self._ids[key] = len(self._ids)
            if known >= self._limits.subschemas:
                raise SchemaError(place.path, "", f"over the limit subschemas = {self._limits.subschemas}")
            self._pending.append((place, scope))
        return known

    def _fields(self, place: Place, scope: Scope) -> dict[str, Any]:
        """What the node says, in an order that the document's does not change."""
        value = place.value
        fields: dict[str, Any] = {"path": place.path}
        if isinstance(value, bool):
            fields["always"] = value
            return fields
        keywords = value.keys()
        if not keywords.isdisjoint(_REFERENCES):
            if refs := self._refs(place, scope):
                fields["refs"] = refs
            if place.draft <= Draft.V7 and "$ref" in value:
                return fields
        self._generic(place, fields)
        if not keywords.isdisjoint(_OTHERS):
            self._others(place, scope, fields)
            # An empty enum is the one empty list that says something.
            return {k: v for k, v in fields.items() if v is not None and (v != () or k == "enum")}
        return fields

    def _others(self, place: Place, scope: Scope, fields: dict[str, Any]) -> None:
        keywords = place.value.keys()
        if not keywords.isdisjoint(_NUMBER_WORDS):
            self._numbers(place, fields)
        if not keywords.isdisjoint(_STRING_WORDS):
            self._strings(place, fields)
        if not keywords.isdisjoint(_ARRAY_WORDS):
            self._arrays(place, scope, fields)
        if not keywords.isdisjoint(_OBJECT_WORDS):
            self._objects(place, scope, fields)
        if not keywords.isdisjoint(_APPLICATORS):
            self._applicators(place, scope, fields)

    # references

    def _refs(self, place: Place, scope: Scope) -> tuple[NodeId, ...]:
        targets: list[NodeId] = []
        if "$ref" in place.value:
            targets.append(self._node(self._target(place, "$ref"), scope))
        if place.draft is Draft.V2020 and "$dynamicRef" in place.value:
            targets.append(self._node(self._dynamic_target(place, scope), scope))
        if place.draft is Draft.V2019 and "$recursiveRef" in place.value:
            target = self._target(place, "$recursiveRef")
            if isinstance(target.value, dict) and target.value.get("$recursiveAnchor") is True:
                target = _outermost(scope, RECURSIVE) or target
            targets.append(self._node(target, scope))
        return tuple(targets)

    def _target(self, place: Place, keyword: str) -> Place:
        reference = place.value[keyword]
        if not isinstance(reference, str):
            values.refuse(place, keyword, "must be a string: a URI reference")
        return self._resources.resolve(place, keyword, reference)

    def _dynamic_target(self, place: Place, scope: Scope) -> Place:
        target = self._target(place, "$dynamicRef")
        name = resolve("", place.value["$dynamicRef"])[1]
        if name and isinstance(target.value, dict) and target.value.get("$dynamicAnchor") == name:
            return _outermost(scope, name) or target
        return target

    # children

    def _one(self, place: Place, scope: Scope, keyword: str) -> NodeId | None:
        if keyword not in place.value:
            return None
        values.require_schema(place, keyword, place.value[keyword])
        return self._node(self._resources.child(place, keyword), scope)

    def _list(self, place: Place, scope: Scope, keyword: str) -> tuple[NodeId, ...]:
        if keyword not in place.value:
            return ()
        schemas = place.value[keyword]
        if not isinstance(schemas, list) or not schemas:
            values.refuse(place, keyword, "must be a non-empty list of schemas")
        for index, schema in enumerate(schemas):
            values.require_schema(place, f"{keyword}/{index}", schema)
        return tuple([self._node(self._resources.item(place, keyword, i), scope) for i in range(len(schemas))])

    def _map(self, place: Place, scope: Scope, keyword: str) -> tuple[tuple[str, NodeId], ...]:
        if keyword not in place.value:
            return ()
        members = values.mapping(place, keyword, self._limits)
        found: list[tuple[str, NodeId]] = []
        for name in sorted(members):
            if not isinstance(members[name], dict | bool):
                values.require_schema(place, f"{keyword}/{name}", members[name])
            found.append((name, self._node(self._resources.member(place, keyword, name), scope)))
        return tuple(found)

    # keywords

    def _generic(self, place: Place, fields: dict[str, Any]) -> None:
        value = place.value
        if "type" in value:
            fields["types"] = values.types(place)
        if place.oldest is Draft.V4:
            fields["plain_integers"] = True
        if "enum" in value:
            fields["enum"] = values.enum(place, self._limits)
        if place.draft >= Draft.V6 and "const" in value:
            fields["const"] = (values.members_sorted(value["const"]),)

    def _strings(self, place: Place, fields: dict[str, Any]) -> None:
        fields["min_length"] = values.count(place, "minLength")
        fields["max_length"] = values.count(place, "maxLength")
        fields["pattern"] = values.string(place, "pattern")
        fields["format"] = values.string(place, "format")

    def _numbers(self, place: Place, fields: dict[str, Any]) -> None:
        for side in ("minimum", "maximum"):
            exclusive = "exclusive" + side.capitalize()
            bound = values.number(place, side)
            if place.draft is Draft.V4:
                if values.flag(place, exclusive):
                    if bound is None:
                        values.refuse(place, exclusive, f"needs {side!r} beside it in draft 4")
                    fields["exclusive_" + side], bound = bound, None
            else:
                fields["exclusive_" + side] = values.number(place, exclusive)
            fields[side] = bound
        multiple: Fraction | None = values.number(place, "multipleOf")
        if multiple is not None and multiple <= 0:
            values.refuse(place, "multipleOf", "must be greater than 0")
        fields["multiple_of"] = multiple

    def _arrays(self, place: Place, scope: Scope, fields: dict[str, Any]) -> None:
        value, draft = place.value, place.draft
        if isinstance(value.get("items"), list):
            # By the letter an error in 2020-12, but SDKs emit the draft-07 tuple there, and it can mean only one thing.
            if draft is Draft.V2020 and "prefixItems" in value:
                values.refuse(place, "items", "must be a schema beside 'prefixItems'")
            if value["items"]:
                fields["prefix_items"] = self._list(place, scope, "items")
            fields["items"] = self._one(place, scope, "additionalItems")
        else:
            if draft is Draft.V2020:
                fields["prefix_items"] = self._list(place, scope, "prefixItems")
            fields["items"] = self._one(place, scope, "items")
        if draft >= Draft.V6:
            fields["contains"] = self._one(place, scope, "contains")
        if draft >= Draft.V2019:
            fields["unevaluated_items"] = self._one(place, scope, "unevaluatedItems")
            least, most = values.count(place, "minContains"), values.count(place, "maxContains")
            if fields["contains"] is not None:
                if least == 0 and place.oldest < Draft.V2019:
                    least = 1
                fields["min_contains"], fields["max_contains"] = least, most
        if draft is not Draft.V2020:
            fields["contains_evaluates"] = False
        fields["min_items"] = values.count(place, "minItems")
        fields["max_items"] = values.count(place, "maxItems")
        fields["unique_items"] = values.flag(place, "uniqueItems")

    def _objects(self, place: Place, scope: Scope, fields: dict[str, Any]) -> None:
        value, draft = place.value, place.draft
        fields["properties"] = self._map(place, scope, "properties")
        fields["pattern_properties"] = self._map(place, scope, "patternProperties")
        fields["additional_properties"] = self._one(place, scope, "additionalProperties")
        if "required" in value:
            fields["required"] = tuple(sorted(values.names(place, "required", value["required"], self._limits)))
        fields["min_properties"] = values.count(place, "minProperties")
        fields["max_properties"] = values.count(place, "maxProperties")
        if draft >= Draft.V6:
            fields["property_names"] = self._one(place, scope, "propertyNames")
        if draft >= Draft.V2019:
            fields["unevaluated_properties"] = self._one(place, scope, "unevaluatedProperties")
        self._dependencies(place, scope, fields)

    def _dependencies(self, place: Place, scope: Scope, fields: dict[str, Any]) -> None:
        """``dependencies`` still counts in 2019-09 and 2020-12: both keep it for compatibility."""
        required: list[tuple[str, tuple[str, ...]]] = []
        schemas: list[tuple[str, NodeId]] = []
        for name, value in sorted(values.mapping(place, "dependencies", self._limits).items()):
            if isinstance(value, list):
                required.append((name, values.names(place, f"dependencies/{name}", value, self._limits)))
            else:
                values.require_schema(place, f"dependencies/{name}", value)
                schemas.append((name, self._node(self._resources.member(place, "dependencies", name), scope)))
        if place.draft >= Draft.V2019:
            for name, value in sorted(values.mapping(place, "dependentRequired", self._limits).items()):
                required.append((name, values.names(place, f"dependentRequired/{name}", value, self._limits)))
            fields["dependencies"] = tuple(schemas)
            fields["dependent_schemas"] = self._map(place, scope, "dependentSchemas")
        else:
            fields["dependent_schemas"] = tuple(schemas)
        fields["dependent_required"] = tuple(required)

    def _applicators(self, place: Place, scope: Scope, fields: dict[str, Any]) -> None:
        for keyword, name in (("allOf", "all_of"), ("anyOf", "any_of"), ("oneOf", "one_of")):
            fields[name] = self._list(place, scope, keyword)
        fields["not_"] = self._one(place, scope, "not")
        if place.draft >= Draft.V7 and "if" in place.value:
            for keyword in ("if", "then", "else"):
                fields[keyword + "_"] = self._one(place, scope, keyword)


_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
# What is absent costs nothing: a group is looked at only where one of its words is.
_NUMBER_WORDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_STRING_WORDS = frozenset({"minLength", "maxLength", "pattern", "format"})
_ARRAY_WORDS = frozenset(
    {"items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "minItems", "maxItems"}
    | {"uniqueItems", "unevaluatedItems"}
)
_OBJECT_WORDS = frozenset(
    {"properties", "patternProperties", "additionalProperties", "propertyNames", "required", "minProperties"}
    | {"maxProperties", "dependencies", "dependentRequired", "dependentSchemas", "unevaluatedProperties"}
)
_APPLICATORS = frozenset({"allOf", "anyOf", "oneOf", "not", "if"})
_OTHERS = _NUMBER_WORDS | _STRING_WORDS | _ARRAY_WORDS | _OBJECT_WORDS | _APPLICATORS


def _enter(scope: Scope, resource: Place) -> Scope:
    if not resource.dynamic_anchors:
        return scope
    known = {name for name, _, _ in scope}
    added = [(name, id(place), place) for name, place in resource.dynamic_anchors.items() if name not in known]
    return tuple(sorted([*scope, *added], key=lambda entry: entry[0])) if added else scope


def _outermost(scope: Scope, name: str) -> Place | None:
    return next((place for known, _, place in scope if known == name), None)
