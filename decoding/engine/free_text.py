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

_QUOTED = r"\"(?:[^\"\\]|\\.)*\""
_HINT = re.compile(
    rf"// free text until ({_QUOTED}(?: or {_QUOTED})*)( at line start)?(?:, if it does not begin with ({_QUOTED}))?\n"
)
_SPACE = b" \t\r\n"


def declare_free_text(grammar: str, markers: Sequence[str], *, at_line_start: bool, unless: str | None = None) -> str:
    """The same grammar, saying that its answers begin with free text (any text, or none) up to one of ``markers``;
    with ``unless``, if they do not begin with that mark, white space aside. Each may be a special token."""
    place = " at line start" if at_line_start else ""
    condition = "" if unless is None else f", if it does not begin with {json.dumps(unless)}"
    return f"// free text until {' or '.join(map(json.dumps, markers))}{place}{condition}\n{grammar}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A marker's bytes, and for each length of them that of the longest shorter beginning that is also its end (Knuth,
    Morris and Pratt)."""

    text: bytes
    fallbacks: tuple[int, ...]

    @staticmethod
    def of(text: bytes) -> Pattern:
        table = [0] * (len(text) + 1)
        length = 0
        for n in range(1, len(text)):
            while length and text[n] != text[length]:
                length = table[length]
            length += text[n] == text[length]
            table[n + 1] = length
        return Pattern(text, tuple(table))

    def after(self, state: int, byte: int) -> int:
        """How much of the pattern stands at the end once ``byte`` is written behind ``state`` bytes of it."""
        while state and byte != self.text[state]:
            state = self.fallbacks[state]
        return state + (byte == self.text[state])


@dataclass(frozen=True, slots=True)
class Markers:
    """What ends free text: ``patterns``, of whose bytes ``start`` count as written when the answer begins."""

    patterns: tuple[Pattern, ...]
    start: int
    unless: bytes = b""
    """What may stand at the beginning of an answer that is no free text then."""

    @staticmethod
    def of(grammar: str) -> Markers | None:
        """The markers that a grammar declares."""
        hint = _HINT.match(grammar)
        if hint is None:
            return None
        before = b"\n" if hint[2] else b""
        patterns = [Pattern.of(before + str(json.loads(text)).encode()) for text in re.findall(_QUOTED, hint[1])]
        return Markers(tuple(patterns), len(before), str(json.loads(hint[3])).encode() if hint[3] else b"")


#: (bytes of each marker that stand at the end, whether any text stands there at all)
State = tuple[tuple[int, ...], bool]


@dataclass(slots=True)
class FreeTextMasks:
    """The masks of one grammar, shared by all its requests. A mask is ``ceil(vocabulary / 32) * 4`` bytes."""

    markers: Markers
    masks: dict[State, bytes] = field(default_factory=dict)


class FreeText:
    """Where one request stands in its free text."""

    __slots__ = ("_beginning", "_masks", "_open", "_state", "_utf8_missing", "_written")

    def __init__(self, masks: FreeTextMasks) -> None:
        self._masks = masks
        self._open = True
        self._state = (masks.markers.start,) * len(masks.markers.patterns)
        self._utf8_missing = 0
        self._written = False
        self._beginning: bytes | None = b"" if masks.markers.unless else None
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
        patterns = self._masks.markers.patterns
        for piece in pieces:
            plain = piece.isascii() and not any(self._state) and not self._utf8_missing
            if plain and not any(pattern.text[:1] in piece for pattern in patterns):
                self._written |= bool(piece)
                continue
            for byte in piece:
                self._state = tuple(
                    [pattern.after(state, byte) for pattern, state in zip(patterns, self._state, strict=True)]
                )
                self._utf8_missing = _missing(self._utf8_missing, byte)
                if any(state == len(pattern.text) for pattern, state in zip(patterns, self._state, strict=True)):
                    self._open = False
                    return
            self._written |= bool(piece)

    def _begin(self, written: bytes) -> None:
        """Decide whether free text has begun."""
        assert self._beginning is not None
        self._beginning += written
        unless, begun = self._masks.markers.unless, self._beginning.lstrip(_SPACE)
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
