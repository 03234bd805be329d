"""Model text → events, as it arrives.

Every character is looked at once (a possible marker or a failed opening again, at most its own length), and any split
of the same text into deltas gives the same events once neighbouring deltas are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal as OneOf

from decoding.call_reader import CallReader
from decoding.events import ArgumentsDelta, Event, Finished, Text
from decoding.spellings.json_text import JsonReader
from decoding.text_reader import Mode


class AnswerReader(CallReader):
    """Reads one answer in the format ``fmt``. Only calls of ``tools`` are calls; without tools everything is text.

    ``first_index`` is the index of the first call read (when an answer is continued). ``reasoning`` says whether the
    answer begins with the format's reasoning, see ``ReasoningMode``.

    What an unconstrained model writes and is no call of an offered tool comes out as text, marker and all: it is never
    lost. White space around calls and reasoning is not content.
    """

    def feed(self, text: str, token_ids: Sequence[int] = ()) -> list[Event]:
        """The events that ``text``, the next piece of the answer, makes certain. ``token_ids`` are the tokens of this
        piece; no format needs them, for special tokens stand in the text, too."""
        self._fed.append(text)
        if not self._buffer:
            # Nearly every token only goes on with what came before it.
            more = self._more_text if self._mode is Mode.TEXT else self._more_arguments
            if (events := more(text)) is not None:
                return events
        self._buffer += text
        self._read()
        keep = self._begin if self._mode is Mode.CALL and self._arguments is None else self._at
        self._buffer, self._at, self._begin = self._buffer[keep:], self._at - keep, self._begin - keep
        self._part_begin -= keep
        self._dropped += keep
        return self._taken()

    def _more_arguments(self, text: str) -> list[Event] | None:
        """The events of ``text`` where it is more of a call's arguments and nothing else; ``None`` where it is not."""
        reader = self._argument_reader
        if self._mode is not Mode.CALL or self._arguments is None or type(reader) is not JsonReader:
            return None
        if not text or not reader.goes_on(text):
            return None
        self._arguments.append(text)
        self._dropped += len(text)
        return [ArgumentsDelta(self._index, text)]

    def finish(self, reason: OneOf["stop", "length"]) -> list[Event]:
        """The last events and ``Finished``: ``tool_calls`` when calls were made and all are complete, ``length`` when
        the budget ended the answer, ``error`` when the model stopped inside arguments (which no grammar allows)."""
        while self._mode is Mode.CALL and self._arguments is None and reason == "stop":
            self._give_up()
            self._read()
        if self._failed or (self._mode is Mode.CALL and self._arguments is not None and not self._is_complete):
            return [*self._taken(), Finished("length" if reason == "length" else "error")]
        # What is left in the buffer is the beginning of a marker. Where the budget ended the answer it most likely was
        # one: it is markup then, and no content.
        rest = self._buffer[self._at :]
        cut_marker = bool(rest and reason == "length" and (self._names or self._mode is not Mode.TEXT))
        if self._mode is Mode.REASONING_START and self._reasoning == "optional":
            self._mode = Mode.TEXT
        if self._mode in (Mode.TEXT, Mode.TEXT_START) and not cut_marker:
            self._show(rest)
            if self._space and not self._fresh:
                self._events.append(Text("".join(self._space)))
        elif self._mode in (Mode.REASONING, Mode.REASONING_START) and reason == "stop":
            self._reason(rest)
        return [*self._taken(), Finished("tool_calls" if reason == "stop" and self._calls_finished else reason)]

    def _taken(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def _read(self) -> None:
        while self._at < len(self._buffer) and self._step():
            pass

    def _step(self) -> bool:
        """One decision on what is in the buffer; False when more text is needed."""
        if self._mode is Mode.TEXT:
            return self._read_text()
        if self._mode is Mode.TEXT_START:
            return self._read_text_start()
        if self._mode is Mode.BETWEEN:
            return self._read_between()
        if self._mode is Mode.CALL:
            return self._read_part()
        return self._read_reasoning()
