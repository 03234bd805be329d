"""The engine's output on its way to the requests, in the server's process: text and tokens, and nothing else.

vLLM's ``OutputProcessor`` makes a ``RequestOutput`` with a ``CompletionOutput`` for every delta, of some forty fields.
Here a delta is made in its stead wherever nobody asked for log probabilities, and waits in the collector that vLLM
made for the request. Statistics, request states and aborts are vLLM's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from vllm import SamplingParams, TokensPrompt
from vllm.outputs import RequestOutput
from vllm.v1.engine import FinishReason
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.engine.detokenizer import FastIncrementalDetokenizer
from vllm.v1.engine.output_processor import OutputProcessor, OutputProcessorOutput, RequestState


class Delta:
    """What came for one request since the last time it looked. ``reason``: how it ended, in vLLM's words."""

    __slots__ = ("cached_tokens", "reason", "text", "token_ids")

    def __init__(self, text: str, token_ids: list[int], reason: str | None, cached_tokens: int) -> None:
        self.text = text
        self.token_ids = token_ids
        self.reason = reason
        self.cached_tokens = cached_tokens


class DeltaOutputProcessor(OutputProcessor):  # type: ignore[misc]
    """Makes a ``Delta`` for every request that ``is_plain``; the others are vLLM's."""

    def process_outputs(
        self,
        engine_core_outputs: list[Any],
        engine_core_timestamp: float | None = None,
        iteration_stats: Any = None,
        weight_version: str | None = None,
    ) -> OutputProcessorOutput:
        others = []
        for output in engine_core_outputs:
            state = self.request_states.get(output.request_id)
            if state is None:
                continue  # aborted
            if not is_plain(state):
                others.append(output)
                continue
            self._update_stats_from_output(state, output, engine_core_timestamp, iteration_stats)
            if state.is_prefilling:
                if output.prefill_stats is not None:
                    state.num_cached_tokens = output.prefill_stats.num_cached_tokens
                state.is_prefilling = False
            _hand_over(state, output.new_token_ids, output.finish_reason)
            if output.finish_reason is not None:
                self._finish_request(state)
                self._update_stats_from_finished(state, output.finish_reason, iteration_stats)
        if others:
            return super().process_outputs(others, engine_core_timestamp, iteration_stats, weight_version)
        return OutputProcessorOutput(request_outputs=[], reqs_to_abort=[])

    def abort_requests(self, request_ids: Any, internal: bool) -> list[str]:
        states = dict(self.request_states)
        aborted: list[str] = super().abort_requests(request_ids, internal)
        for name in aborted:
            # vLLM's own notice of the abort cannot be joined to a delta that waits already.
            waiting = states[name].queue.output if name in states else None
            if isinstance(waiting, Delta):
                waiting.reason = waiting.reason or "abort"
        return aborted


def is_plain(state: RequestState) -> bool:
    """Whether a request wants text and tokens alone, as they come."""
    return (
        type(state.detokenizer) is FastIncrementalDetokenizer
        and not state.detokenizer.stop
        and state.logprobs_processor.num_logprobs is None
        and state.queue is not None
        and state.parent_req is None
        and not state.streaming_input
    )


def _hand_over(state: RequestState, tokens: list[int], finish: FinishReason | None) -> None:
    decode = state.detokenizer.decode_next
    # The token that ended the answer is no part of its text.
    shown = tokens[:-1] if finish == FinishReason.STOP else tokens
    text = decode(shown[0]) if len(shown) == 1 else "".join([decode(token) for token in shown])
    reason = None if finish is None else str(finish)
    queue = state.queue
    waiting = queue.output
    if waiting is None:
        queue.output = Delta(text, tokens, reason, state.num_cached_tokens)
        queue.ready.set()
    elif isinstance(waiting, Delta):
        waiting.text += text
        waiting.token_ids += tokens
        waiting.reason = reason


def use_deltas(llm: AsyncLLM) -> None:
    """Put a ``DeltaOutputProcessor`` in the place of the output processor. Before the first request."""
    old = llm.output_processor
    if llm.output_handler is not None or old.request_states or type(old) is not OutputProcessor:
        raise RuntimeError("vLLM's output processor is in use already, or is another class than Strictcall knows")
    new = DeltaOutputProcessor(
        old.tokenizer,
        log_stats=old.log_stats,
        stream_interval=old.stream_interval,
        tracing_enabled=old.tracing_enabled,
        admission_stats=old.admission_stats,
    )
    llm.output_processor = new


async def deltas(
    llm: AsyncLLM, prompt: TokensPrompt, params: SamplingParams, request_id: str
) -> AsyncIterator[Delta | RequestOutput]:
    """The request's deltas: ``RequestOutput`` where log probabilities were asked for. Ends after one with a reason.

    Does not abort the request when it is closed early. Raises what ``AsyncLLM.add_request`` and its output handler do.
    """
    queue = await llm.add_request(request_id, prompt, params)
    try:
        while True:
            item = queue.get_nowait() or await queue.get()
            if isinstance(item, Delta):
                yield item
                if item.reason is not None:
                    return
            else:
                yield item
                if item.finished:
                    return
    finally:
        queue.close()
