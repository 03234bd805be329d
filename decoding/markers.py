"""Where fixed texts and names end in text that is still arriving."""

from __future__ import annotations

import re
import string

from decoding.formats import Format, Literal, Name

SPACE = " \t\r\n"
NOT_SPACE = re.compile(rf"[^{SPACE}]")
NOT_DIGIT = re.compile("[^0-9]")


def partial_marker(text: str, start: int, marker: str) -> int:
    """Where the longest end of ``text[start:]`` begins that may become ``marker``; ``len(text)`` when none does."""
    for at in range(max(start, len(text) - len(marker) + 1), len(text)):
        if marker.startswith(text[at:]):
            return at
    return len(text)


def name_end(fmt: Format) -> re.Pattern[str]:
    """The first character that no name holds, or that begins the literal after the name."""
    place = next(i for i, part in enumerate(fmt.call) if isinstance(part, Name))
    following = fmt.call[place + 1]
    assert isinstance(following, Literal)
    stop = following.text.lstrip()[0]
    allowed = "".join(re.escape(c) for c in string.ascii_letters + string.digits + "_-.:/" if c != stop)
    return re.compile(f"[^{allowed}]")
