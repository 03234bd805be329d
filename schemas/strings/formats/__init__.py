"""The values of ``format`` that are regular and exactly known, as languages."""

from schemas.strings.formats.table import NAMES, named, named_perhaps

__all__ = ["NAMES", "named", "named_perhaps"]
