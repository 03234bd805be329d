"""Stand-in until the exact compiler lands: llguidance's own JSON Schema compiler behind the package's interface."""

from __future__ import annotations

import json
from typing import Any, Literal

import llguidance

from schemas.compiled import CompiledSchema
from schemas.errors import SchemaError


def compile_schema(
    schema: dict[str, Any] | bool, *, undeclared: Literal["allow", "forbid"] = "allow"
) -> CompiledSchema:
    document = {} if schema is True else schema
    if document is False:
        raise SchemaError("", "", "the schema allows no value")
    body = json.dumps(document | {"x-guidance": {"whitespace_flexible": False}})
    grammar = f"start: value\nvalue: %json {body}\n"
    error = llguidance.LLMatcher.validate_grammar(llguidance.grammar_from("grammar", grammar))
    if error:
        raise SchemaError("", "", error)
    return CompiledSchema(schema=schema, grammar=grammar)
