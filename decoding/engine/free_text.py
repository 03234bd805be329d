"""Masks of free text, computed once per state: while the model talks, a mask costs a copy.

Before the first call of an answer that may hold calls, a state is known from the bytes alone: how much of the marker
has just been written. The grammar names its marker in a comment on its first line (``declare_free_text``), so that the
hint goes wherever the grammar goes, and harms nobody who does not read it.
"""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_QUOTED = r"(\"(?:[^\"\\]|\\.)*\")"
_HINT = re.compile(rf"// free text until {_QUOTED}( at line start)?(?:, if it does not begin with {_QUOTED})?\n")
_SPACE = b" \t\r\n"


def declare_free_text(grammar: str, marker: str, *, at_line_start: bool, unless: str | None = None) -> str:
    """The same grammar, saying that its answers begin with free text (any text, or none) up to ``marker``; with
    ``unless``, if they do not begin with that mark, white space aside. Either may be a special token."""
    place = " at line start" if at_line_start else ""
    condition = "" if unless is None else f", if it does not begin with {json.dumps(unless)}"
    return f"// free text until {json.dumps(marker)}{place}{condition}\n{grammar}"


@dataclass(frozen=True, slots=True)
class Marker:
    """What ends free text: ``pattern``, of whose bytes ``start`` count as written when the answer begins."""

    pattern: bytes
    start: int
    unless: bytes = b""
    """What may stand at the beginning of an answer that is no free text then."""

    @staticmethod
    def of(grammar: str) -> Marker | None:
        """The marker that a grammar declares."""
        hint = _HINT.match(grammar)
        if hint is None:
            return None
        marker = str(json.loads(hint[1])).encode()
        unless = str(json.loads(hint[3])).encode() if hint[3] else b""
        return Marker(b"\n" + marker, 1, unless) if hint[2] else Marker(marker, 0, unless)

    def fallbacks(self) -> list[int]:
        """For each length of the pattern, that of the longest shorter beginning that is also its end (KMP)."""
        table = [0] * (len(self.pattern) + 1)
        length = 0
        for n in range(1, len(self.pattern)):
            while length and self.pattern[n] != self.pattern[length]:
                length = table[length]
            length += self.pattern[n] == self.pattern[length]
            table[n + 1] = length
        return table


#: (bytes of the marker that stand at the end, whether any text stands there at all)
State = tuple[int, bool]


@dataclass(slots=True)
class FreeTextMasks:
    """The masks of one grammar, shared by all its requests. A mask is ``ceil(vocabulary / 32) * 4`` bytes."""

    marker: Marker
    table: list[int] = field(default_factory=list)
    masks: dict[State, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.table = self.marker.fallbacks()


class FreeText:
    """Where one request stands in its free text."""

    __slots__ = ("_beginning", "_masks", "_open", "_state", "_utf8_missing", "_written")

    def __init__(self, masks: FreeTextMasks) -> None:
        self._masks = masks
        self._open = True
        self._state = masks.marker.start
        self._utf8_missing = 0
        self._written = False
        self._beginning: bytes | None = b"" if masks.marker.unless else None
        """The answer so far, while it may still be the beginning of what is no free text."""

    @property
    def open(self) -> bool:
        """Whether no marker has come yet: anything may be written, nothing is forced."""
        return self._open

    def leave(self) -> None:
        """No more masks from here: the answer's end is near, or something unknown was written."""
        self._open = False

    def write(self, pieces: Sequence[bytes]) -> None:
        """Follow what was written."""
        if self._beginning is not None:
            self._begin(b"".join(pieces))
        pattern, table = self._masks.marker.pattern, self._masks.table
        for piece in pieces:
            for byte in piece:
                while self._state and byte != pattern[self._state]:
                    self._state = table[self._state]
                self._state += byte == pattern[self._state]
                self._utf8_missing = _missing(self._utf8_missing, byte)
                if self._state == len(pattern):
                    self._open = False
                    return
            self._written |= bool(piece)

    def _begin(self, written: bytes) -> None:
        """Decide whether free text has begun."""
        assert self._beginning is not None
        self._beginning += written
        unless, begun = self._masks.marker.unless, self._beginning.lstrip(_SPACE)
        if begun.startswith(unless):
            self._open = False
        elif not unless.startswith(begun):
            self._beginning = None

    def copy_mask(self, address: int, size: int) -> bool:
        """Copy this state's mask to ``address``, if it is known."""
        mask = self._masks.masks.get((self._state, self._written)) if self._whole else None
        if mask is None or len(mask) != size:
            return False
        ctypes.memmove(address, mask, size)
        return True

    def keep_mask(self, address: int, size: int) -> None:
        """Keep the mask at ``address`` as this state's."""
        if self._whole:
            self._masks.masks[(self._state, self._written)] = ctypes.string_at(address, size)

    @property
    def _whole(self) -> bool:
        # In the middle of a character only its next byte is allowed.
        return self._open and not self._utf8_missing and self._beginning is None


def _missing(missing: int, byte: int) -> int:
    """How many bytes the character that is being written still needs."""
    if missing:
        return missing - 1
    return 3 if byte >= 0xF0 else 2 if byte >= 0xE0 else 1 if byte >= 0xC0 else 0
