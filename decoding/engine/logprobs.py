"""Log probabilities as vLLM gives them → one entry for each token of the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import llguidance
from vllm.outputs import CompletionOutput

from decoding.deltas import TokenLogprob

#: JSON has no infinity; OpenAI writes this for a token that cannot come.
LOWEST_LOGPROB = -9999.0


def token_logprobs(
    choice: CompletionOutput, alternatives: int, tokenizer: llguidance.LLTokenizer
) -> tuple[TokenLogprob, ...]:
    """One entry per token that is part of the text (the token that ended the answer is not), with as many
    ``alternatives``, the most likely one first. ``tokenizer`` knows each token's bytes."""
    found: Sequence[Mapping[int, Any]] = choice.logprobs or ()
    tokens = list(choice.token_ids)
    if choice.finish_reason == "stop":
        tokens = tokens[:-1]
    entries = []
    for token, ranked in zip(tokens, found, strict=False):
        best = sorted((p for p in ranked.items() if p[1].rank <= alternatives), key=lambda p: p[1].rank)
        top = tuple(_entry(t, p.logprob, tokenizer) for t, p in best)
        entries.append(_entry(token, ranked[token].logprob, tokenizer, top))
    return tuple(entries)


def _entry(
    token: int, logprob: float, tokenizer: llguidance.LLTokenizer, top: tuple[TokenLogprob, ...] = ()
) -> TokenLogprob:
    data = tokenizer.decode_bytes([token])
    return TokenLogprob(
        token_id=token,
        token=data.decode("utf-8", errors="replace"),
        logprob=max(logprob, LOWEST_LOGPROB),
        top=top,
        data=data,
    )
