"""The call formats: one declaration each, found by name or from a tokenizer."""

from decoding.formats.declaration import Channels, Format, Opening, Place, ReasoningMarks, Section, TextMarks, Wording
from decoding.formats.detect import Detection, bind, detect, explain, get, names
from decoding.formats.parts import (
    Arguments,
    CallId,
    Either,
    Gap,
    Index,
    Literal,
    Name,
    Part,
    text_behind_arguments,
)

__all__ = [
    "Arguments",
    "CallId",
    "Channels",
    "Detection",
    "Either",
    "Format",
    "Gap",
    "Index",
    "Literal",
    "Name",
    "Opening",
    "Part",
    "Place",
    "ReasoningMarks",
    "Section",
    "TextMarks",
    "Wording",
    "bind",
    "detect",
    "explain",
    "get",
    "names",
    "text_behind_arguments",
]
