"""The reader of one answer: of calls in text, or of messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from decoding.answer_reader import AnswerReader
from decoding.formats import Format, get
from decoding.message_reader import MessageReader
from decoding.reasoning import ReasoningMode, reasoning_mode
from decoding.tools import Tool


def Reader(
    fmt: Format | str,
    tools: Sequence[Tool | Mapping[str, Any]],
    *,
    first_index: int = 0,
    new_id: Callable[[], str] | None = None,
    reasoning: ReasoningMode | bool = "none",
) -> AnswerReader:
    """Makes the reader that the format needs, and is called as a class would be. The format may be given by its name,
    tools as Chat Completions writes them. See ``AnswerReader``."""
    form = get(fmt) if isinstance(fmt, str) else fmt
    kind = MessageReader if form.channels else AnswerReader
    return kind(form, tools, first_index=first_index, new_id=new_id, reasoning=reasoning_mode(reasoning))
