"""What a call format is: the one declaration from which grammar, reader and the rendering of earlier calls are derived.

A call is a sequence of parts, read and written in order::

    (Literal('<tool_call>\\n{"name": "'), Name(), Literal('", "arguments": '), Arguments(), Literal("}\\n</tool_call>"))

A format that needs something new (a call id inside the call, arguments as tags, a special token) adds a kind of part;
grammar, reader and rendering each have one place per kind of part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Literal:
    """Fixed text. The grammar and the rendering write it as it stands; the reader does not mind its white space."""

    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """The slot of the tool's name, written as it is (names are letters, digits and ``_ - . : /``)."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The slot of the arguments, one JSON object."""


Part: TypeAlias = Literal | Name | Arguments


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
    """The text that opens a call; a prefix of the first literal of ``call``. Free text that holds it is a call."""
    call: tuple[Part, ...]
    separator: str
    """What stands between two calls that follow each other."""
    wording: Wording
    marker_at_line_start: bool = False
    """The marker counts only at the start of the answer, of a line, or straight after a call."""
    native_tools: bool = True
    """The models' chat templates show tools, calls and results themselves."""
    reasoning: ReasoningMarks | None = None

    def __post_init__(self) -> None:
        first = self.call[0]
        if not isinstance(first, Literal) or not first.text.startswith(self.marker) or not self.marker.strip():
            raise ValueError(f"format {self.name}: the first part of a call has to start with the marker")
        if sum(isinstance(p, Name) for p in self.call) != 1 or sum(isinstance(p, Arguments) for p in self.call) != 1:
            raise ValueError(f"format {self.name}: a call has one name and one arguments slot")
        for part, following in zip(self.call, (*self.call[1:], None), strict=True):
            if not isinstance(part, Literal) and not isinstance(following, Literal):
                raise ValueError(f"format {self.name}: a literal has to follow each slot")
        if self.separator.strip():
            raise ValueError(f"format {self.name}: calls are separated by white space only")

    @property
    def opening(self) -> str:
        """The first literal: everything up to the first slot."""
        first = self.call[0]
        assert isinstance(first, Literal)
        return first.text

    def write_call(self, name: str, arguments: str) -> str:
        """One call as the model writes it. ``arguments`` is JSON text and goes in unchanged."""
        slots = {Name: name, Arguments: arguments}
        return "".join(part.text if isinstance(part, Literal) else slots[type(part)] for part in self.call)

    def write_calls(self, calls: list[tuple[str, str]]) -> str:
        """Several calls, (name, arguments) each, with the format's separator."""
        return self.separator.join(self.write_call(name, arguments) for name, arguments in calls)
