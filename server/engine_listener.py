"""One request's ear at the engine: vLLM's outputs and reasons on their way to whoever asked."""

from __future__ import annotations

from typing import Literal

import llguidance
from vllm.outputs import RequestOutput

from decoding.deltas import Deliver, EngineDelta
from decoding.engine.logprobs import token_logprobs
from server.engine_client import EngineDeadError, EngineRequestError


class EngineListener:
    """The engine's ``Listener`` of one request. ``finished``: the engine itself has ended it. ``tokenizer`` knows the
    tokens' bytes."""

    def __init__(self, deliver: Deliver, logprobs: int | None, tokenizer: llguidance.LLTokenizer) -> None:
        self.deliver = deliver
        self.finished = False
        self._logprobs = logprobs
        self._tokenizer = tokenizer

    def end(self, reason: str) -> Literal["stop", "length"]:
        self.finished = True
        return _finish_reason(reason)

    def read(self, output: RequestOutput) -> EngineDelta:
        self.finished = output.finished
        choice = output.outputs[0]
        logprobs = () if self._logprobs is None else token_logprobs(choice, self._logprobs, self._tokenizer)
        return EngineDelta(
            text=choice.text,
            token_ids=choice.token_ids,
            logprobs=logprobs,
            finish_reason=None if choice.finish_reason is None else _finish_reason(choice.finish_reason),
            prompt_tokens=len(output.prompt_token_ids or ()),
            cached_tokens=output.num_cached_tokens or 0,
        )


def _finish_reason(reason: str) -> Literal["stop", "length"]:
    """Raises EngineDeadError, EngineRequestError for an end that is none."""
    if reason == "stop" or reason == "length":
        return reason  # type: ignore[return-value]
    if reason == "abort":
        raise EngineDeadError("the server is shutting down")
    raise EngineRequestError("the engine could not continue this answer (its grammar failed)")
