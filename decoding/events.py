"""What a model's answer is made of, once its text has been read: the events every wire protocol is written from.

One or more are made for every token: structs of msgspec take a quarter of the time of frozen dataclasses.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

FinishReason: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter", "error"]


class Text(msgspec.Struct, frozen=True, gc=False):
    """A piece of the visible answer."""

    text: str


class Reasoning(msgspec.Struct, frozen=True, gc=False):
    """A piece of the model's reasoning, shown apart from the answer."""

    text: str


class CallStarted(msgspec.Struct, frozen=True, gc=False):
    """A call was opened and its name is known. ``index`` counts the answer's calls from 0."""

    index: int
    id: str
    name: str


class ArgumentsDelta(msgspec.Struct, frozen=True, gc=False):
    """A piece of the arguments' JSON text. All fragments of one call concatenate to ``CallFinished.arguments``."""

    index: int
    fragment: str


class CallFinished(msgspec.Struct, frozen=True, gc=False):
    """The call's arguments are complete. A call cut by the token budget never gets this event."""

    index: int
    arguments: str


class Finished(msgspec.Struct, frozen=True, gc=False):
    """The answer is over. ``tool_calls`` only when at least one call was made and every one is complete."""

    reason: FinishReason


Event: TypeAlias = Text | Reasoning | CallStarted | ArgumentsDelta | CallFinished | Finished
