"""The engine's output on its way to the requests, in the server's process: text and tokens, and nothing else.

vLLM's ``OutputProcessor`` makes a ``RequestOutput`` with a ``CompletionOutput`` for every delta, of some forty fields,
and leaves it in a collector for a task to wake up and fetch. Here text and tokens are handed to the request's listener
on the spot, wherever nobody asked for log probabilities: a delta costs a few calls and no switch of tasks. Statistics,
request states and aborts are vLLM's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal, Protocol

import zmq.asyncio
from vllm import SamplingParams
from vllm.outputs import RequestOutput
from vllm.sampling_params import RequestOutputKind
from vllm.v1.engine import EngineCoreRequest, FinishReason
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.engine.detokenizer import FastIncrementalDetokenizer
from vllm.v1.engine.output_processor import (
    OutputProcessor,
    OutputProcessorOutput,
    RequestOutputCollector,
    RequestState,
)
from vllm.v1.metrics.stats import IterationStats, RequestStateStats

from decoding.deltas import Deliver, EngineDelta
from decoding.engine.output_queue import OutputQueue
from decoding.engine.output_socket import OutputSocket
from decoding.engine.pieces import Pieces, TokenReader
from decoding.engine.submitting import submit


class Listener(Protocol):
    """What hears of a request's progress. Called by the event loop, in between everything else: it must not wait.

    What it raises ends the request, and ``Receiver.ended`` raises it.
    """

    @property
    def deliver(self) -> Deliver:
        """Takes each delta. Always the same function."""

    def end(self, reason: str) -> Literal["stop", "length"]:
        """What the last delta will say of how the request ended. ``reason``: the same in vLLM's words."""

    def read(self, output: RequestOutput) -> EngineDelta:
        """The delta of a request that asked for log probabilities."""


class Receiver(RequestOutputCollector):  # type: ignore[misc]
    """Stands where vLLM has a request's collector, and holds nothing back. ``ended`` is done when no more will come:
    with the exception of a request that failed."""

    def __init__(self, request_id: str, prompt_tokens: int, listener: Listener) -> None:
        super().__init__(RequestOutputKind.DELTA, request_id)
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.decode: Callable[[int], str] | None = None
        """The detokenizer's step, for a request that wants text and tokens alone."""
        self._prompt_tokens = prompt_tokens
        self._listener = listener
        self._deliver = listener.deliver

    def put(self, output: Any) -> None:
        """vLLM's way: errors, and the outputs that it made itself."""
        if self.ended.done():
            return
        if isinstance(output, BaseException):
            self.ended.set_exception(output)
            return
        try:
            if self.decode is None:
                delta = self._listener.read(output)
            else:
                # Of a plain request vLLM makes one thing only: the notice that it was aborted.
                choice = output.outputs[0]
                end = self._listener.end(choice.finish_reason)
                delta = EngineDelta(choice.text, [], (), end, self._prompt_tokens, output.num_cached_tokens or 0)
            more = self._deliver(delta)
        except BaseException as fault:
            self.ended.set_exception(fault)
            return
        if output.finished or not more:
            self._end()

    def take(self, tokens: list[int], finish: FinishReason | None, cached_tokens: int) -> None:
        """New tokens of a plain request."""
        if self.ended.done():
            return
        decode = self.decode
        assert decode is not None
        try:
            if finish is None:
                text = decode(tokens[0]) if len(tokens) == 1 else "".join([decode(token) for token in tokens])
                if self._deliver(EngineDelta(text, tokens, (), None, self._prompt_tokens, cached_tokens)):
                    return
            else:
                # The token that ended the answer is no part of its text.
                shown = tokens[:-1] if finish == FinishReason.STOP else tokens
                text = "".join([decode(token) for token in shown])
                end = self._listener.end(str(finish))
                self._deliver(EngineDelta(text, tokens, (), end, self._prompt_tokens, cached_tokens))
        except BaseException as fault:
            # One request's fault, which the others that are served in this step must not feel.
            self.ended.set_exception(fault)
            return
        self._end()

    def _end(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)


