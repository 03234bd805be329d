"""A call format: the one declaration from which grammar, reader and the rendering of earlier calls are derived."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias
from typing import Literal as OneOf

from decoding.formats.parts import (
    Arguments,
    CallId,
    Either,
    Gap,
    Literal,
    Name,
    Part,
    chars_behind_name,
    text_behind_arguments,
    text_behind_name,
    written,
)
from decoding.spellings import write_arguments
from schemas.spelling import EVERY_KIND, Members, Quoted, Spelling, Tags

Place: TypeAlias = OneOf["anywhere", "line", "answer"]
Ids: TypeAlias = OneOf["call", "nine", "functions"]
"""How calls are named: ``call_`` and 24 letters and digits, nine letters and digits, or ``functions.NAME:INDEX``."""


@dataclass(frozen=True, slots=True)
class Section:
    """What stands around and between the calls of one answer, where a format puts them into a section or a list."""

    open: tuple[Literal | Gap, ...]
    separator: str
    close: str


@dataclass(frozen=True)
class Opening:
    """Another way in which a family's models write calls: allowed and read, never rendered. Several openings may share
    a marker; what they write then differs somewhere before the arguments, in more than white space or only in it."""

    marker: str
    call: tuple[Part, ...]
    section: Section | None = None
    marker_at: Place = "anywhere"

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts of an answer's first call, with what opens the section."""
        return (*self.section.open, *self.call) if self.section else self.call

    @cached_property
    def chars_behind_name(self) -> str:
        """The characters that may stand behind the name."""
        return chars_behind_name(self.call)

    @cached_property
    def text_behind_arguments(self) -> str:
        """The fixed text behind the arguments, by which a reader may find their end."""
        return text_behind_arguments(self.call)


@dataclass(frozen=True, slots=True)
class ReasoningMarks:
    """The texts around a model's reasoning, which comes before everything else in an answer."""

    open: str
    close: str
    left_at: tuple[str, ...] = ()
    """Texts with which models leave reasoning without closing it: read so, never allowed."""


@dataclass(frozen=True, slots=True)
class TextMarks:
    """The texts around an answer's visible text, which are no content."""

    open: str
    close: str
    always: bool = False
    """They stand before calls without text, too, with nothing in between."""
    end: str = ""
    """Ends the whole answer, whatever it was made of."""


@dataclass(frozen=True, slots=True)
class Channels:
    """Answers that are a series of messages, each with a header that names its channel and, for a call, its recipient::

        START ROLE [to=RECIPIENT] CHANNEL NAME [to=RECIPIENT] [[CONSTRAIN] TYPE] BODY … END

    The prompt writes the start and the role of the first. A call's recipient is ``recipients`` and the tool's name.
    """

    start: str
    role: str
    channel: str
    constrain: str
    body: str
    end: str
    """Ends a message that another follows."""
    call_end: str
    answer_end: str
    reasoning: str
    """The channel of reasoning."""
    aside: str
    """The channel of calls, and of text before them."""
    text: str
    """The channel of the answer's text."""
    recipients: str

    @property
    def ends(self) -> tuple[str, ...]:
        return (self.end, self.call_end, self.answer_end)


@dataclass(frozen=True, slots=True)
class Wording:
    """How tools and calls are explained to a model whose chat template does not, and how results are shown there.

    The system prompt gets ``intro``, a line per tool (``tool_as_json``: its JSON declaration, else name, parameters and
    description in short) and ``outro``. ``result`` holds ``{content}`` and ``{name}`` where the tool's result and the
    tool's name go.
    """

    intro: str
    outro: str
    result: str
    required: str = ""
    """Stands after ``outro`` when the answer has to be a call."""
    examples: tuple[tuple[OneOf["user", "assistant"], str], ...] = ()
    """Chat turns put before the conversation: role and text."""
    tool_as_json: bool = True
    between: str = "\n"
    """Stands between two tools."""


