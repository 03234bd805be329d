"""The compilers under test behind one function type: a schema in, a llguidance grammar out, or a refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import llguidance

from schemas import CompiledSchema, Residue, SchemaError, compile_schema
from schemas.engine import grammar_of

Json: TypeAlias = Any
CompilerName: TypeAlias = Literal["strictcall", "llguidance"]
RefusalKind: TypeAlias = Literal["unsatisfiable", "reference", "limits", "other"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """A compiled schema."""

    text: str
    """As the compiler gives it."""
    size: int
    residue: list[Residue] = field(default_factory=list)
    compiled: CompiledSchema | None = None

    @property
    def source(self) -> str:
        """What ``llguidance.LLMatcher`` takes."""
        return self.text if self.compiled is None else grammar_of(self.text)

    def passes(self, value: Json) -> bool:
        """What the server does with a value that the grammar let through: only a residue is checked."""
        return not self.residue or self.compiled is None or not self.compiled.validate(value)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a schema was not compiled; ``path`` and ``keyword`` are empty where the compiler does not say."""

    kind: RefusalKind
    path: str
    keyword: str
    reason: str


def _strictcall(schema: Json) -> Grammar | Refusal:
    try:
        compiled = compile_schema(schema)
    except SchemaError as error:
        return Refusal(_kind(error.keyword, error.reason), error.path, error.keyword, error.reason)
    return Grammar(compiled.grammar, len(compiled.grammar), list(compiled.residue), compiled)


def _llguidance(schema: Json) -> Grammar | Refusal:
    if isinstance(schema, bool):
        return Refusal("other", "", "", "a boolean schema is not taken") if not schema else _llguidance({})
    text = json.dumps(schema)
    # Compact: llguidance's default is unbounded white space, in which walks get lost.
    source = llguidance.LLMatcher.grammar_from_json_schema(text, overrides={"whitespace_flexible": False})
    error = llguidance.LLMatcher.validate_grammar(source)
    if error:
        return Refusal(_kind("", error.splitlines()[0]), "", "", error.splitlines()[0])
    return Grammar(source, len(text))


def _kind(keyword: str, reason: str) -> RefusalKind:
    words = reason.lower()
    if keyword in {"$ref", "$dynamicRef", "$recursiveRef", "$schema"}:
        return "reference"
    if "unsatisfiable" in words:
        return "unsatisfiable"
    if "limit" in words:
        return "limits"
    return "other"


COMPILERS: dict[CompilerName, Callable[[Json], Grammar | Refusal]] = {
    "strictcall": _strictcall,
    "llguidance": _llguidance,
}
