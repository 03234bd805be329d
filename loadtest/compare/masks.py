"""What a mask costs a row while the model writes free text and tools are offered (``auto``), by the engine's own
grammar backend and by llguidance alone."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from loadtest.compare.workload import Tools

if TYPE_CHECKING:
    from decoding.engine.grammar_backend import GrammarBackend

PLAIN = (
    "The harbour was quiet that morning. A few boats lay at the pier, their sails folded, and the smell of coffee "
    "came from the house on the corner, where number seven had always been. Nobody had seen the old man for days.\n\n"
)
ANGLES = "if a < b and b << 2 < c: <b>bold</b> <tool> <tool_cal> x<y <<a>> <t <to <too <tool_> a<b<c<d\n"
TOKENS = 2000


@dataclass(frozen=True, slots=True)
class MaskTimes:
    """Microseconds a row, one value per token of the text."""

    text: str
    backend: str
    times: list[float]

    def quantile(self, q: float) -> float:
        return sorted(self.times)[min(len(self.times) - 1, int(q * len(self.times)))]


def free_text_masks(model: Path, tools: Tools) -> list[MaskTimes]:
    """Both texts, with the engine's backend and without its table of known states."""
    from transformers import AutoTokenizer
    from vllm.v1.structured_output.backend_types import StructuredOutputOptions

    from decoding import tool_grammar

    tokenizer = AutoTokenizer.from_pretrained(model)
    backend = backend_of(tokenizer)
    grammar = tool_grammar(tools, "auto", True, "hermes").cfg.definition
    found = []
    for name, text in (("plain", PLAIN), ("full of <", ANGLES)):
        tokens = tokenizer.encode(text, add_special_tokens=False)
        tokens = (tokens * (TOKENS // len(tokens) + 1))[:TOKENS]
        for kind in ("strictcall", "llguidance"):
            request = backend.compile_grammar(StructuredOutputOptions.GRAMMAR, grammar)
            if kind == "llguidance":
                request.free_text = None
            bitmask: Any = backend.allocate_token_bitmask(1)
            times = _times(tokens, partial(request.fill_bitmask, bitmask, 0), request.accept_tokens)
            found.append(MaskTimes(name, kind, times))
    return found


def backend_of(tokenizer: Any) -> GrammarBackend:
    """The engine's grammar backend, without an engine."""
    from decoding.engine.grammar_backend import GrammarBackend

    # All that it reads of vLLM's configuration.
    options = SimpleNamespace(disable_any_whitespace=False, disable_additional_properties=False)
    config: Any = SimpleNamespace(structured_outputs_config=options)
    return GrammarBackend(config, tokenizer=tokenizer, vocab_size=len(tokenizer))


def _times(tokens: list[int], fill: Callable[[], None], accept: Callable[[str, list[int]], bool]) -> list[float]:
    times = []
    gc.disable()
    try:
        for token in tokens:
            started = time.perf_counter_ns()
            fill()
            times.append((time.perf_counter_ns() - started) / 1000)
            if not accept("", [token]):
                raise RuntimeError("the grammar refused free text")
    finally:
        gc.enable()
    return times
