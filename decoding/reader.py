"""Model text → events, as it arrives.

Every character is looked at once (a possible marker or a failed opening again, at most its own length), and any split
of the same text into deltas gives the same events once neighbouring deltas are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any
from typing import Literal as OneOf

from decoding.events import ArgumentsDelta, CallFinished, CallStarted, Event, Finished, Reasoning, Text
from decoding.formats import Arguments, Format, Gap, Index, Literal, Name, Part, get
from decoding.ids import new_call_id, new_short_id
from decoding.markers import NOT_DIGIT, NOT_SPACE, SPACE, name_end, partial_marker
from decoding.spelled_tools import members_of
from decoding.spellings import ArgumentReader, argument_reader
from decoding.tools import Tool
from schemas.spelling import Members

_MAX_HEADER = 1024
"""Characters from a call's marker to its arguments; a longer opening is no call."""


class _Mode(Enum):
    REASONING_START = auto()
    REASONING = auto()
    TEXT = auto()
    CALL = auto()
    BETWEEN = auto()
    """Behind a call of a section: another call follows, or the section's end."""


class Reader:
    """Reads one answer in the format ``fmt``. Only calls of ``tools`` are calls; without tools everything is text.
    The format may be given by its name and tools as Chat Completions writes them.

    ``first_index`` is the index of the first call read (when an answer is continued). ``reasoning``: the answer begins
    with the format's reasoning, or inside it where the prompt has opened it.

    What an unconstrained model writes and is no call of an offered tool comes out as text, marker and all: it is never
    lost. White space around calls and reasoning is not content.
    """

    def __init__(
        self,
        fmt: Format | str,
        tools: Sequence[Tool | Mapping[str, Any]],
        *,
        first_index: int = 0,
        new_id: Callable[[], str] | None = None,
        reasoning: bool = False,
    ) -> None:
        fmt = get(fmt) if isinstance(fmt, str) else fmt
        self._fmt = fmt
        self._names = frozenset(tool.name if isinstance(tool, Tool) else tool["function"]["name"] for tool in tools)
        self._members = members_of(tools, fmt.spelling)
        self._name_end = name_end(fmt.behind_name)
        self._new_id = new_id or (new_short_id if fmt.ids == "nine" else new_call_id)
        self._index = first_index
        self._calls_finished = 0
        self._events: list[Event] = []
        self._mode = _Mode.REASONING_START if reasoning and fmt.reasoning else _Mode.TEXT
        # Fed text that may be needed still, the next character to read in it, and how many were fed before it.
        self._buffer = ""
        self._at = 0
        self._dropped = 0
        # Free text: white space that is content only if text follows it, and the character read last.
        self._space: list[str] = []
        self._last = "\n"
        self._text_seen = False
        self._fresh = False
        """After a call or reasoning: white space is not content here."""
        # The call being read: where its marker stands in the buffer, the part of the format and the place in it.
        self._begin = 0
        self._parts = fmt.parts
        self._part = 0
        self._in_literal = 0
        self._name = ""
        # The call's text from its marker on, and the JSON of its arguments, which a reader of their own makes of it.
        self._raw: list[str] = []
        self._arguments: list[str] | None = None
        self._argument_reader: ArgumentReader | None = None
        self._failed = False
        """A call's arguments came to what is none: only an unconstrained model writes that."""
        self.call_offset = 0
        """How many characters were fed before the opening marker of the call that was started last."""

    @property
    def incomplete(self) -> str | None:
        """The text of a call that was begun and is not complete, from its marker on; ``None`` when there is none."""
        if self._mode is not _Mode.CALL or self._is_complete:
            return None
        return self._buffer[self._begin :] if self._arguments is None else "".join([*self._raw, self._buffer])

    @property
    def _is_complete(self) -> bool:
        return self._argument_reader is not None and self._argument_reader.complete

    def feed(self, text: str, token_ids: Sequence[int] = ()) -> list[Event]:
        """The events that ``text``, the next piece of the answer, makes certain. ``token_ids`` are the tokens of this
        piece, for formats whose markers are special tokens."""
        self._buffer += text
        self._read()
        keep = self._begin if self._mode is _Mode.CALL and self._arguments is None else self._at
        self._buffer, self._at, self._begin = self._buffer[keep:], self._at - keep, self._begin - keep
        self._dropped += keep
        return self._taken()

    def finish(self, reason: OneOf["stop", "length"]) -> list[Event]:
        """The last events and ``Finished``: ``tool_calls`` when calls were made and all are complete, ``length`` when
        the budget ended the answer, ``error`` when the model stopped inside arguments (which no grammar allows)."""
        while self._mode is _Mode.CALL and self._arguments is None and reason == "stop":
            self._give_up()
            self._read()
        if self._failed or (self._mode is _Mode.CALL and self._arguments is not None and not self._is_complete):
            return [*self._taken(), Finished("length" if reason == "length" else "error")]
        # What is left in the buffer is the beginning of a marker. Where the budget ended the answer it most likely was
        # one: it is markup then, and no content.
        rest = self._buffer[self._at :]
        cut_marker = bool(rest and self._names and reason == "length")
        if self._mode is _Mode.TEXT and not cut_marker:
            self._show(rest)
            if self._space and not self._fresh:
                self._events.append(Text("".join(self._space)))
        elif self._mode in (_Mode.REASONING, _Mode.REASONING_START) and reason == "stop":
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
        if self._mode is _Mode.TEXT:
            return self._read_text()
        if self._mode is _Mode.BETWEEN:
            return self._read_between()
        if self._mode is not _Mode.CALL:
            return self._read_reasoning()
        match self._parts[self._part]:
            case Literal(text):
                return self._read_literal(text)
            case Gap():
                return self._next_part()
            case Name():
                return self._read_name()
            case Index():
                return self._read_index()
            case Arguments():
                return self._read_arguments()

    # Text

    def _read_text(self) -> bool:
        if not self._names:
            self._events.append(Text(self._buffer[self._at :]))
            self._at = len(self._buffer)
            return False
        found = self._find_marker()
        if found is None:
            end = partial_marker(self._buffer, self._at, self._fmt.marker)
            if end < len(self._buffer) and not self._may_open(end):
                end = len(self._buffer)
            self._show(self._buffer[self._at : end])
            self._at = end
            return False
        self._show(self._buffer[self._at : found])
        self._at = found
        self._open_call(self._fmt.parts)
        return True

    def _find_marker(self) -> int | None:
        at = self._buffer.find(self._fmt.marker, self._at)
        while at >= 0 and not self._may_open(at):
            at = self._buffer.find(self._fmt.marker, at + 1)
        return at if at >= 0 else None

    def _may_open(self, at: int) -> bool:
        """Whether a marker may stand at this place of the buffer."""
        if self._fmt.marker_at == "anywhere":
            return True
        if self._fmt.marker_at == "answer":
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
        if self._mode is _Mode.REASONING_START:
            found = NOT_SPACE.search(self._buffer, self._at)
            if found is None:
                self._at = len(self._buffer)
                return False
            self._at = found.start()
            rest = self._buffer[self._at : self._at + len(marks.open)]
            if rest != marks.open and marks.open.startswith(rest):
                return False
            self._at += len(marks.open) if rest == marks.open else 0
            self._mode = _Mode.REASONING
            return True
        close = self._buffer.find(marks.close, self._at)
        end = close if close >= 0 else partial_marker(self._buffer, self._at, marks.close)
        self._reason(self._buffer[self._at : end])
        self._at = end
        if close < 0:
            return False
        self._at += len(marks.close)
        self._mode, self._last, self._fresh, self._text_seen = _Mode.TEXT, "\n", True, False
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

    # Calls

    def _open_call(self, parts: tuple[Part, ...]) -> None:
        self._mode, self._parts, self._begin = _Mode.CALL, parts, self._at
        self._part, self._in_literal, self._arguments = 0, 0, None
        self._argument_reader = None

    def _read_between(self) -> bool:
        section = self._fmt.section
        assert section is not None
        if not self._skip_space():
            return False
        first = self._fmt.call[0]
        assert isinstance(first, Literal)
        separator = section.separator.strip()
        again = separator or first.text.split()[0]
        if section.close and self._buffer.startswith(section.close, self._at):
            self._at += len(section.close)
            self._end_call()
        elif self._buffer.startswith(again, self._at):
            self._at += len(separator)
            self._open_call(self._fmt.call)
        elif again.startswith(rest := self._buffer[self._at :]) or section.close.startswith(rest):
            return False
        else:
            self._end_call()
        return True

    def _read_literal(self, literal: str) -> bool:
        """White space in and around literals does not matter."""
        while True:
            while self._in_literal < len(literal) and literal[self._in_literal] in SPACE:
                self._in_literal += 1
            if self._in_literal == len(literal):
                return self._next_part()
            if not self._skip_space():
                return False
            if self._buffer[self._at] != literal[self._in_literal]:
                return self._mismatch()
            self._at += 1
            self._in_literal += 1

    def _read_name(self) -> bool:
        if not self._skip_space():
            return False
        end = self._name_end.search(self._buffer, self._at)
        if end is None:
            return False if len(self._buffer) - self._begin <= _MAX_HEADER else self._mismatch()
        self._name = self._buffer[self._at : end.start()]
        if self._name not in self._names:
            return self._mismatch()
        self._at = end.start()
        return self._next_part()

    def _read_index(self) -> bool:
        if not self._skip_space():
            return False
        end = NOT_DIGIT.search(self._buffer, self._at)
        if end is None:
            return False if len(self._buffer) - self._begin <= _MAX_HEADER else self._mismatch()
        if end.start() == self._at:
            return self._mismatch()
        self._at = end.start()
        return self._next_part()

    def _read_arguments(self) -> bool:
        if self._arguments is None and not self._skip_space():
            return False
        if self._argument_reader is None:
            members = self._members.get(self._name, Members())
            self._argument_reader = argument_reader(self._fmt.spelling, members, self._fmt.behind_arguments)
        end, fragment = self._argument_reader.read(self._buffer, self._at)
        if self._arguments is None and not fragment:
            waits = not self._argument_reader.failed and len(self._buffer) - self._begin <= _MAX_HEADER
            return False if waits else self._mismatch()
        if self._arguments is None:
            self._begin_call()
        assert self._arguments is not None
        self._raw.append(self._buffer[self._at : end])
        self._at = end
        if fragment:
            self._arguments.append(fragment)
            self._events.append(ArgumentsDelta(self._index, fragment))
        if self._argument_reader.failed:
            return self._mismatch()
        if not self._is_complete:
            return False
        self._events.append(CallFinished(self._index, "".join(self._arguments)))
        self._index += 1
        self._calls_finished += 1
        return self._next_part()

    def _begin_call(self) -> None:
        self.call_offset = self._dropped + self._begin
        self._raw, self._arguments = [self._buffer[self._begin : self._at]], []
        self._space.clear()
        self._events.append(CallStarted(self._index, self._new_id(), self._name))

    def _next_part(self) -> bool:
        self._part += 1
        self._in_literal = 0
        if self._part == len(self._parts):
            if self._fmt.section is None:
                self._end_call()
            else:
                self._mode = _Mode.BETWEEN
        return True

    def _end_call(self) -> None:
        self._mode, self._last, self._fresh = _Mode.TEXT, "\n", True

    def _mismatch(self) -> bool:
        """This is no call. Once its arguments have come, the call stands and what follows is text."""
        if self._arguments is None:
            self._give_up()
        else:
            self._failed = not self._is_complete
            self._end_call()
        return True

    def _give_up(self) -> None:
        """The marker's first character is text after all; read on behind it."""
        self._mode = _Mode.TEXT
        self._at = self._begin
        self._show(self._buffer[self._at : self._at + 1])
        self._at += 1

    def _skip_space(self) -> bool:
        """False when white space is all there is so far. White space that goes on and on inside a header is left
        standing, where nothing fits it."""
        found = NOT_SPACE.search(self._buffer, self._at)
        end = found.start() if found is not None else len(self._buffer)
        if self._arguments is None and end - self._begin > _MAX_HEADER:
            return True
        if self._arguments is not None or found is not None:
            self._at = end
        return found is not None
