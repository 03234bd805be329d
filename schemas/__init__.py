"""JSON Schema in, grammar out: a schema is a set of JSON values and the grammar is that set."""

from schemas.compile import compile_schema
from schemas.compiled import CompiledSchema, Guarantee, Residue
from schemas.errors import SchemaError
from schemas.limits import Limits

__all__ = ["CompiledSchema", "Guarantee", "Limits", "Residue", "SchemaError", "compile_schema"]