class DeltaOutputProcessor(OutputProcessor):  # type: ignore[misc]
    """Hands the tokens of requests that have a ``Receiver`` to their listeners; the rest is vLLM's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pieces: Pieces | None = None

    def add_request(
        self,
        request: EngineCoreRequest,
        prompt: str | None,
        parent_req: Any = None,
        request_index: int = 0,
        queue: RequestOutputCollector | None = None,
    ) -> None:
        super().add_request(request, prompt, parent_req, request_index, queue)
        if type(queue) is Receiver and is_plain(state := self.request_states[request.request_id]):
            detokenizer = state.detokenizer
            if self._pieces is None:
                self._pieces = Pieces(detokenizer.tokenizer)
            queue.decode = TokenReader(self._pieces, detokenizer, request.prompt_token_ids or ()).read

    def process_outputs(
        self,
        engine_core_outputs: list[Any],
        engine_core_timestamp: float | None = None,
        iteration_stats: Any = None,
        weight_version: str | None = None,
    ) -> OutputProcessorOutput:
        others = []
        states = self.request_states
        for output in engine_core_outputs:
            state = states.get(output.request_id)
            if state is None:
                continue  # aborted
            receiver = state.queue
            if type(receiver) is not Receiver or receiver.decode is None:
                others.append(output)
                continue
            if state.is_prefilling or output.events is not None or output.num_nans_in_logits:
                self._update_stats_from_output(state, output, engine_core_timestamp, iteration_stats)
            elif iteration_stats is not None:
                count_tokens(state.stats, len(output.new_token_ids), engine_core_timestamp, iteration_stats)
            if state.is_prefilling:
                if output.prefill_stats is not None:
                    state.num_cached_tokens = output.prefill_stats.num_cached_tokens
                state.is_prefilling = False
            finish = output.finish_reason
            receiver.take(output.new_token_ids, finish, state.num_cached_tokens)
            if finish is not None:
                self._finish_request(state)
                self._update_stats_from_finished(state, finish, iteration_stats)
        if others:
            return super().process_outputs(others, engine_core_timestamp, iteration_stats, weight_version)
        return OutputProcessorOutput(request_outputs=[], reqs_to_abort=[])


def count_tokens(stats: RequestStateStats, tokens: int, now: float | None, step: IterationStats) -> None:
    """What ``IterationStats.update_from_output`` comes to for a request that goes on and has no events."""
    assert now is not None
    step.num_generation_tokens += tokens
    step.inter_token_latencies_iter.append(now - stats.last_token_ts)
    stats.num_generation_tokens += tokens
    stats.last_token_ts = now


def is_plain(state: RequestState) -> bool:
    """Whether a request wants text and tokens alone, as they come."""
    return (
        type(state.detokenizer) is FastIncrementalDetokenizer
        and not state.detokenizer.stop
        and state.logprobs_processor.num_logprobs is None
        and state.parent_req is None
        and not state.streaming_input
    )


def use_deltas(llm: AsyncLLM) -> None:
    """Put a ``DeltaOutputProcessor`` in the place of the output processor, and an ``OutputSocket`` and an
    ``OutputQueue`` in the places of those that it is fed from. Before the first request."""
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
    resources = llm.engine_core.resources
    if resources.output_queue_task is not None or type(resources.output_socket) is not zmq.asyncio.Socket:
        raise RuntimeError("vLLM reads the engine's outputs already, or in another way than Strictcall knows")
    resources.output_socket = OutputSocket(resources.output_socket)
    if llm.renderer.mm_processor_cache is None:  # with one, vLLM does more with each step
        llm.engine_core.outputs_queue = OutputQueue(llm)


async def listen(llm: AsyncLLM, prompt: list[int], params: SamplingParams, request_id: str, listener: Listener) -> None:
    """Run the request with these prompt tokens and tell ``listener``; returns when it has ended or the listener wants
    no more.

    Does not abort the request when it is left early. Raises what ``submit``, vLLM's output handler and the listener do.
    """
    receiver = Receiver(request_id, len(prompt), listener)
    try:
        await submit(llm, prompt, params, request_id, receiver)
        await receiver.ended
    finally:
        receiver.ended.cancel()
