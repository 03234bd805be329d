"""A call's arguments in a format's own spelling ↔ JSON text: read as they arrive, and written for earlier calls."""

from __future__ import annotations

from decoding.spellings.json_text import JsonReader
from decoding.spellings.keywords import KeywordReader, write_keywords
from decoding.spellings.members import ArgumentReader
from decoding.spellings.quoted import QuotedReader, write_quoted
from decoding.spellings.tags import TagReader, write_tags
from schemas.spelling import Json, Keywords, Members, Quoted, Spelling, Tags


def argument_reader(spelling: Spelling, members: Members, end: str) -> ArgumentReader:
    """A reader for the arguments of one call. ``end`` is the text that stands behind them."""
    match spelling:
        case Json():
            return JsonReader()
        case Tags():
            return TagReader(spelling, members, end)
        case Keywords():
            return KeywordReader(end)
        case Quoted():
            return QuotedReader(spelling)


def write_arguments(spelling: Spelling, arguments: str, members: Members | None) -> str:
    """``arguments``, JSON text, as the model writes them; text that is no JSON object as it stands. ``members`` of
    ``None``: the tool is not known, and strings stand as they are."""
    match spelling:
        case Json():
            return arguments
        case Tags():
            return write_tags(spelling, arguments, members)
        case Keywords():
            return write_keywords(arguments)
        case Quoted():
            return write_quoted(spelling, arguments)


__all__ = ["ArgumentReader", "argument_reader", "write_arguments"]
