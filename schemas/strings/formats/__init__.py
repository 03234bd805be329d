"""The values of ``format`` that are regular and exactly known, as languages."""

from schemas.strings.formats.table import named, named_perhaps

__all__ = ["named", "named_perhaps"]
