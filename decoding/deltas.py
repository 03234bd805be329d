"""What an engine gives of one choice, as it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token with its log probability (natural log) and the most likely alternatives at its place."""

    token_id: int
    token: str
    logprob: float
    top: tuple[TokenLogprob, ...] = ()
    data: bytes | None = None
    """The token's bytes, where they are not those of ``token``: a part of a character."""


class EngineDelta(msgspec.Struct, gc=False):
    """What arrived for one choice since the last delta. ``text`` holds whole characters only."""

    text: str
    token_ids: Sequence[int]
    logprobs: Sequence[TokenLogprob] = ()
    finish_reason: Literal["stop", "length"] | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0


Deliver: TypeAlias = Callable[[EngineDelta], bool]
"""Takes one delta at once, in the event loop but in nobody's task: it must not wait. Says whether more is wanted."""
