"""What is asked of the model, free of any wire protocol: each protocol's request becomes an ``Ask``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from decoding.tools import ToolChoice
from server.engine_client import SamplingOptions


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the client declared it. ``where`` is the request's field that holds its schema, for errors."""

    name: str
    description: str
    parameters: dict[str, Any] | None
    strict: bool | None
    where: str


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """The text of the answer must be JSON of ``schema``. ``where`` is the request's field, for errors."""

    schema: dict[str, Any]
    where: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: a conversation, the tools on offer, the shape of the answer and how to sample it.

    ``sampling`` is as asked: the engine's limits are put on it in ``server.planning``.
    ``max_tokens`` is ``None`` for the rest of the context; ``max_tokens_field`` is its name on the wire, for errors.
    """

    messages: list[dict[str, Any]]
    tools: tuple[ToolSpec, ...]
    tool_choice: ToolChoice
    parallel: bool
    json_answer: JsonAnswer | None
    sampling: SamplingOptions
    n: int = 1
    stops: tuple[str, ...] = ()
    max_tokens: int | None = None
    max_tokens_field: str = "max_tokens"
    template_kwargs: dict[str, Any] = field(default_factory=dict)
