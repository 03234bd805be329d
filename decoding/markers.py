"""Where fixed texts and names end in text that is still arriving."""

from __future__ import annotations

import re
import string

SPACE = " \t\r\n"
NOT_SPACE = re.compile(rf"[^{SPACE}]")
NOT_DIGIT = re.compile("[^0-9]")


def partial_marker(text: str, start: int, marker: str) -> int:
    """Where the longest end of ``text[start:]`` begins that may become ``marker``; ``len(text)`` when none does."""
    for at in range(max(start, len(text) - len(marker) + 1), len(text)):
        if marker.startswith(text[at:]):
            return at
    return len(text)


def name_end(following: str) -> re.Pattern[str]:
    """The first character that no name holds, or that begins ``following``, the text behind the name."""
    stop = following[0]
    allowed = "".join(re.escape(c) for c in string.ascii_letters + string.digits + "_-.:/" if c != stop)
    return re.compile(f"[^{allowed}]")
