"""Compiling a schema: the steps in order, and the cache around them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from schemas.algebra import Algebra
from schemas.cache import Cache, text_key
from schemas.compiled import CompiledSchema, Residue, Undeclared
from schemas.document import load, validator_for
from schemas.engine import engine_error
from schemas.errors import SchemaError, TooComplex
from schemas.goals import GoalId, Goals, Mode
from schemas.lengths import Lengths
from schemas.limits import Limits
from schemas.lowering import MAX_DEPTH, Lowering, Text
from schemas.spelling import JSON, Members, Spelling

DEFAULT_LIMITS = Limits()
_CACHE = Cache(1024)


def compile_schema(
    schema: dict[str, Any] | bool,
    *,
    undeclared: Undeclared = "allow",
    limits: Limits = DEFAULT_LIMITS,
    spelling: Spelling = JSON,
) -> CompiledSchema:
    """Compile ``schema`` into a grammar of exactly its values.

    With ``undeclared="forbid"``, objects that declare properties and say nothing of further ones are closed: as if
    they had ``unevaluatedProperties: false``, except for names that are required without being declared.

    ``spelling``: how the grammar writes the values. Other than in JSON it writes objects only, of those the ones that
    have a text in that spelling, each in one.

    Results are cached by the schema's meaning; safe to call from several threads.

    Raises:
        SchemaError: malformed, unsatisfiable, a reference that cannot be resolved, over ``limits``, or without a
            value that can be written in ``spelling``.
    """
    try:
        text = text_key(schema)
        # The usual limits and spelling are not looked at, which would take as long as all the rest.
        usual = limits is DEFAULT_LIMITS and spelling is JSON
        key = (text, undeclared) if usual else (text, undeclared, limits, spelling)
        known = None if text is None else _CACHE.get(key)
        if known is not None:
            return known
        with _collector_paused():
            compiled = _compile(schema, undeclared, limits, spelling)
    except RecursionError as error:
        raise SchemaError("", "", "over the limit of nesting: subschemas refer to each other too deeply") from error
    except TooComplex as error:  # not even a superset can be written
        raise SchemaError("", "", f"too complex: {error.reason}") from error
    if text is not None:
        _CACHE.put(key, compiled)
    return compiled


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Without the garbage collector: nothing that compiling makes is in a cycle, and walks through it all cost a fifth.

    Several threads at once may have it running again early, never paused for good.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _compile(
    schema: dict[str, Any] | bool, undeclared: Undeclared, limits: Limits, spelling: Spelling
) -> CompiledSchema:
    document = load(schema, limits)
    validator_for(schema)  # before what is expensive: it refuses what does not conform to the meta-schema
    known = _CACHE.get((document.key, undeclared, limits, spelling))
    if known is not None:
        return replace(known, schema=schema)
    goals = Goals(document, limits)
    root = goals.atom(document.root, Mode.CLUSTER if undeclared == "forbid" else Mode.OPEN)
    lengths = Lengths(Algebra(goals), root, spelling)
    if lengths[root] is None and undeclared == "forbid":
        return replace(_compile(schema, "allow", limits, spelling), key=f"{document.key}-{undeclared}")
    length = lengths.check(root)
    lowering, grammar = _lowered(lengths, root, spelling)
    compiled = CompiledSchema(
        schema,
        grammar,
        list(lowering.residue),
        length,
        f"{document.key}-{undeclared}",
        undeclared == "forbid" and not lengths.algebra.reader.left_open,
        list(lowering.narrowings),
        spelling,
        lowering.members or Members(),
        undeclared,
    )
    _CACHE.put((document.key, undeclared, limits, spelling), compiled)
    return compiled


def _lowered(lengths: Lengths, root: GoalId, spelling: Spelling) -> tuple[Lowering, str]:
    """A grammar that the engine takes: what it refuses would fail in the middle of a request.

    The trial costs more than all the rest for a small schema, so it is left out where it cannot fail.
    """
    plainly = flatly = False
    while True:
        lowering = Lowering(lengths, plainly=plainly, flatly=flatly, spelling=spelling)
        grammar = lowering.run(root)
        is_deep = lowering.text.is_deep
        error = _TOO_DEEP if is_deep else _engine_error(lowering.text, grammar)
        if error is None:
            return lowering, grammar
        if flatly if is_deep else plainly:
            raise SchemaError("", "", f"over a limit of the grammar engine: {error}")
        plainly, flatly = plainly or not is_deep, flatly or is_deep


_TOO_DEEP = f"rules within each other more than {MAX_DEPTH} deep (references, or prefixItems, in long chains)"


def _engine_error(text: Text, grammar: str) -> str | None:
    if text.is_small or (text.has_few_symbols and engine_error(text.terminals_alone()) is None):
        return None
    return engine_error(grammar)


__all__ = ["DEFAULT_LIMITS", "Residue", "Undeclared", "compile_schema"]
