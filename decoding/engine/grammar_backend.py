"""The grammar backend of the engine core: cached matchers, masks that cost little, failures told as failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, TypeVar

import llguidance
import torch
from vllm.logger import init_logger
from vllm.v1.structured_output.backend_guidance import GuidanceBackend, serialize_guidance_grammar
from vllm.v1.structured_output.backend_types import StructuredOutputGrammar, StructuredOutputOptions

from decoding.engine.free_text import FreeText
from decoding.engine.matcher_cache import CompiledGrammar, MatcherCache
from schemas.engine import LIMITS, SLICES

LOGGER = init_logger(f"vllm.{__name__}")
T = TypeVar("T")


class GrammarError(ValueError):
    """A grammar that llguidance cannot build."""


@dataclass(eq=False)
class Grammar(StructuredOutputGrammar):  # type: ignore[misc]
    """One request's matcher.

    Copies of one grammar share a lexer, and one that breaks breaks them all. So a matcher that fails is replaced by one
    of its own, which reads again what was written; when that one fails too, the request fails, and no other does.
    (vLLM's own goes on after an error with a mask that allows the end of the answer alone: what was cut then looks
    like an answer that the model chose to end.)
    """

    backend: GrammarBackend
    entry: CompiledGrammar
    matcher: llguidance.LLMatcher
    free_text: FreeText | None
    compile_again: Callable[[], llguidance.LLMatcher]
    failed: bool = False
    terminated: bool = False
    consumed: list[int] = field(default_factory=list)
    _alone: bool = False
    _ahead: int = 0
    _ends: int = 0

    def run_ahead(self, tokens: list[int]) -> list[int]:
        """Accept ``tokens``, then all tokens that the grammar forces next, and return those.

        The next ``accept_tokens`` is taken to be about the tokens accepted here.
        """
        before, self._ahead = self._ahead, 0
        if not self.accept_tokens("", tokens):
            return []
        forced = self._forced()
        if forced and not self.accept_tokens("", forced):
            return []
        self._ahead = before + len(tokens) + len(forced)
        return forced

    def begin(self, room: int, ends: Collection[int | None]) -> list[int]:
        """Accept and return at most ``room`` tokens that the answer must begin with, up to the first of ``ends``.

        The next ``accept_tokens`` is taken to be about these, too.
        """
        forced = self._forced()
        stop = next((n for n, token in enumerate(forced) if token in ends), len(forced))
        forced = forced[: min(room, stop)]
        if forced and not self.accept_tokens("", forced):
            return []
        self._ahead = len(forced)
        return forced

    def _forced(self) -> list[int]:
        if self.terminated or (self.free_text is not None and self.free_text.open):
            return []
        return _guarded(lambda: list(self.matcher.compute_ff_tokens()), [])

    @property
    def is_complete(self) -> bool:
        """Whether nothing but the end-of-sequence token can follow."""
        return not self.failed and _guarded(lambda: self.matcher.is_stopped() and not self.matcher.is_error(), False)

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Whether the grammar allows them. After a False the request must end."""
        if self._ahead:
            tokens, self._ahead = tokens[self._ahead :], 0
        if self.failed:
            return False
        if not tokens:
            return True
        if self.backend.ll_tokenizer.eos_token in tokens:
            self.terminated = True
        if self.is_complete:
            self._ends += len(tokens)
            return all(token in self.backend.ll_tokenizer.eos_tokens for token in tokens)

        def consume() -> bool:
            return bool(self.matcher.consume_tokens(tokens))

        if not _guarded(consume, False) and not (self._replace() and _guarded(consume, False)):
            self.failed = True
            return False
        self.consumed += tokens
        self.entry.tokens += len(tokens)
        if self.free_text is not None and self.free_text.open:
            if self.terminated:
                self.free_text.leave()
            else:
                self.free_text.write([self.backend.ll_tokenizer.decode_bytes([token]) for token in tokens])
        return True

    def fill_bitmask(self, bitmask: torch.Tensor, idx: int) -> None:
        """Write the mask of the next token, one bit per token, into row ``idx`` of an int32 matrix."""
        size = bitmask.shape[1] * 4
        address = bitmask.data_ptr() + idx * size
        if self.free_text is not None and self.free_text.copy_mask(address, size):
            return
        computed = self._compute(address, size) or (self._replace() and self._compute(address, size))
        if not computed:
            # Nothing may be sampled as if it were right: whatever comes, ``accept_tokens`` refuses it.
            self.failed = True
            LOGGER.warning("a grammar failed in the middle of an answer: %s", self._error())
        elif self.free_text is not None:
            self.free_text.keep_mask(address, size)

    def _compute(self, address: int, size: int) -> bool:
        def compute() -> bool:
            self.matcher.unsafe_compute_mask_ptr(address, size)
            return not self.matcher.is_error()

        return _guarded(compute, False)

    def _error(self) -> str:
        return _guarded(lambda: str(self.matcher.get_error()), "no reason given")

    def _replace(self) -> bool:
        """Put a new matcher with a lexer of its own in the place of one that failed."""
        self.backend.cache.evict(self.entry)
        if self._alone or self.failed:
            return False
        self._alone = True

        def replace() -> bool:
            fresh = self.compile_again()
            if fresh.is_error() or (self.consumed and not fresh.consume_tokens(self.consumed)):
                return False
            self.matcher = fresh
            return True

        return _guarded(replace, False)

    def is_terminated(self) -> bool:
        return self.terminated

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """The longest beginning of ``tokens`` that the grammar allows."""
        if self.failed or self.matcher.is_stopped():
            return []
        return tokens[: _guarded(lambda: int(self.matcher.validate_tokens(tokens)), 0)]

    def rollback(self, num_tokens: int) -> None:
        """Take back the last tokens (vLLM's speculative decoding does)."""
        self.terminated = False
        self.free_text = None
        ends = min(num_tokens, self._ends)
        self._ends -= ends
        if num_tokens > ends:
            self.matcher.rollback(num_tokens - ends)
            del self.consumed[ends - num_tokens :]

    def reset(self) -> None:
        self.rollback(len(self.consumed) + self._ends)


