"""What is asked of the model, free of any wire protocol: each protocol's request becomes an ``Ask``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from decoding.tools import ToolChoice


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
class SamplingAsk:
    """How to sample, as asked; see ``server.engine_client.Sampling`` for what becomes of it."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    logit_bias: dict[int, float] | None = None
    logprobs: int | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: a conversation, the tools on offer, the shape of the answer and how to sample it.

    ``max_tokens`` is ``None`` for the rest of the context; ``max_tokens_field`` is its name on the wire, for errors.
    """

    messages: list[dict[str, Any]]
    tools: tuple[ToolSpec, ...]
    tool_choice: ToolChoice
    parallel: bool
    json_answer: JsonAnswer | None
    sampling: SamplingAsk
    n: int = 1
    stops: tuple[str, ...] = ()
    max_tokens: int | None = None
    max_tokens_field: str = "max_tokens"
    template_kwargs: dict[str, Any] = field(default_factory=dict)
