"""Deltas made in the place of vLLM's ``RequestOutput``: the same text, tokens and ends."""

from __future__ import annotations

import asyncio
import functools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("vllm.v1.engine.output_processor", reason="needs vLLM")

from vllm import SamplingParams
from vllm.outputs import RequestOutput
from vllm.sampling_params import RequestOutputKind
from vllm.v1.engine import EngineCoreOutput, EngineCoreRequest, FinishReason
from vllm.v1.engine.output_processor import OutputProcessor, RequestOutputCollector

from decoding.deltas import EngineDelta
from decoding.engine.outputs import DeltaOutputProcessor, Receiver
from tests.server.stub import tokenizer

H = tokenizer().encode("H", add_special_tokens=False)[0]
TEXT = "Grüße, 日本 😀! {}\n"


def request(name: str, **fields: Any) -> EngineCoreRequest:
    params = SamplingParams(max_tokens=1000, output_kind=RequestOutputKind.DELTA, **fields)
    made = EngineCoreRequest(
        request_id=name,
        prompt_token_ids=[H, H],
        mm_features=None,
        sampling_params=params,
        pooling_params=None,
        arrival_time=0.0,
        lora_request=None,
        cache_salt=None,
        data_parallel_rank=None,
    )
    made.external_req_id = name
    return made


@dataclass
class Heard:
    """Remembers what it is told. ``enough``: after how many times it wants no more."""

    enough: int = 1_000_000
    fault: BaseException | None = None
    text: str = ""
    tokens: list[int] = field(default_factory=list)
    reason: str | None = None
    outputs: list[RequestOutput] = field(default_factory=list)
    times: int = 0

    def deliver(self, delta: EngineDelta) -> bool:
        self.times += 1
        self.text += delta.text
        self.tokens += delta.token_ids
        self.reason = delta.finish_reason
        if self.fault is not None:
            raise self.fault
        return self.times < self.enough

    def end(self, reason: str) -> Any:
        return reason

    def read(self, output: RequestOutput) -> EngineDelta:
        self.outputs.append(output)
        return EngineDelta("", [])


def added(processor: DeltaOutputProcessor, name: str, heard: Heard, **fields: Any) -> Receiver:
    receiver = Receiver(name, 2, heard)
    processor.add_request(request(name, **fields), None, queue=receiver)
    return receiver


def output(name: str, tokens: list[int], end: FinishReason | None = None) -> EngineCoreOutput:
    return EngineCoreOutput(request_id=name, new_token_ids=tokens, finish_reason=end)


def in_loop(test: Callable[..., None]) -> Callable[..., None]:
    """Receivers belong to an event loop."""

    @functools.wraps(test)
    def run(**arguments: Any) -> None:
        async def inside() -> None:
            test(**arguments)

        asyncio.run(inside())

    return run


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("end", [FinishReason.STOP, FinishReason.LENGTH, FinishReason.ERROR])
@in_loop
def test_the_same_as_vllm_s(seed: int, end: FinishReason) -> None:
    rng = random.Random(seed)
    tokens = tokenizer().encode(TEXT * 2, add_special_tokens=False)
    vllm = OutputProcessor(tokenizer(), log_stats=False)
    ours = DeltaOutputProcessor(tokenizer(), log_stats=False)
    queue = RequestOutputCollector(RequestOutputKind.DELTA, "r")
    vllm.add_request(request("r"), None, queue=queue)
    heard = Heard()
    receiver = added(ours, "r", heard)
    text, ids, reason = "", [], None
    while tokens:
        assert not receiver.ended.done()
        size = rng.choice([1, 1, 1, 2, 5, 9])
        new, tokens = tokens[:size], tokens[size:]
        for processor in (vllm, ours):
            processor.process_outputs([output("r", list(new), None if tokens else end)])
        found = queue.get_nowait().outputs[0]
        text, ids, reason = text + found.text, ids + list(found.token_ids), found.finish_reason
        assert (heard.text, heard.tokens, heard.reason) == (text, ids, reason)
    assert receiver.ended.result() is None
    assert not ours.request_states
    assert not ours.external_req_ids


@in_loop
def test_a_request_with_log_probabilities_is_vllm_s() -> None:
    ours = DeltaOutputProcessor(tokenizer(), log_stats=False)
    plain, other = Heard(), Heard()
    added(ours, "plain", plain)
    added(ours, "other", other, logprobs=0)
    ours.process_outputs([output(name, [H]) for name in ("plain", "other", "unknown")])
    assert (plain.text, plain.outputs) == ("H", [])
    assert (other.text, len(other.outputs)) == ("", 1)


@in_loop
def test_a_request_that_nobody_announced_is_vllm_s() -> None:
    ours = DeltaOutputProcessor(tokenizer(), log_stats=False)
    queue = RequestOutputCollector(RequestOutputKind.DELTA, "r")
    ours.add_request(request("r"), None, queue=queue)
    ours.process_outputs([output("r", [H])])
    assert queue.get_nowait().outputs[0].text == "H"


@in_loop
def test_an_abort_is_told() -> None:
    ours = DeltaOutputProcessor(tokenizer(), log_stats=False)
    heard = Heard()
    receiver = added(ours, "r", heard)
    ours.process_outputs([output("r", [H])])
    assert ours.abort_requests(["r"], internal=False) == ["r"]
    assert (heard.text, heard.reason, heard.times) == ("H", "abort", 2)
    assert receiver.ended.done()


@in_loop
def test_an_error_reaches_the_listener() -> None:
    ours = DeltaOutputProcessor(tokenizer(), log_stats=False)
    receiver = added(ours, "r", Heard())
    ours.propagate_error(RuntimeError("gone"))
    assert isinstance(receiver.ended.exception(), RuntimeError)


@in_loop
def test_a_listener_that_fails_or_has_enough_ends_alone() -> None:
    ours = DeltaOutputProcessor(tokenizer(), log_stats=False)
    failing, sated, other = Heard(fault=KeyError("mine")), Heard(enough=1), Heard()
    receivers = [added(ours, name, heard) for name, heard in (("f", failing), ("s", sated), ("o", other))]
    for _ in range(2):
        ours.process_outputs([output(name, [H]) for name in ("f", "s", "o")])
    assert isinstance(receivers[0].ended.exception(), KeyError)
    assert receivers[1].ended.result() is None
    assert not receivers[2].ended.done()
    assert (failing.times, sated.times, other.times) == (1, 1, 2)
