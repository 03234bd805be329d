"""The values of ``format`` that are regular and exactly known, as languages."""

from schemas.strings.formats.table import IRREGULAR, NAMES, named, named_perhaps

__all__ = ["IRREGULAR", "NAMES", "named", "named_perhaps"]
