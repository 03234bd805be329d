"""The call formats: one declaration each, found by name or from a tokenizer."""

from decoding.formats.declaration import (
    Arguments,
    CallId,
    Either,
    Format,
    Gap,
    Index,
    Literal,
    Name,
    Opening,
    Part,
    Place,
    ReasoningMarks,
    Section,
    TextMarks,
    Wording,
)
from decoding.formats.detect import Detection, bind, detect, explain, get, names

__all__ = [
    "Arguments",
    "CallId",
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
]
