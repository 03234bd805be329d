"""vLLM's guidance backend with limits that long answers need, and with failures that are told as failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import llguidance
from vllm.v1.structured_output.backend_guidance import GuidanceBackend, GuidanceGrammar, serialize_guidance_grammar
from vllm.v1.structured_output.backend_types import StructuredOutputOptions

#: Counted strings (``maxLength``) take about 15 lexer states per token; llguidance's default of 250,000 ends an answer
#: in the middle. Fuel is what one step may cost: a million is about 70 ms.
LIMITS = llguidance.LLParserLimits(max_lexer_states=2_000_000, step_lexer_fuel=1_000_000)


class GrammarError(ValueError):
    """A grammar that llguidance cannot build."""


@dataclass
class Grammar(GuidanceGrammar):  # type: ignore[misc]
    """One request's matcher. When it breaks, the request fails.

    vLLM's own goes on after an error with a mask that allows the end of the answer alone: what was cut then looks
    like an answer that the model chose to end.
    """

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        if self.ll_matcher.is_error():
            return False
        return bool(super().accept_tokens(request_id, tokens))


@dataclass
class GrammarBackend(GuidanceBackend):  # type: ignore[misc]
    """Compiles each request's grammar to a matcher of its own: what one request uses up, no other lacks."""

    def compile_grammar(
        self, request_type: StructuredOutputOptions, grammar_spec: str, stop_token_ids: set[int] | None = None
    ) -> Any:
        """Raises GrammarError, which vLLM turns into the failure of this request."""
        matcher = llguidance.LLMatcher(
            self.ll_tokenizer, serialize_guidance_grammar(request_type, grammar_spec), log_level=0, limits=LIMITS
        )
        if matcher.is_error():
            raise GrammarError(matcher.get_error())
        return Grammar(ll_matcher=matcher, ll_tokenizer=self.ll_tokenizer, vocab_size=self.vocab_size)
