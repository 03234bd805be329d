"""Where a JSON object ends, found as its text arrives."""

from __future__ import annotations

import re

_OUTSIDE = re.compile(r'["{}\[\]]')
_INSIDE = re.compile(r'["\\]')
_ANYWHERE = re.compile(r'["\\{}\[\]]')


class ObjectScanner:
    """Finds the end of one JSON object. Brackets in strings do not count; nothing else of the JSON is checked."""

    __slots__ = ("_depth", "_escaped", "_in_string", "complete")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self.complete = False
        """The object's last bracket has been seen."""

    def goes_on(self, text: str) -> bool:
        """Whether ``text`` is all of a begun object, and changes nothing: no string, object or array begins or ends, so
        that ``scan`` need not look through it."""
        return self._depth > 0 and not self._escaped and _ANYWHERE.search(text) is None

    def scan(self, text: str, start: int) -> int:
        """Go on at ``text[start]``; the position after the object's last bracket, or ``len(text)``. The object's
        first character has to be its opening bracket."""
        at = start
        while at < len(text):
            if self._escaped:
                self._escaped = False
                at += 1
                continue
            found = (_INSIDE if self._in_string else _OUTSIDE).search(text, at)
            if found is None:
                return len(text)
            at = found.end()
            self._take(found.group())
            if self.complete:
                return at
        return at

    def _take(self, mark: str) -> None:
        if mark == "\\":
            self._escaped = True
        elif mark == '"':
            self._in_string = not self._in_string
        elif mark in "{[":
            self._depth += 1
        else:
            self._depth -= 1
            self.complete = self._depth == 0
