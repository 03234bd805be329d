"""String languages: patterns, lengths, formats and literal sets as regular sets, and their JSON spelling."""

from schemas.errors import TooComplex
from schemas.strings.language import Language
from schemas.strings.pattern import PatternError

__all__ = ["Language", "PatternError", "TooComplex"]