@dataclass
class GrammarBackend(GuidanceBackend):  # type: ignore[misc]
    """Compiles each grammar once, in vLLM's compile threads, and hands each request a copy (about 15 µs)."""

    cache: MatcherCache = field(default_factory=MatcherCache)
    compile_seconds: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @staticmethod
    def _build_ll_tokenizer(tokenizer: Any, vocab_size: int) -> Any:
        return GuidanceBackend._build_ll_tokenizer(tokenizer, vocab_size).with_slices(list(SLICES))

    def compile_grammar(
        self, request_type: StructuredOutputOptions, grammar_spec: str, stop_token_ids: set[int] | None = None
    ) -> Grammar:
        """Raises GrammarError, which vLLM turns into the failure of this request."""

        def build() -> llguidance.LLMatcher:
            started = time.perf_counter()
            text = serialize_guidance_grammar(request_type, grammar_spec)
            matcher = llguidance.LLMatcher(self.ll_tokenizer, text, log_level=0, limits=LIMITS)
            with self._lock:
                self.compile_seconds += time.perf_counter() - started
            return matcher

        def build_or_raise() -> llguidance.LLMatcher:
            try:
                matcher = build()
            except BaseException as error:
                if is_panic(error):
                    raise GrammarError(f"llguidance panicked: {error}") from error
                raise
            if matcher.is_error():
                raise GrammarError(matcher.get_error())
            return matcher

        entry = self.cache.get_or_compile(f"{request_type.name} {grammar_spec}", grammar_spec, build_or_raise)
        return Grammar(
            backend=self,
            entry=entry,
            matcher=entry.matcher.deep_copy(),
            free_text=None if entry.free_text is None else FreeText(entry.free_text),
            compile_again=build,
        )


def is_panic(error: BaseException) -> bool:
    """Whether Rust code panicked: PyO3's exception for that derives from BaseException and cannot be imported."""
    return type(error).__name__ == "PanicException"


def _guarded(call: Callable[[], T], otherwise: T) -> T:
    """What ``call`` returns, or ``otherwise`` when it raises or the grammar engine panics."""
    try:
        return call()
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        LOGGER.exception("the grammar engine failed")
        return otherwise
