"""What a call format is: the one declaration from which grammar, reader and the rendering of earlier calls are derived.

A call is a sequence of parts, read and written in order::

    (Literal('<tool_call>\\n{"name": "'), Name(), Literal('", "arguments": '), Arguments(), Literal("}\\n</tool_call>"))

A format that needs something new adds a kind of part; grammar, reader and rendering each have one place per kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias


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
    """The slot of the arguments, one JSON object."""


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
        for part, following in zip(self.call, (*self.call[1:], None), strict=True):
            if isinstance(part, Name) and not (isinstance(following, Literal) and following.text.strip()):
                raise ValueError(f"format {self.name}: a literal has to follow the name")
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

    def write_call(self, name: str, arguments: str, index: int = 0) -> str:
        """One call as the model writes it. ``arguments`` is JSON text and goes in unchanged."""
        return "".join(_written(part, name, arguments, index) for part in self.call)

    def write_calls(self, calls: Sequence[tuple[str, str]], first_index: int = 0) -> str:
        """All calls of an answer, (name, arguments) each, as the model writes them."""
        written = [self.write_call(*call, first_index + n) for n, call in enumerate(calls)]
        if self.section is None:
            return self.separator.join(written)
        opening = "".join(part.text for part in self.section.open)
        return f"{opening}{self.section.separator.join(written)}{self.section.close}"


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
