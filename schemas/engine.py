"""llguidance, the engine that will run a grammar: how it is set up, and trying a grammar in it."""

from __future__ import annotations

import re

import llguidance

from schemas.byte_vocabulary import byte_tokenizer

MAX_SYMBOLS = 60_000
"""llguidance numbers the symbols of a grammar with 16 bits, and panics where those are used up."""

LIMITS = llguidance.LLParserLimits(max_lexer_states=2_000_000, step_lexer_fuel=1_000_000, max_items_in_row=20_000)
"""Counted strings (``maxLength``) take about 15 lexer states per token; llguidance's default of 250,000 ends an answer
in the middle. Fuel is what one step may cost: a million is about 70 ms.
An object of 2,000 properties has as many items in a row, which is where the default ends."""

SLICES = (
    r"[a-z]{1,8}",
    r"[a-zA-Z0-9]{1,12}",
    r"[ a-zA-Z0-9]{1,12}",
    r"[ !#-;=?-\[\]-~]{1,30}",
    r"[ !#-\[\]-~]{1,30}",
    r'[^"\\\x00-\x1F\x7F]{1,30}',
    r'[^"\\\x00-\x1F\x7F]+',
)
"""Sets of strings for which llguidance keeps which tokens fit whole. Against its default, masks inside strings with a
pattern take a fifth to a half of the time. The order is from inside to outside: each is within the next."""


# A special token of the model's vocabulary, by its id. Here is a vocabulary of bytes, of which these are in no text.
_TOKEN = re.compile(r"<\[([0-9]+)\]>")
_NO_TEXT = range(0xF8, 0x100)


def grammar_of(text: str) -> str:
    """``CompiledSchema.grammar`` in the form that ``llguidance.LLMatcher`` takes."""
    return str(llguidance.grammar_from("grammar", text))


def engine_error(grammar: str) -> str | None:
    """Why llguidance cannot run ``grammar``; None when it can, as far as building it and the first mask show."""
    grammar = _TOKEN.sub(lambda token: f"<[{_NO_TEXT[int(token[1]) % len(_NO_TEXT)]}]>", grammar)
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
