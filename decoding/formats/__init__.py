"""The call formats: one declaration each, found by name or from a tokenizer."""

from decoding.formats.declaration import (
    Arguments,
    Format,
    Gap,
    Index,
    Literal,
    Name,
    Part,
    ReasoningMarks,
    Section,
    Wording,
)
from decoding.formats.detect import Detection, bind, detect, explain, get, names

__all__ = [
    "Arguments",
    "Detection",
    "Format",
    "Gap",
    "Index",
    "Literal",
    "Name",
    "Part",
    "ReasoningMarks",
    "Section",
    "Wording",
    "bind",
    "detect",
    "explain",
    "get",
    "names",
]
