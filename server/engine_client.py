"""What the server asks of an engine, and what it gets back. ``server.engine`` is the one real implementation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from decoding.deltas import Deliver


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingOptions:
    """How the next token is drawn. ``logprobs`` is the number of alternatives per token (0: the sampled token alone,
    ``None``: none at all)."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling(SamplingOptions):
    """How one choice is sampled, and when it ends. ``max_tokens`` counts completion tokens."""

    max_tokens: int
    stop_token_ids: tuple[int, ...] = ()


class EngineDeadError(RuntimeError):
    """The engine process is gone; nothing more can be generated."""


class EngineRequestError(RuntimeError):
    """This one request failed in the engine; others go on."""


class EngineClient(Protocol):
    """One model behind one engine. Implementations are safe to use from many asyncio tasks of one event loop."""

    @property
    def model_names(self) -> tuple[str, ...]:
        """The names clients may ask for; the first is the one in answers."""

    @property
    def max_model_len(self) -> int:
        """Context size in tokens, prompt and completion together."""

    @property
    def tokenizer(self) -> Any:
        """The Hugging Face tokenizer, with the chat template that is in force."""

    async def generate(
        self,
        prompt_token_ids: Sequence[int],
        sampling: Sampling,
        *,
        grammar: str | None,
        request_id: str,
        deliver: Deliver,
    ) -> None:
        """Generate one choice and give each delta to ``deliver`` (which raises nothing) as it arrives; return after the
        last.

        Cancelling this, and ``deliver`` wanting no more, abort the generation in the engine within a step. Special
        tokens other than end-of-sequence are part of ``text`` when ``grammar`` is given or the format wants them.
        Raises EngineDeadError, EngineRequestError.
        """

    async def check_health(self) -> None:
        """Raises EngineDeadError when the engine is gone."""

    async def shutdown(self) -> None:
        """Stop the engine and wait until its processes are gone (10 s at most, then they are killed)."""
