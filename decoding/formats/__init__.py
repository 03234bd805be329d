"""The call formats: one declaration each, found by name or from a tokenizer."""

from decoding.formats.declaration import Arguments, Format, Literal, Name, Part, ReasoningMarks, Wording
from decoding.formats.detect import Detection, detect, explain, get, names

__all__ = [
    "Arguments",
    "Detection",
    "Format",
    "Literal",
    "Name",
    "Part",
    "ReasoningMarks",
    "Wording",
    "detect",
    "explain",
    "get",
    "names",
]
