"""The part of reading an answer that is about calls: from behind a marker to the end of the call or its section.

It goes on from ``TextReader`` (``decoding/text_reader.py``); ``AnswerReader`` puts both together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from decoding.events import ArgumentsDelta, CallFinished, CallStarted
from decoding.formats import (
    Arguments,
    CallId,
    Either,
    Format,
    Gap,
    Index,
    Literal,
    Name,
    Opening,
    Part,
)
from decoding.ids import new_call_id, new_short_id
from decoding.markers import NO_ID, NOT_DIGIT, NOT_SPACE, SPACE, match_loosely, name_end
from decoding.reasoning import ReasoningMode
from decoding.spelled_tools import members_of
from decoding.spellings import ArgumentReader, argument_reader
from decoding.text_reader import MAX_HEADER, Mode, TextReader
from decoding.tools import Tool
from schemas.spelling import Members


class CallReader(TextReader):
    """State and steps of calls: which opening was found, which part of it is being read, and its arguments."""

    def __init__(
        self,
        fmt: Format,
        tools: Sequence[Tool | Mapping[str, Any]],
        *,
        first_index: int,
        new_id: Callable[[], str] | None,
        reasoning: ReasoningMode,
    ) -> None:
        self._names = frozenset(tool.name if isinstance(tool, Tool) else tool["function"]["name"] for tool in tools)
        self._members = members_of(tools, fmt.spelling)
        super().__init__(fmt, calls=bool(self._names), reasoning=reasoning)
        self._new_id = new_id or (new_short_id if fmt.ids == "nine" else new_call_id)
        self._index = first_index
        # The call being read: where its marker stands in the buffer, the part of the format and the place in it.
        self._begin = 0
        self._opening = fmt.openings[0]
        self._untried: tuple[Opening, ...] = ()
        """Other openings with the same marker, for when what comes does not fit this one."""
        self._parts = fmt.parts
        self._part = 0
        self._part_begin = 0
        self._in_literal = 0
        self._name = ""
        # The JSON of the call's arguments, which a reader of their own makes of its text.
        self._arguments: list[str] | None = None
        self._argument_reader: ArgumentReader | None = None
        self._failed = False
        """A call's arguments came to what is none: only an unconstrained model writes that."""
        self.call_offset = 0
        """How many characters were fed before the opening marker of the call that was started last."""

    @property
    def incomplete(self) -> str | None:
        """The text of a call that was begun and is not complete, from its marker on; ``None`` when there is none."""
        if self._mode is not Mode.CALL or self._is_complete:
            return None
        return self._buffer[self._begin :] if self._arguments is None else "".join(self._fed)[self.call_offset :]

    @property
    def text_before_call(self) -> str:
        """All that was fed before the opening marker of the call that was started last."""
        return "".join(self._fed)[: self.call_offset]

    @property
    def _is_complete(self) -> bool:
        return self._argument_reader is not None and self._argument_reader.complete

    def _open_call(self, openings: tuple[Opening, ...]) -> None:
        self._opening, self._untried = openings[0], openings[1:]
        self._begin_parts(self._opening.parts)

    def _begin_parts(self, parts: tuple[Part, ...]) -> None:
        self._mode, self._parts, self._begin = Mode.CALL, parts, self._at
        self._part, self._in_literal, self._part_begin, self._arguments = 0, 0, self._at, None
        self._argument_reader = None

    def _read_between(self) -> bool:
        section = self._opening.section
        assert section is not None
        if not self._skip_space():
            return False
        separator = section.separator.strip()
        again = separator or _first_word(self._opening.call)
        if section.close and (end := match_loosely(self._buffer, self._at, section.close)) != -1:
            if end is None:
                return False
            self._at = end
            self._end_call()
        elif self._buffer.startswith(again, self._at):
            self._at += len(separator)
            self._begin_parts(self._opening.call)
        elif again.startswith(self._buffer[self._at :]):
            return False
        else:
            self._end_call()
        return True

    def _read_part(self) -> bool:
        """One step of what stands in a call; False when more text is needed."""
        match self._parts[self._part]:
            case Literal(text):
                return self._read_literal(text)
            case Gap():
                return self._next_part()
            case Name():
                return self._read_name()
            case Index():
                return self._read_index()
            case Either(texts):
                return self._read_either(texts)
            case CallId(open):
                return self._read_call_id(open)
            case Arguments():
                return self._read_arguments()

    def _read_literal(self, literal: str) -> bool:
        """White space in and around literals does not matter."""
        exact = literal.strip(SPACE)
        if not self._in_literal and self._buffer.startswith(exact, self._at):
            self._at += len(exact)  # as a grammar has it; what follows is about text that comes in pieces
            return self._next_part()
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
        end = name_end(self._opening.chars_behind_name).search(self._buffer, self._at)
        if end is None:
            return False if len(self._buffer) - self._begin <= MAX_HEADER else self._mismatch()
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
            return False if len(self._buffer) - self._begin <= MAX_HEADER else self._mismatch()
        if end.start() == self._at:
            return self._mismatch()
        self._at = end.start()
        return self._next_part()

    def _read_either(self, texts: tuple[str, ...]) -> bool:
        ends = [match_loosely(self._buffer, self._at, text) for text in texts if text]
        if None in ends:
            return False
        end = max((end for end in ends if end is not None), default=-1)
        if end == -1 and "" not in texts:
            return self._mismatch()
        self._at = max(end, self._at)
        return self._next_part()

    def _read_call_id(self, opening: str) -> bool:
        end = match_loosely(self._buffer, self._at, opening)
        if end is None:
            return False
        if end == -1:
            return self._next_part()
        stop = NO_ID.search(self._buffer, end)
        if stop is None:
            return False if len(self._buffer) - self._begin <= MAX_HEADER else self._mismatch()
        self._at = stop.start()
        return self._next_part()

    def _read_arguments(self) -> bool:
        if self._arguments is None and not self._skip_space():
            return False
        if self._argument_reader is None:
            members = self._members.get(self._name, Members())
            self._argument_reader = argument_reader(self._fmt.spelling, members, self._opening.text_behind_arguments)
        end, fragment = self._argument_reader.read(self._buffer, self._at)
        if self._arguments is None and not fragment:
            self._at = end
            return self._mismatch() if self._argument_reader.failed else False
        if self._arguments is None:
            self._begin_call()
        assert self._arguments is not None
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
        self._arguments = []
        self._space.clear()
        self._events.append(CallStarted(self._index, self._new_id(), self._name))

    def _next_part(self) -> bool:
        self._part += 1
        self._in_literal, self._part_begin = 0, self._at
        if self._part == len(self._parts):
            if self._opening.section is None:
                self._end_call()
            else:
                self._mode = Mode.BETWEEN
        return True

    def _end_call(self) -> None:
        self._mode, self._last, self._fresh = self._text_mode, "\n", True

    def _mismatch(self) -> bool:
        """This is no call. Once its arguments have come, the call stands and what follows is text."""
        if self._arguments is not None:
            self._failed = not self._is_complete
            self._end_call()
        elif self._untried:
            self._at = self._begin
            self._open_call(self._untried)
        elif (end := self._end_of_empty_section()) is None:
            return False
        elif end != -1:
            self._at = end
            self._end_call()
        else:
            self._give_up()
        return True

    def _end_of_empty_section(self) -> int | None:
        """Where a section ends that is closed without a call in it, which is markup and nothing else; -1 when this is
        none, ``None`` when that is not known yet."""
        section = self._opening.section
        if section is None or not section.close or self._part != len(section.open):
            return -1
        return match_loosely(self._buffer, self._part_begin, section.close)

    def _give_up(self) -> None:
        """The marker's first character is text after all; read on behind it."""
        self._mode = Mode.TEXT
        self._at = self._begin
        self._show(self._buffer[self._at : self._at + 1])
        self._at += 1

    def _skip_space(self) -> bool:
        """False when white space is all there is so far. White space that goes on and on inside a header is left
        standing, where nothing fits it."""
        found = NOT_SPACE.search(self._buffer, self._at)
        end = found.start() if found is not None else len(self._buffer)
        if self._arguments is None and end - self._begin > MAX_HEADER:
            return True
        if self._arguments is not None or found is not None:
            self._at = end
        return found is not None


def _first_word(call: tuple[Part, ...]) -> str:
    """The text that a call begins with, to the first white space."""
    first = call[0]
    assert isinstance(first, Literal)
    return first.text.split()[0]
