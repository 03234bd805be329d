"""Log probabilities as Chat Completions writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from decoding.deltas import TokenLogprob

_NEVER = -9999.0  # what OpenAI writes for minus infinity, which JSON cannot


def logprobs_object(tokens: Sequence[TokenLogprob]) -> dict[str, Any]:
    """One entry per token, calls' tokens included."""
    return {
        "content": [_entry(token) | {"top_logprobs": [_entry(t) for t in token.top]} for token in tokens],
        "refusal": None,
    }


def _entry(token: TokenLogprob) -> dict[str, Any]:
    data = token.token.encode() if token.data is None else token.data
    return {"token": token.token, "logprob": max(token.logprob, _NEVER), "bytes": list(data)}