@dataclass(frozen=True)
class Format:
    """One model family's way of writing calls."""

    name: str
    models: str
    """For people: which models write calls so."""
    marker: str
    """The text that opens calls: the beginning of ``parts``. Free text that holds it is a call."""
    call: tuple[Part, ...]
    wording: Wording
    separator: str = "\n"
    """White space between two calls that follow each other without a section."""
    text_separator: str = "\n"
    """White space between the text of an answer and its calls."""
    section: Section | None = None
    marker_at: Place = "anywhere"
    """Where the marker counts: anywhere, at the start of a line (of the answer, after a call), or of the answer."""
    native_tools: bool = True
    """The models' chat templates show tools, calls and results themselves."""
    others: tuple[Opening, ...] = ()
    reasoning: ReasoningMarks | None = None
    text: TextMarks | None = None
    channels: Channels | None = None
    ids: Ids = "call"
    answers_apart: Callable[[Any], dict[str, Any]] | None = None
    """Where calls are JSON text that nothing stands before: what the schema of a JSON answer becomes beside them, so
    that no answer can be read as a call."""
    special: tuple[tuple[str, int], ...] = ()
    """Which texts in the literals are special tokens, and their ids: known once a tokenizer is (``bind``)."""

    def __post_init__(self) -> None:
        if not self.opening.startswith(self.marker) or not self.marker.strip():
            raise ValueError(f"format {self.name}: the parts have to begin with the marker")
        for opening in self.openings:
            self._check(opening.call)
            listed = opening.section is not None and opening.section.separator.strip()
            if not (listed or isinstance(opening.call[0], Literal)):
                raise ValueError(f"format {self.name}: a call has to begin with a literal")
        if self.separator.strip():
            raise ValueError(f"format {self.name}: without a section calls are separated by white space only")

    def __hash__(self) -> int:
        return hash(self.name)  # a format is part of the key under which every request looks for its grammar

    def _check(self, call: tuple[Part, ...]) -> None:
        if sum(isinstance(p, Name) for p in call) != 1 or sum(isinstance(p, Arguments) for p in call) != 1:
            raise ValueError(f"format {self.name}: a call has one name and one arguments slot")
        if not text_behind_name(call):
            raise ValueError(f"format {self.name}: a fixed text has to follow the name")
        if {part.spelling for part in call if isinstance(part, Arguments)} != {self._spelling}:
            raise ValueError(f"format {self.name}: all of its calls have arguments in one spelling")

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of an answer's first call, with what opens the section."""
        return self.openings[0].parts

    @cached_property
    def openings(self) -> tuple[Opening, ...]:
        """Every way in which calls may be written; the first is the one that is rendered."""
        return (Opening(self.marker, self.call, self.section, self.marker_at), *self.others)

    @cached_property
    def by_marker(self) -> Mapping[str, tuple[Opening, ...]]:
        """The openings that each marker may begin."""
        markers = dict.fromkeys(opening.marker for opening in self.openings)
        return {marker: tuple(o for o in self.openings if o.marker == marker) for marker in markers}

    @property
    def fixed_texts(self) -> tuple[str, ...]:
        """Every text that is written as it stands, and may hold special tokens."""
        texts: list[str] = []
        for opening in self.openings:
            for part in opening.parts:
                match part:
                    case Literal(text) | CallId(text):
                        texts.append(text)
                    case Either(several):
                        texts += several
            if opening.section:
                texts += [opening.section.separator, opening.section.close]
        texts += _spelled_texts(self._spelling)
        for marks in (self.reasoning, self.text):
            texts += [marks.open, marks.close] if marks else []
        texts += [self.text.end] if self.text else []
        if self.channels:
            texts += [self.channels.start, self.channels.channel, self.channels.constrain, self.channels.body]
            texts += self.channels.ends
        return tuple(texts)

    @property
    def opening(self) -> str:
        """The text up to the first slot."""
        text = ""
        for part in self.parts:
            match part:
                case Literal(piece) | Gap(piece):
                    text += piece
                case Either(texts):
                    text += texts[0]
                case _:
                    break
        return text

    @property
    def _spelling(self) -> Spelling:
        return next(part.spelling for part in self.call if isinstance(part, Arguments))

    @cached_property
    def spelling(self) -> Spelling:
        """How arguments are spelled, special tokens by their ids."""
        spelling = self._spelling
        if not self.special or not isinstance(spelling, Tags | Quoted):
            return spelling
        texts = _spelled_texts(spelling)
        return replace(spelling, special=tuple(pair for pair in self.special if any(pair[0] in text for text in texts)))

    def holds_name(self, name: str) -> bool:
        """Whether calls can be of a tool with this name: no text around names is part of it."""
        before, behind = self._around_names
        return not name.startswith(before) and behind.isdisjoint(name)

    @cached_property
    def _around_names(self) -> tuple[tuple[str, ...], frozenset[str]]:
        """What no name may begin with, and the characters that none may have in it."""
        before: list[str] = []
        behind: list[str] = []
        for opening in self.openings:
            parts = [part for part, after in itertools.pairwise(opening.call) if isinstance(after, Name)]
            before += filter(None, parts[0].texts if parts and isinstance(parts[0], Either) else ())
            behind += opening.chars_behind_name
        return tuple(before), frozenset(behind)

    def write_call(
        self, name: str, arguments: str, index: int = 0, members: Members | None = None, *, place: int = 0
    ) -> str:
        """One call as the model writes it. ``arguments`` is JSON text, and goes in unchanged where the format has JSON;
        ``members`` are those of the tool's schema, where it is known; ``place``: how many calls of the same answer
        stand before it."""
        spelled = write_arguments(self.spelling, arguments, members)
        return "".join(written(part, name, spelled, index, place) for part in self.call)

    def write_answer(
        self,
        text: str,
        calls: Sequence[tuple[str, str]],
        first_index: int = 0,
        members: Mapping[str, Members] | None = None,
    ) -> str:
        """A whole answer as the model writes it: text, or calls, or both."""
        if text and self.channels:
            c = self.channels
            close = f"{c.end}{c.start}{c.role}" if calls else ""
            text = f"{c.channel}{c.aside if calls else c.text}{c.body}{text}{close}"
        if self.text and (text or self.text.always):
            text = f"{self.text.open}{text}{self.text.close}"
        between = self.text_separator if text and calls else ""
        written = self.write_calls(calls, first_index, members) if calls else ""
        return f"{text}{between}{written}{self.text.end if self.text else ''}"

    def write_calls(
        self, calls: Sequence[tuple[str, str]], first_index: int = 0, members: Mapping[str, Members] | None = None
    ) -> str:
        """All calls of an answer, (name, arguments) each, as the model writes them. ``members``: by the tool's name."""
        written = [
            self.write_call(name, arguments, first_index + n, (members or {}).get(name), place=n)
            for n, (name, arguments) in enumerate(calls)
        ]
        if self.section is None:
            return self.separator.join(written)
        opening = "".join(part.text for part in self.section.open)
        return f"{opening}{self.section.separator.join(written)}{self.section.close}"


def _spelled_texts(spelling: Spelling) -> tuple[str, ...]:
    """The fixed texts of a spelling."""
    match spelling:
        case Tags():
            return spelling.key_open, *(spelling.to(kind) for kind in sorted(EVERY_KIND)), spelling.close
        case Quoted():
            return (spelling.quote,)
    return ()
