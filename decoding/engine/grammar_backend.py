"""vLLM's guidance backend with limits that long answers need, and with failures that are told as failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import llguidance
import torch
from vllm.logger import init_logger
from vllm.v1.structured_output.backend_guidance import GuidanceBackend, GuidanceGrammar, serialize_guidance_grammar
from vllm.v1.structured_output.backend_types import StructuredOutputOptions

#: Counted strings (``maxLength``) take about 15 lexer states per token; llguidance's default of 250,000 ends an answer
#: in the middle. Fuel is what one step may cost: a million is about 70 ms.
LIMITS = llguidance.LLParserLimits(max_lexer_states=2_000_000, step_lexer_fuel=1_000_000)


#: Sets of strings for which llguidance keeps which tokens fit whole. Against its default, masks inside strings with a
#: pattern take a fifth to a half of the time; those of strings that only have a maxLength a third more.
SLICES = [
    r"[a-z]{1,8}",
    r"[a-zA-Z0-9]{1,10}",
    r"[ a-zA-Z0-9]{1,12}",
    r"[ !#-\[\]-~]{1,30}",
    r"[ !#-\[\]-~]+",
    llguidance.LLTokenizer.general_slices()[3],
]

logger = init_logger(f"vllm.{__name__}")


class GrammarError(ValueError):
    """A grammar that llguidance cannot build."""


def is_panic(error: BaseException) -> bool:
    """Whether Rust code panicked: PyO3's exception for that derives from BaseException and cannot be imported."""
    return type(error).__name__ == "PanicException"


@dataclass
class Grammar(GuidanceGrammar):  # type: ignore[misc]
    """One request's matcher. When it breaks, the request fails, and nothing else does.

    vLLM's own goes on after an error with a mask that allows the end of the answer alone: what was cut then looks
    like an answer that the model chose to end. And a Rust panic, which is no ``Exception``, would end the engine.
    """

    broken: bool = False

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        if self.broken or self.ll_matcher.is_error():
            return False
        try:
            return bool(super().accept_tokens(request_id, tokens))
        except BaseException as error:
            self._break(error)
            return False

    def fill_bitmask(self, bitmask: torch.Tensor, idx: int) -> None:
        try:
            super().fill_bitmask(bitmask, idx)
        except BaseException as error:
            self._break(error)
            # Whatever token comes now is refused by accept_tokens.
            bitmask[idx].fill_(-1)

    def _break(self, error: BaseException) -> None:
        if not is_panic(error):
            raise error
        logger.error("llguidance panicked: %s", error)
        self.broken = True


@dataclass
class GrammarBackend(GuidanceBackend):  # type: ignore[misc]
    """Compiles each request's grammar to a matcher of its own: what one request uses up, no other lacks."""

    @staticmethod
    def _build_ll_tokenizer(tokenizer: Any, vocab_size: int) -> Any:
        return GuidanceBackend._build_ll_tokenizer(tokenizer, vocab_size).with_slices(SLICES)

    def compile_grammar(
        self, request_type: StructuredOutputOptions, grammar_spec: str, stop_token_ids: set[int] | None = None
    ) -> Any:
        """Raises GrammarError, which vLLM turns into the failure of this request."""
        try:
            matcher = llguidance.LLMatcher(
                self.ll_tokenizer, serialize_guidance_grammar(request_type, grammar_spec), log_level=0, limits=LIMITS
            )
        except BaseException as error:
            if is_panic(error):
                raise GrammarError(f"llguidance panicked: {error}") from error
            raise
        if matcher.is_error():
            raise GrammarError(matcher.get_error())
        return Grammar(ll_matcher=matcher, ll_tokenizer=self.ll_tokenizer, vocab_size=self.vocab_size)
