"""Jump-forward: tokens that the grammar forces are never sampled.

After each sampled token the grammar tells which tokens must follow. They are appended to the request's output at once
and go to the client with the sampled one; the next forward pass computes them all, as if they were the rest of a
prompt, and samples only after the last. No draft, no rejection, no speculative configuration: sampling parameters of
any kind work as ever, and the forced end of an answer costs no pass at all. The forced beginning of one costs none
either: it is computed together with the prompt.

The tokens ride in ``max_num_batched_tokens``, like those of prompts: what does not fit waits for the next step.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vllm.logger import init_logger
from vllm.sampling_params import SamplingParams
from vllm.v1.core.sched.output import CachedRequestData, SchedulerOutput
from vllm.v1.request import Request, RequestStatus

from decoding.engine.grammar_backend import Grammar
from decoding.engine.known_tokens import KnownTokensRequestData

LOGGER = init_logger(f"vllm.{__name__}")


class ForcedTokens:
    """Mix-in for vLLM's synchronous scheduler, which has to stand after it in the list of bases."""

    forced_tokens: int = 0
    """Tokens appended without sampling, since the start."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: By request: what the model runner has not been told yet.
        self._unsent: dict[str, list[int]] = {}
        #: Beginnings of answers that neither the model runner nor the client has been told.
        self._unsent_openings: dict[str, list[int]] = {}
        self._openings: dict[str, list[int]] = {}

    def _handle_blocked_waiting_request(self, request: Request) -> bool:
        waited = request.status == RequestStatus.WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR
        ready: bool = super()._handle_blocked_waiting_request(request)  # type: ignore[misc]
        if ready and waited and may_jump(request):
            self._open(request)
        return ready

    def _open(self, request: Request) -> None:
        """Give a request that has sampled nothing yet the tokens that its answer must begin with."""
        prompt: int = request.num_prompt_tokens
        block: int = self.block_size  # type: ignore[attr-defined]
        context: int = self.max_model_len  # type: ignore[attr-defined]
        # One token at least is sampled. And not beyond the prompt's last block: vLLM counts no more tokens as found in
        # the prefix cache than the prompt has.
        room = min(request.max_tokens - 1, context - prompt - 1, block - prompt % block)
        opening = forced_opening(request, room)
        if opening:
            request.append_output_token_ids(opening)
            self._openings[request.request_id] = opening
            self._unsent_openings[request.request_id] = opening
            self.forced_tokens += len(opening)

    def schedule(self, *args: Any, **kwargs: Any) -> SchedulerOutput:
        output = super().schedule(*args, **kwargs)  # type: ignore[misc]
        names = [r.req_id for r in output.scheduled_new_reqs if r.req_id in self._unsent_openings]
        if names:
            opened = {name: self._unsent_openings.pop(name) for name in names}
            output.scheduled_cached_reqs = KnownTokensRequestData.of(output.scheduled_cached_reqs, openings=opened)
        return output

    def _update_request_with_output(
        self, request: Request, new_token_ids: list[int], is_stale: bool = False
    ) -> tuple[list[int], bool]:
        base = super()._update_request_with_output  # type: ignore[misc]
        tokens, stopped = base(request, new_token_ids, is_stale)
        if not tokens or not may_jump(request):
            return tokens, stopped
        forced = [] if stopped else forced_after(request, tokens)
        tokens = [*self._openings.pop(request.request_id, ()), *tokens]
        if not forced:
            return tokens, stopped
        # Stop tokens, max_tokens and the context's end cut them like sampled ones.
        kept, stopped = base(request, forced, is_stale)
        self.forced_tokens += len(kept)
        if not stopped:
            self._unsent.setdefault(request.request_id, []).extend(kept)
        return [*tokens, *kept], stopped

    def _make_cached_request_data(
        self, running_reqs: Iterable[Request], resumed_reqs: Iterable[Request], *args: Any, **kwargs: Any
    ) -> CachedRequestData:
        data = super()._make_cached_request_data(running_reqs, resumed_reqs, *args, **kwargs)  # type: ignore[misc]
        if not self._unsent:
            return data
        known = {name: self._unsent.pop(name) for name in data.req_ids if name in self._unsent}
        return KnownTokensRequestData.of(data, known=known) if known else data

    def _free_request(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        for waiting in (self._unsent, self._unsent_openings, self._openings):
            waiting.pop(request.request_id, None)
        return super()._free_request(request, *args, **kwargs)  # type: ignore[misc]


def may_jump(request: Request) -> bool:
    """Whether forced tokens may be taken unsampled: there is a grammar, and nobody asked for their probabilities."""
    params: SamplingParams | None = request.sampling_params
    return (
        request.structured_output_request is not None
        and params is not None
        and params.num_logprobs is None
        and params.prompt_logprobs is None
    )


def forced_opening(request: Request, room: int) -> list[int]:
    """At most ``room`` tokens that the answer must begin with, before any that would end it."""
    grammar = request.structured_output_request.grammar
    if not isinstance(grammar, Grammar) or room <= 0:
        return []
    params: SamplingParams = request.sampling_params
    ends = {params.eos_token_id, *(params.stop_token_ids or ())}
    try:
        return grammar.begin(room, ends)
    except Exception:
        LOGGER.exception("no forced tokens for request %s", request.request_id)
        grammar.failed = True
        return []


def forced_after(request: Request, tokens: list[int]) -> list[int]:
    """The tokens that must follow ``tokens``, which were just sampled; with them the end-of-sequence, if only that is
    left. Any failure ends this request alone: its grammar refuses the tokens afterwards."""
    grammar = request.structured_output_request.grammar
    if not isinstance(grammar, Grammar):
        return []
    try:
        forced = grammar.run_ahead(tokens)
        if grammar.is_complete and not grammar.terminated:
            forced = [*forced, *_end(request, len(forced), grammar.backend.ll_tokenizer.eos_token)]
        return forced
    except Exception:
        LOGGER.exception("no forced tokens for request %s", request.request_id)
        grammar.failed = True
        return []


def _end(request: Request, forced: int, eos: int) -> list[int]:
    params = request.sampling_params
    ends = eos == params.eos_token_id or eos in (params.stop_token_ids or ())
    return [eos] if ends and request.num_output_tokens + forced >= params.min_tokens else []
