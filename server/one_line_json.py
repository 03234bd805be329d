"""JSON that is one line to everybody.

A server-sent event ends a line at CR and LF only, which JSON always escapes. Clients that split lines with Python's
``str.splitlines`` also cut at three characters that JSON may hold as they are: U+0085, U+2028 and U+2029.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

_BREAKS = re.compile(b"\xc2\x85|\xe2\x80[\xa8\xa9]")
_ESCAPES = {b"\xc2\x85": b"\\u0085", b"\xe2\x80\xa8": b"\\u2028", b"\xe2\x80\xa9": b"\\u2029"}


def one_line_json(value: Any) -> bytes:
    """``value`` as JSON in UTF-8, without any character that ends a line. Raises TypeError as orjson does."""
    data = orjson.dumps(value)
    # Such bytes stand in strings only. UTF-8 marks the first byte of a character, so they are never parts of two.
    return data if data.isascii() else _BREAKS.sub(lambda found: _ESCAPES[found[0]], data)
