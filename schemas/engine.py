"""Trying a grammar in llguidance, the engine that will run it."""

from __future__ import annotations

import llguidance

from schemas.sample import byte_tokenizer, grammar_of

MAX_SYMBOLS = 60_000
"""llguidance numbers the symbols of a grammar with 16 bits, and panics where those are used up."""


def engine_error(grammar: str) -> str | None:
    """Why llguidance cannot run ``grammar``; None when it can, as far as building it and the first mask show."""
    if grammar.count("\n") > MAX_SYMBOLS:
        return f"more than {MAX_SYMBOLS} alternatives"
    try:
        matcher = llguidance.LLMatcher(byte_tokenizer(), grammar_of(grammar), log_level=0)
        if not matcher.is_error():
            matcher.compute_bitmask()
        error = matcher.get_error()
    except BaseException as error_:  # a Rust panic is no Exception
        if type(error_).__name__ != "PanicException":
            raise
        return "the grammar has too many symbols"
    return error.splitlines()[0] if error else None
