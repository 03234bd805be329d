"""Random schemas and random values near them, for differential tests.

Both draw from the same few names, strings and numbers, so that they meet often.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = ["a", "b", "ab", "c", "", 'q"\\', "é"]
STRINGS = ["", "a", "b", "ab", "aab", "ba", "é", "😀", "a\nb", '"', "2024-02-29", "2023-02-29"]
NUMBERS = [-3, -1, 0, 1, 2, 3, 4, 6, 10, -0.5, 0.5, 1.5, 2.0, 1e3, 1e-3, 0.1, 0.3]
PATTERNS = ["a", "^a", "b$", "^a*b?$", "^[ab]{2,3}$", "^(?!a)", "^$", ".", "\\W", "^[^a]*$", "é|^b"]

names = st.sampled_from(NAMES)
scalars = st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.sampled_from(STRINGS)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(names, children, max_size=4),
    max_leaves=8,
)
small = st.integers(0, 3)
bounds = st.sampled_from([-2, 0, 1, 2, 3, 0.5, 2.5])


def keyword_sets(children: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A few keywords of one kind, so that they act on each other."""
    lists = st.lists(children, min_size=1, max_size=3)
    members = st.dictionaries(names, children, max_size=3)
    subsets = st.lists(names, unique=True, max_size=3)
    kinds: list[dict[str, st.SearchStrategy[Any]]] = [
        {
            "minimum": bounds,
            "maximum": bounds,
            "exclusiveMinimum": bounds,
            "exclusiveMaximum": bounds,
            "multipleOf": st.sampled_from([1, 2, 3, 0.5, 0.1, 1.5]),
        },
        {"minLength": small, "maxLength": small, "pattern": st.sampled_from(PATTERNS)},
        {
            "items": children,
            "prefixItems": lists,
            "minItems": small,
            "maxItems": small,
            "uniqueItems": st.just(True),
        },
        {
            "contains": children,
            "minContains": small,
            "maxContains": small,
            "maxItems": small,
            "unevaluatedItems": children,
            "prefixItems": lists,
        },
        {
            "properties": members,
            "required": subsets,
            "additionalProperties": children,
            "patternProperties": st.dictionaries(st.sampled_from(PATTERNS), children, max_size=2),
        },
        {
            "properties": members,
            "minProperties": small,
            "maxProperties": small,
            "propertyNames": children,
            "unevaluatedProperties": children,
        },
        {
            "properties": members,
            "required": subsets,
            "dependentRequired": st.dictionaries(names, subsets, max_size=2),
            "dependentSchemas": st.dictionaries(names, children, max_size=2),
        },
        {"enum": st.lists(values, min_size=1, max_size=4), "const": values},
        {"allOf": lists, "anyOf": lists, "oneOf": lists},
        {"not": children, "anyOf": lists},
        {"if": children, "then": children, "else": children},
        {"properties": members, "anyOf": lists, "unevaluatedProperties": st.just(False)},
        {"$ref": st.sampled_from(["#/$defs/x", "#/$defs/y"]), "type": types},
    ]
    return st.sampled_from(kinds).flatmap(
        lambda kind: st.lists(st.sampled_from(sorted(kind)), min_size=1, max_size=3, unique=True).flatmap(
            lambda chosen: st.fixed_dictionaries({key: kind[key] for key in chosen})
        )
    )


type_names = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
types = type_names | st.lists(type_names, min_size=1, max_size=3, unique=True)


def _node(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    typed = st.builds(lambda body, kind: {"type": kind} | body, keyword_sets(children), types)
    return keyword_sets(children) | typed


leaves = st.booleans() | st.just({}) | st.builds(lambda kind: {"type": kind}, types) | keyword_sets(st.just({}))
subschemas: st.SearchStrategy[Any] = st.recursive(leaves, _node, max_leaves=5)


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """A schema of draft 2020-12 whose references, if any, resolve; they may recur."""
    root = draw(subschemas)
    root = {"allOf": [root]} if isinstance(root, bool) else dict(root)
    return root | {"$defs": {"x": draw(subschemas), "y": draw(subschemas)}}
