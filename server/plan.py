"""All that one answer needs, ready for the engine."""

from __future__ import annotations

from dataclasses import dataclass, replace

from decoding.formats import Format
from decoding.grammar import tool_grammar
from decoding.reasoning import ReasoningMode
from decoding.tools import Tool, ToolChoice
from schemas import CompiledSchema
from server.engine_client import Sampling


@dataclass(frozen=True, slots=True)
class Plan:
    """What to generate and what to hold it against.

    ``tools`` are those that may be called. ``grammar`` is llguidance text, or ``None`` for free text. ``answer`` is
    the schema of the visible text when it has to be JSON. ``declared_only``: arguments hold declared keys only.
    """

    request_id: str
    prompt: tuple[int, ...]
    sampling: Sampling
    fmt: Format
    tools: dict[str, Tool]
    tool_choice: ToolChoice
    parallel: bool
    grammar: str | None
    answer: CompiledSchema | None
    stops: tuple[str, ...]
    n: int
    reasoning: ReasoningMode = "none"
    declared_only: bool = True
    omitted: tuple[str, ...] = ()
    """Tools that are not offered, because their schema is refused (``--refused-tools omit``)."""

    @property
    def call_required(self) -> bool:
        return self.tool_choice.mode == "required"

    @property
    def many_calls(self) -> bool:
        return self.parallel and not self.tool_choice.once

    def sampling_of(self, choice: int) -> Sampling:
        """Choice ``choice``'s own sampling: each has another seed, and the first has the one that was asked for."""
        seed = self.sampling.seed
        return self.sampling if seed is None else replace(self.sampling, seed=(seed + choice) % 2**63)

    def grammar_from_call(self, name: str) -> str:
        """The grammar of the rest of an answer that goes on with a call of ``name``."""
        definition: str = tool_grammar(
            list(self.tools.values()),
            self.tool_choice,
            self.parallel,
            self.fmt,
            first=name,
            response=self.answer,
        ).cfg.definition
        return definition


def sample_again(sampling: Sampling, attempt: int, max_tokens: int) -> Sampling:
    """Sampling for the ``attempt``-th retry (from 1), different enough to give another text.

    The same seed, or no randomness at all, would give the rejected text again: the seed moves on, the temperature rises
    to where the model has a choice, and so do the penalties on repetition: most calls that fail their check repeat an
    item that has to be unique. A seeded request stays reproducible.
    """
    warmer = max(sampling.temperature, min(0.5 + 0.3 * attempt, 1.4))
    penalty = min(float(attempt), 2.0)
    seed = None if sampling.seed is None else (sampling.seed + 7919 * attempt) % 2**63
    top_k = sampling.top_k if sampling.top_k != 1 else 0
    return replace(
        sampling,
        temperature=warmer,
        top_p=max(sampling.top_p, 0.9),
        top_k=top_k,
        presence_penalty=max(sampling.presence_penalty, penalty),
        frequency_penalty=max(sampling.frequency_penalty, penalty),
        seed=seed,
        max_tokens=max_tokens,
    )
