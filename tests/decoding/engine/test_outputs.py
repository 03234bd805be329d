"""Deltas made in the place of vLLM's ``RequestOutput``: the same text, tokens and ends."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

pytest.importorskip("vllm.v1.engine.output_processor", reason="needs vLLM")

from vllm import SamplingParams
from vllm.outputs import RequestOutput
from vllm.sampling_params import RequestOutputKind
from vllm.v1.engine import EngineCoreOutput, EngineCoreRequest, FinishReason
from vllm.v1.engine.output_processor import OutputProcessor, RequestOutputCollector

from decoding.engine.outputs import Delta, DeltaOutputProcessor
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


def added(processor: OutputProcessor, name: str, **fields: Any) -> RequestOutputCollector:
    queue = RequestOutputCollector(RequestOutputKind.DELTA, name)
    processor.add_request(request(name, **fields), None, queue=queue)
    return queue


def taken(queue: RequestOutputCollector) -> tuple[str, list[int], str | None]:
    item = queue.get_nowait()
    if item is None:
        return "", [], None
    if isinstance(item, Delta):
        return item.text, item.token_ids, item.reason
    choice = item.outputs[0]
    return choice.text, list(choice.token_ids), choice.finish_reason


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("end", [FinishReason.STOP, FinishReason.LENGTH, FinishReason.ERROR])
def test_the_same_as_vllm_s(seed: int, end: FinishReason) -> None:
    rng = random.Random(seed)
    tokens = tokenizer().encode(TEXT * 2, add_special_tokens=False)
    vllm = OutputProcessor(tokenizer(), log_stats=False)
    ours = DeltaOutputProcessor(tokenizer(), log_stats=False)
    queues = [added(vllm, "r"), added(ours, "r")]
    whole = [["", [], None], ["", [], None]]
    while tokens:
        size = rng.choice([1, 1, 1, 2, 5, 9])
        new, tokens = tokens[:size], tokens[size:]
        look = rng.random() < 0.6  # a reader that is late finds what came in the meantime in one piece
        for processor, queue, found in zip((vllm, ours), queues, whole, strict=True):
            reason = None if tokens else end
            processor.process_outputs([EngineCoreOutput(request_id="r", new_token_ids=list(new), finish_reason=reason)])
            if look or not tokens:
                text, ids, reason_found = taken(queue)
                found[0] += text
                found[1] += ids
                found[2] = reason_found
    assert whole[0] == whole[1]
    assert not ours.request_states
    assert not ours.external_req_ids


def test_a_request_with_log_probabilities_is_vllm_s() -> None:
    ours = DeltaOutputProcessor(tokenizer(), log_stats=False)
    plain, other = added(ours, "plain"), added(ours, "other", logprobs=0)
    outputs = [EngineCoreOutput(request_id=name, new_token_ids=[H]) for name in ("plain", "other", "unknown")]
    ours.process_outputs(outputs)
    assert isinstance(plain.get_nowait(), Delta)
    assert isinstance(other.get_nowait(), RequestOutput)


@pytest.mark.parametrize("waiting", [True, False])
def test_an_abort_is_told(waiting: bool) -> None:
    ours = DeltaOutputProcessor(tokenizer(), log_stats=False)
    queue = added(ours, "r")
    if waiting:
        ours.process_outputs([EngineCoreOutput(request_id="r", new_token_ids=[H])])
    assert ours.abort_requests(["r"], internal=False) == ["r"]
    text, _, reason = taken(queue)
    assert (text, reason) == ("H" if waiting else "", "abort")
    assert queue.get_nowait() is None


def test_an_error_reaches_the_reader() -> None:
    ours = DeltaOutputProcessor(tokenizer(), log_stats=False)
    queue = added(ours, "r")
    ours.propagate_error(RuntimeError("gone"))
    with pytest.raises(RuntimeError, match="gone"):
        asyncio.run(queue.get())
