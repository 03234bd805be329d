"""The part of reading an answer that is about text: visible text up to a marker, and reasoning.

``CallReader`` (``decoding/call_reader.py``) goes on from here with calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from decoding.events import Event, Reasoning, Text
from decoding.formats import Format, Opening
from decoding.markers import NOT_SPACE, SPACE, partial_marker
from decoding.reasoning import ReasoningMode

MAX_HEADER = 1024
"""Characters from a call's marker to its arguments, and of white space before a mark; what is longer is no opening."""


class Mode(Enum):
    REASONING_START = auto()
    REASONING = auto()
    TEXT_START = auto()
    """Where the mark before the visible text may stand, in formats that have one."""
    TEXT = auto()
    CALL = auto()
    BETWEEN = auto()
    """Behind a call of a section: another call follows, or the section's end."""


class TextReader:
    """State and steps of everything but calls. The buffer holds fed text that may be needed still, ``_at`` is the next
    character to read in it."""

    def __init__(self, fmt: Format, *, calls: bool, reasoning: ReasoningMode) -> None:
        self._fmt = fmt
        self._openers: Mapping[str, tuple[Opening, ...]] = fmt.by_marker if calls else {}
        self._closing = tuple(filter(None, (fmt.text.close, fmt.text.end))) if fmt.text else ()
        self._firsts = {mark[0] for mark in (*self._openers, *self._closing)}
        """What a mark in visible text begins with."""
        self._reasoning = reasoning if fmt.reasoning and not fmt.channels else "none"
        self._text_mode = Mode.TEXT_START if fmt.text else Mode.TEXT
        self._mode = self._text_mode if self._reasoning == "none" else Mode.REASONING_START
        self._events: list[Event] = []
        self._fed: list[str] = []
        self._buffer = ""
        self._at = 0
        self._dropped = 0
        """How many characters were fed before the buffer's first."""
        # White space that is content only if text follows it, and the character read last.
        self._space: list[str] = []
        self._last = "\n"
        self._text_seen = False
        self._fresh = False
        """After a call or reasoning: white space is not content here."""
        self._calls_finished = 0
        self._prepare()

    def _prepare(self) -> None:
        """More state of a kind of reader."""

    def _open_call(self, openings: tuple[Opening, ...]) -> None:
        """A marker stands at ``_at``: one of these openings may follow."""
        raise NotImplementedError

    # Text

    def _read_text_start(self) -> bool:
        marks = self._fmt.text
        assert marks is not None
        end = match_start(self._buffer, self._at, marks.open)
        if end is None:
            return False
        if end != -1:
            self._at, self._fresh = end, True
        self._mode = Mode.TEXT
        return True

    def _more_text(self, text: str) -> list[Event] | None:
        """The events of ``text`` in the visible text, when no mark begins in it; ``None`` when one may."""
        if not self._firsts:
            return [Text(text)] if text else []
        for first in self._firsts:
            if first in text:
                return None
        self._dropped += len(text)
        self._show(text)
        events, self._events = self._events, []
        return events

    def _read_text(self) -> bool:
        closing = self._closing
        if not self._firsts:
            self._events.append(Text(self._buffer[self._at :]))
            self._at = len(self._buffer)
            return False
        found = [(at, m) for m in (*self._openers, *closing) if (at := self._find_marker(m)) is not None]
        if not found:
            ends = (partial_marker(self._buffer, self._at, m) for m in (*self._openers, *closing))
            possible = zip(ends, (*self._openers, *closing), strict=True)
            end = min((at for at, m in possible if self._may_open(at, m)), default=len(self._buffer))
            self._show(self._buffer[self._at : end])
            self._at = end
            return False
        at, marker = min(found)
        self._show(self._buffer[self._at : at])
        self._at = at
        if marker in closing:
            if self._space and self._text_seen:
                self._events.append(Text("".join(self._space)))
            self._at += len(marker)
            self._mode, self._fresh, self._text_seen = Mode.TEXT_START, True, False
            self._space.clear()
        else:
            self._open_call(self._openers[marker])
        return True

    def _find_marker(self, marker: str) -> int | None:
        at = self._buffer.find(marker, self._at)
        while at >= 0 and not self._may_open(at, marker):
            at = self._buffer.find(marker, at + 1)
        return at if at >= 0 else None

    def _may_open(self, at: int, marker: str) -> bool:
        """Whether a marker may stand at this place of the buffer."""
        place = self._openers[marker][0].marker_at if marker in self._openers else "anywhere"
        if place == "anywhere" or at == len(self._buffer):
            return True
        if place == "answer":
            return not (self._text_seen or self._calls_finished or self._buffer[self._at : at].strip(SPACE))
        return (self._buffer[at - 1] if at > self._at else self._last) == "\n"

    def _show(self, text: str) -> None:
        """Free text. White space at its end waits until it is known whether text or a call follows."""
        if not text:
            return
        self._last = text[-1]
        body = text.rstrip(SPACE)
        if body:
            shown = "".join(self._space) + body
            if self._fresh and not self._text_seen:
                shown = shown.lstrip(SPACE)
            self._events.append(Text(shown))
            self._space.clear()
            self._text_seen, self._fresh = True, False
        if len(body) < len(text):
            self._space.append(text[len(body) :])

    # Reasoning

    def _read_reasoning(self) -> bool:
        marks = self._fmt.reasoning
        assert marks is not None
        if self._mode is Mode.REASONING_START:
            end = match_start(self._buffer, self._at, marks.open)
            if end is None:
                return False
            if end == -1 and self._reasoning == "optional":
                self._mode = self._text_mode
                return True
            self._at = end if end != -1 else self._at
            self._mode = Mode.REASONING
            return True
        ends = (marks.close, *marks.left_at)
        found = [(at, mark) for mark in ends if (at := self._buffer.find(mark, self._at)) >= 0]
        end = min(found)[0] if found else min(partial_marker(self._buffer, self._at, mark) for mark in ends)
        self._reason(self._buffer[self._at : end])
        self._at = end
        if not found:
            return False
        if min(found)[1] == marks.close:
            self._at += len(marks.close)
        self._mode, self._last, self._fresh, self._text_seen = self._text_mode, "\n", True, False
        self._space.clear()
        return True

    def _reason(self, text: str) -> None:
        body = text.rstrip(SPACE)
        if body:
            shown = "".join(self._space) + body
            self._events.append(Reasoning(shown if self._text_seen else shown.lstrip(SPACE)))
            self._space.clear()
            self._text_seen = True
        if len(body) < len(text):
            self._space.append(text[len(body) :])


def match_start(text: str, start: int, mark: str) -> int | None:
    """The position after ``mark`` when it is the first thing in ``text[start:]`` but for white space, -1 when it is
    not, ``None`` when that is not known yet."""
    found = NOT_SPACE.search(text, start)
    if found is None:
        return None if len(text) - start <= MAX_HEADER else -1
    if text.startswith(mark, found.start()):
        return found.start() + len(mark)
    return None if mark.startswith(text[found.start() :]) else -1
