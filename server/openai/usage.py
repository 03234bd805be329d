"""Token counts as Chat Completions writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from server.generation import Usage


def usage_object(usages: Sequence[Usage]) -> dict[str, Any]:
    """The usage of all choices together; their common prompt counts once."""
    prompt = max(usage.prompt for usage in usages)
    completion = sum(usage.completion for usage in usages)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": max(usage.cached for usage in usages), "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": sum(usage.reasoning for usage in usages),
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
