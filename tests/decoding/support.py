"""What the decoding tests share: a few tools, merged events, and the byte-level verdict of a grammar on a text."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from decoding import (
    ArgumentsDelta,
    CallFinished,
    CallStarted,
    Event,
    Finished,
    Format,
    Reader,
    Reasoning,
    Text,
    Tool,
    ToolGrammar,
    tool_from_wire,
)
from decoding.formats import get, names, text_behind_arguments
from decoding.reasoning import ReasoningMode
from schemas.byte_vocabulary import EOS
from schemas.sample import matcher
from schemas.spelling import JSON, Keywords, Tags

ALL_FORMATS = [get(name) for name in names()]
JSON_FORMATS = [fmt for fmt in ALL_FORMATS if fmt.spelling == JSON]
"""The formats in which arguments stand as JSON text."""
FORMATS = [fmt for fmt in JSON_FORMATS if fmt.section is None and fmt.separator]
"""Of those the ones in which calls stand by themselves with white space between: answers are built from them."""


def wire(name: str, properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A tool in Chat Completions form with every property required."""
    parameters = {"type": "object", "properties": properties or {}, "required": list(properties or {}), **more}
    return {"type": "function", "function": {"name": name, "description": f"Tool {name}.", "parameters": parameters}}


PING = wire("ping")
FIND = wire("find", {"q": {"type": "string"}})
FIND_ALL = wire("find-all_2", {"n": {"type": "integer"}})
WIRE = [PING, FIND, FIND_ALL]
TOOLS: list[Tool] = [tool_from_wire(tool) for tool in WIRE]


def accepts(grammar: ToolGrammar | str, text: str) -> bool:
    """Whether ``text`` and then the end of sequence fit the grammar."""
    machine = matcher(grammar if isinstance(grammar, str) else grammar.cfg.definition)
    assert not machine.is_error(), machine.get_error()
    data = list(text.encode())
    return machine.validate_tokens([*data, EOS]) == len(data) + 1


def ends_after(grammar: ToolGrammar, text: str) -> bool:
    """Whether nothing but the end of sequence can follow ``text``."""
    machine = matcher(grammar.cfg.definition)
    assert machine.consume_tokens(list(text.encode())), machine.get_error()
    return machine.is_stopped() or [token for token, bit in enumerate(machine.compute_bitmask()) if bit] == [EOS // 8]


def merged(events: Iterable[Event]) -> list[Event]:
    """Neighbouring deltas of one kind become one, ids go: what must not depend on how the text was split."""
    out: list[Event] = []
    for event in events:
        last = out[-1] if out else None
        if isinstance(event, CallStarted):
            out.append(CallStarted(event.index, "id", event.name))
        elif isinstance(event, Text) and isinstance(last, Text):
            out[-1] = Text(last.text + event.text)
        elif isinstance(event, Reasoning) and isinstance(last, Reasoning):
            out[-1] = Reasoning(last.text + event.text)
        elif isinstance(event, ArgumentsDelta) and isinstance(last, ArgumentsDelta) and event.index == last.index:
            out[-1] = ArgumentsDelta(event.index, last.fragment + event.fragment)
        else:
            out.append(event)
    return out


def read(
    fmt: Format,
    pieces: str | Sequence[str],
    *,
    tools: Sequence[Tool] = TOOLS,
    reason: Literal["stop", "length"] = "stop",
    reasoning: ReasoningMode | bool = False,
) -> list[Event]:
    """All events of an answer that arrives in these pieces."""
    reader = Reader(fmt, tools, reasoning=reasoning)
    whole = [pieces] if isinstance(pieces, str) else pieces
    return [*itertools.chain.from_iterable(reader.feed(piece) for piece in whole), *reader.finish(reason)]


def arguments_end(fmt: Format, calls: Sequence[tuple[str, str]]) -> list[int]:
    """Where in these calls' text it is certain that the arguments of each are at their end."""
    behind = text_behind_arguments(fmt.call)
    before = len(behind) - len(behind.lstrip())
    # How much of what stands behind them has to be seen.
    seen = {Tags: before + len(behind.split()[0]) if behind.split() else 0, Keywords: 1}.get(type(fmt.spelling), 0)
    close = fmt.section.close if fmt.section else ""
    texts = [fmt.write_calls(calls[: count + 1]).removesuffix(close) for count in range(len(calls))]
    return [len(text) - len(behind) + seen for text in texts]


def call(index: int, name: str, arguments: str) -> list[Event]:
    """The merged events of one whole call."""
    return [
        CallStarted(index, "id", name),
        ArgumentsDelta(index, arguments),
        CallFinished(index, arguments),
    ]


__all__ = [
    "ALL_FORMATS",
    "FIND",
    "FIND_ALL",
    "FORMATS",
    "JSON_FORMATS",
    "PING",
    "TOOLS",
    "WIRE",
    "Finished",
    "accepts",
    "call",
    "ends_after",
    "merged",
    "read",
    "wire",
]
