"""What a call format is: the one declaration from which grammar, reader and the rendering of earlier calls are derived.

A call is a sequence of parts, read and written in order::

    (Literal('<tool_call>\\n{"name": "'), Name(), Literal('", "arguments": '), Arguments(), Literal("}\\n</tool_call>"))

A format that needs something new adds a kind of part; grammar, reader and rendering each have one place per kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import TypeAlias

from decoding.spellings import write_arguments
from schemas.spelling import JSON, Members, Quoted, Spelling, Tags


@dataclass(frozen=True, slots=True)
class Literal:
    """Fixed text. The grammar and the rendering write it as it stands; the reader does not mind its white space."""

    text: str


@dataclass(frozen=True, slots=True)
class Gap:
    """White space that models write or leave out: rendered as ``text``, which is what the model was trained on."""

    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """The slot of the tool's name, written as it is (names are letters, digits and ``_ - . : /``)."""


@dataclass(frozen=True, slots=True)
class Index:
    """The number of the call: how many calls the conversation had before it."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The slot of the arguments, an object in this spelling."""

    spelling: Spelling = JSON


Part: TypeAlias = Literal | Gap | Name | Index | Arguments
Ids: TypeAlias = OneOf["call", "nine", "functions"]
"""How calls are named: ``call_`` and 24 letters and digits, nine letters and digits, or ``functions.NAME:INDEX``."""


@dataclass(frozen=True, slots=True)
class Section:
    """What stands around and between the calls of one answer, where a format puts them into a section or a list."""

    open: tuple[Literal | Gap, ...]
    separator: str
    close: str


@dataclass(frozen=True, slots=True)
class ReasoningMarks:
    """The texts around a model's reasoning, which comes before everything else in an answer."""

    open: str
    close: str


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


@dataclass(frozen=True, slots=True)
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
    marker_at: OneOf["anywhere", "line", "answer"] = "anywhere"
    """Where the marker counts: anywhere, at the start of a line (of the answer, after a call), or of the answer."""
    native_tools: bool = True
    """The models' chat templates show tools, calls and results themselves."""
    reasoning: ReasoningMarks | None = None
    ids: Ids = "call"
    special: tuple[tuple[str, int], ...] = ()
    """Which texts in the literals are special tokens, and their ids: known once a tokenizer is (``bind``)."""

    def __post_init__(self) -> None:
        if not self.opening.startswith(self.marker) or not self.marker.strip():
            raise ValueError(f"format {self.name}: the parts have to begin with the marker")
        if sum(isinstance(p, Name) for p in self.call) != 1 or sum(isinstance(p, Arguments) for p in self.call) != 1:
            raise ValueError(f"format {self.name}: a call has one name and one arguments slot")
        if not self.behind_name:
            raise ValueError(f"format {self.name}: a fixed text has to follow the name")
        if not isinstance(self.call[0], Literal):
            raise ValueError(f"format {self.name}: a call has to begin with a literal")
        if self.separator.strip():
            raise ValueError(f"format {self.name}: without a section calls are separated by white space only")

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of an answer's first call, with what opens the section."""
        return (*self.section.open, *self.call) if self.section else self.call

    @property
    def opening(self) -> str:
        """The text up to the first slot."""
        text = ""
        for part in self.parts:
            if not isinstance(part, Literal | Gap):
                break
            text += part.text
        return text

    @property
    def spelling(self) -> Spelling:
        """How arguments are spelled, special tokens by their ids."""
        spelling = next(part.spelling for part in self.call if isinstance(part, Arguments))
        if not self.special or not isinstance(spelling, Tags | Quoted):
            return spelling
        texts = spelled_texts(spelling)
        return replace(spelling, special=tuple(pair for pair in self.special if any(pair[0] in text for text in texts)))

    @property
    def behind_name(self) -> str:
        """The fixed text that ends the name, which may be that of the first argument."""
        place = next(place for place, part in enumerate(self.call) if isinstance(part, Name))
        for part in self.call[place + 1 :]:
            match part:
                case Literal(text) if text.strip():
                    return text.lstrip()
                case Arguments(Tags() as tags):
                    return tags.key_open
                case Literal() | Gap():
                    continue
            break
        return ""

    @property
    def behind_arguments(self) -> str:
        """The text behind the arguments: what a reader finds their end by."""
        place = next(place for place, part in enumerate(self.call) if isinstance(part, Arguments))
        return "".join(part.text for part in self.call[place + 1 :] if isinstance(part, Literal))

    def write_call(self, name: str, arguments: str, index: int = 0, members: Members | None = None) -> str:
        """One call as the model writes it. ``arguments`` is JSON text, and goes in unchanged where the format has JSON;
        ``members`` are those of the tool's schema, where it is known."""
        written = write_arguments(self.spelling, arguments, members)
        return "".join(_written(part, name, written, index) for part in self.call)

    def write_calls(
        self, calls: Sequence[tuple[str, str]], first_index: int = 0, members: Mapping[str, Members] | None = None
    ) -> str:
        """All calls of an answer, (name, arguments) each, as the model writes them. ``members``: by the tool's name."""
        written = [
            self.write_call(name, arguments, first_index + n, (members or {}).get(name))
            for n, (name, arguments) in enumerate(calls)
        ]
        if self.section is None:
            return self.separator.join(written)
        opening = "".join(part.text for part in self.section.open)
        return f"{opening}{self.section.separator.join(written)}{self.section.close}"


def spelled_texts(spelling: Spelling) -> tuple[str, ...]:
    """The fixed texts of a spelling."""
    match spelling:
        case Tags():
            return spelling.key_open, spelling.to_string, spelling.to_other, spelling.close
        case Quoted():
            return (spelling.quote,)
    return ()


def _written(part: Part, name: str, arguments: str, index: int) -> str:
    match part:
        case Literal(text) | Gap(text):
            return text
        case Name():
            return name
        case Index():
            return str(index)
        case Arguments():
            return arguments
