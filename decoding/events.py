"""What a model's answer is made of, once its text has been read: the events every wire protocol is written from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

FinishReason: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter", "error"]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the visible answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A piece of the model's reasoning, shown apart from the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call was opened and its name is known. ``index`` counts the answer's calls from 0."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """A piece of the arguments' JSON text. All fragments of one call concatenate to ``CallFinished.arguments``."""

    index: int
    fragment: str


@dataclass(frozen=True, slots=True)
class CallFinished:
    """The call's arguments are complete. A call cut by the token budget never gets this event."""

    index: int
    arguments: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is over. ``tool_calls`` only when at least one call was made and every one is complete."""

    reason: FinishReason


Event: TypeAlias = Text | Reasoning | CallStarted | ArgumentsDelta | CallFinished | Finished
