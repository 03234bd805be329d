"""Where fixed texts and names end in text that is still arriving."""

from __future__ import annotations

import re
import string
from functools import lru_cache

SPACE = " \t\r\n"
NOT_SPACE = re.compile(rf"[^{SPACE}]")
NOT_DIGIT = re.compile("[^0-9]")
NO_ID = re.compile("[^0-9A-Za-z_-]")


def partial_marker(text: str, start: int, marker: str) -> int:
    """Where the longest end of ``text[start:]`` begins that may become ``marker``; ``len(text)`` when none does."""
    for at in range(max(start, len(text) - len(marker) + 1), len(text)):
        if marker.startswith(text[at:]):
            return at
    return len(text)


@lru_cache(maxsize=64)
def name_end(following: str) -> re.Pattern[str]:
    """The first character that no name holds, or that may stand behind the name."""
    allowed = "".join(re.escape(c) for c in string.ascii_letters + string.digits + "_-.:/" if c not in following)
    return re.compile(f"[^{allowed}]")


def match_loosely(text: str, start: int, wanted: str) -> int | None:
    """The position after ``wanted`` in ``text[start:]``, white space in both aside; ``None`` when ``text`` ends before
    that is known, -1 when it stands not there."""
    at = start
    for character in "".join(wanted.split()):
        while at < len(text) and text[at] in SPACE:
            at += 1
        if at == len(text):
            return None
        if text[at] != character:
            return -1
        at += 1
    return at
