"""Reads answers that are a series of messages with channels (Harmony)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from typing import Literal as OneOf

from decoding.answer_reader import AnswerReader
from decoding.events import Event, Finished, Text
from decoding.formats import Channels
from decoding.markers import SPACE, partial_marker
from decoding.text_reader import MAX_HEADER, Mode


class _State(Enum):
    HEADER = auto()
    REASONING = auto()
    TEXT = auto()
    RAW = auto()
    """A message that is none of an answer's, or no message at all: it is shown as it stands."""
    ARGUMENTS = auto()
    AFTER = auto()
    """Behind a call's arguments."""


class MessageReader(AnswerReader):
    """``AnswerReader`` for formats with channels, which say themselves what is reasoning. The end of a message counts
    where another begins behind it or the answer ends: a model may well write about these marks."""

    def _prepare(self) -> None:
        assert self._fmt.channels is not None
        self._channels = self._fmt.channels
        self._header_form = _header_form(self._channels)
        self._state = _State.HEADER
        self._spoken: set[_State] = set()
        """What kinds of text there have been: two of one kind are shown as paragraphs."""

    @property
    def incomplete(self) -> str | None:
        if self._state is _State.HEADER:
            return self._buffer[self._at :] if "to=" in self._buffer[self._at :] else None
        return super().incomplete

    def finish(self, reason: OneOf["stop", "length"]) -> list[Event]:
        if self._state is _State.ARGUMENTS and self._arguments is None and reason == "stop":
            self._mismatch()
            self._read()
        if self._state is _State.ARGUMENTS and self._arguments is not None:
            return [*self._taken(), Finished("length" if reason == "length" else "error")]
        rest = self._buffer[self._at :]
        if reason == "stop" and self._state is _State.REASONING and rest not in self._channels.ends:
            self._reason(rest)
        elif self._state in (_State.TEXT, _State.RAW, _State.HEADER):
            if reason == "stop" and (rest not in self._channels.ends or self._state is _State.RAW):
                self._show(rest if rest.strip(SPACE) or self._state is not _State.HEADER else "")
            if self._space and not self._fresh and not (rest and reason == "length"):
                self._events.append(Text("".join(self._space)))
        return [*self._taken(), Finished("tool_calls" if reason == "stop" and self._calls_finished else reason)]

    def _more_text(self, text: str) -> list[Event] | None:
        return None  # what ``text`` is of, ``_state`` says

    def _step(self) -> bool:
        match self._state:
            case _State.HEADER:
                return self._read_header()
            case _State.ARGUMENTS:
                return self._read_arguments()
            case _State.AFTER:
                return self._read_after()
            case _:
                return self._read_body()

    def _read_header(self) -> bool:
        c = self._channels
        head = self._buffer[self._at :].lstrip(SPACE)
        if not any(head.startswith(begin) or begin.startswith(head) for begin in (c.start, c.channel, "to=")):
            return self._begin_text(_State.RAW)
        body = self._buffer.find(c.body, self._at)
        stop = _first(self._buffer, self._at, c.ends)
        if stop is not None and (body < 0 or stop[0] < body):
            self._show(self._buffer[self._at : stop[1]])  # a header without a body
            self._at = stop[1]
            return True
        if body < 0:
            return False if len(head) <= MAX_HEADER else self._begin_text(_State.RAW)
        found = self._header_form.fullmatch(self._buffer, self._at, body)
        if found is None:
            return self._begin_text(_State.RAW)
        begin = found.end("start")
        recipient = found["before"] or found["behind"] or ""
        name = recipient.removeprefix(c.recipients)
        if name != recipient and name in self._names:
            self._mode, self._state, self._begin, self._name = Mode.CALL, _State.ARGUMENTS, begin, name
            self._arguments, self._argument_reader = None, None
        elif recipient or found["channel"] not in (c.reasoning, c.aside, c.text):
            self._at = begin
            return self._begin_text(_State.RAW)
        else:
            self._begin_text(_State.REASONING if found["channel"] == c.reasoning else _State.TEXT)
        self._at = body + len(c.body)
        return True

    def _begin_text(self, state: _State) -> bool:
        again = state in self._spoken
        self._state, self._text_seen = state, again
        self._space[:] = ["\n\n"] if again else []
        self._fresh = state is not _State.RAW or bool(self._spoken) or bool(self._calls_finished)
        return True

    def _read_body(self) -> bool:
        ends = [end + self._channels.start for end in self._channels.ends]
        found = _first(self._buffer, self._at, ends)
        if found is None:
            end = min(partial_marker(self._buffer, self._at, each) for each in ends)
            self._say(self._buffer[self._at : end])
            self._at = end
            return False
        behind = found[1] - len(self._channels.start)
        self._say(self._buffer[self._at : behind if self._state is _State.RAW else found[0]])
        self._at, self._state = behind, _State.HEADER
        self._space.clear()
        return True

    def _say(self, text: str) -> None:
        if text.strip(SPACE):
            self._spoken.add(self._state)
        if self._state is _State.REASONING:
            self._reason(text)
        else:
            self._show(text)

    def _read_after(self) -> bool:
        if not self._skip_space():
            return False
        rest = self._buffer[self._at :]
        if any(end.startswith(rest) and end != rest for end in self._channels.ends):
            return False
        self._at += next((len(end) for end in self._channels.ends if rest.startswith(end)), 0)
        self._mode, self._state = Mode.TEXT, _State.HEADER
        self._fresh = True
        return True

    def _next_part(self) -> bool:
        self._state = _State.AFTER
        return True

    def _mismatch(self) -> bool:
        """No arguments stand where a call's should."""
        self._at, self._mode = self._begin, Mode.TEXT
        return self._begin_text(_State.RAW)


def _first(text: str, start: int, wanted: Sequence[str]) -> tuple[int, int] | None:
    """Where the first of the wanted texts stands."""
    found = [(at, at + len(each)) for each in wanted if (at := text.find(each, start)) >= 0]
    return min(found, default=None)


def _header_form(c: Channels) -> re.Pattern[str]:
    space = f"[{SPACE}]*"
    start = f"(?P<start>(?:{space}{re.escape(c.start)}{space}{re.escape(c.role)})?)"
    channel = f"{re.escape(c.channel)}{space}(?P<channel>[a-z]+){space}(?:to=(?P<behind>[^{SPACE}<]+))?"
    kind = f"(?:(?:{re.escape(c.constrain)})?{space}[a-z]+)?"
    return re.compile(f"{start}{space}(?:to=(?P<before>[^{SPACE}<]+))?{space}(?:{channel})?{space}{kind}{space}")
