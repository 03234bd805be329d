"""The real engine behind ``EngineClient``, in this process: one start for the whole file."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from decoding.deltas import Deliver, EngineDelta, TokenLogprob
from server.embedded import default_cache_dir, prepare
from server.engine_client import EngineDeadError, EngineRequestError, Sampling

if TYPE_CHECKING:
    from server.engine import VllmEngine

pytestmark = pytest.mark.engine
T = TypeVar("T")

CONTEXT = 2048
WORD = 'start: "{\\"word\\":" /"[a-z]{1,8}"/ "}"'
ENDLESS = "start: /(?s:.{1,4}){3000,}/"
#: Accepted when it is read, too much for the lexer as soon as it is built or used.
EXPLODING = r"""start: A
A: /([ab]*a[ab]{16}c)+/ & /([ab]*b[ab]{15}c)+/ & ~/.*(a.{14}b).*/"""


@dataclass
class Answer:
    text: str = ""
    tokens: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish_reason: str | None = None
    deltas: list[EngineDelta] = field(default_factory=list)


@dataclass
class Bench:
    """The engine with the event loop that it belongs to."""

    engine: VllmEngine
    runner: asyncio.Runner
    asked: int = 0

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(asyncio.wait_for(work, 240))

    async def generate(self, prompt: list[int], sampling: Sampling, grammar: str | None, deliver: Deliver) -> None:
        self.asked += 1
        name = f"test-{self.asked}"
        await self.engine.generate(prompt, sampling, grammar=grammar, request_id=name, deliver=deliver)

    async def answer(self, prompt: list[int], sampling: Sampling, grammar: str | None = None) -> Answer:
        answer = Answer()

        def add(delta: EngineDelta) -> bool:
            answer.deltas.append(delta)
            answer.text += delta.text
            answer.tokens += delta.token_ids
            answer.logprobs += delta.logprobs
            answer.finish_reason = delta.finish_reason or answer.finish_reason
            return True

        await self.generate(prompt, sampling, grammar, add)
        return answer

    def ask(self, prompt: list[int], sampling: Sampling, grammar: str | None = None) -> Answer:
        return self.run(self.answer(prompt, sampling, grammar))

    async def idle(self) -> bool:
        """Whether the engine's own counters come to zero within a second."""
        for _ in range(20):
            await asyncio.sleep(0.05)
            if self.engine.counters.running == self.engine.counters.waiting == 0:
                return True
        return False


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    pytest.importorskip("vllm", reason="needs vLLM")
    from server.belongings import set_engine_environment
    from server.settings import Settings

    set_engine_environment(Settings())
    # Threads that are bound to a core wait for each other when others use the machine too.
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from server.engine import VllmEngine

    model = str(prepare(default_cache_dir(), print))
    with asyncio.Runner() as runner:
        # A cache of 20 blocks of 128 tokens, so that a few answers fill it and preemption happens.
        extra = ("--kv-cache-memory-bytes=60000000",)
        # STRICTCALL_JUMP_FORWARD=off runs the tests without it.
        jump = Settings().jump_forward
        names = ["the-model", "alias"]
        start = VllmEngine.start(model, names, max_model_len=CONTEXT, jump_forward=jump, extra=extra)
        bench = Bench(runner.run(start), runner)
        yield bench
        bench.run(bench.engine.shutdown())


@pytest.fixture(scope="module")
def prompt(bench: Bench) -> list[int]:
    ids: list[int] = bench.engine.tokenizer.encode("<|im_start|>user\nSay hello.<|im_end|>\n<|im_start|>assistant\n")
    return ids


@pytest.fixture(scope="module")
def long_prompt(prompt: list[int]) -> list[int]:
    """Longer than one prefill step."""
    return [100 + number % 3000 for number in range(1500)] + prompt


def test_what_the_engine_says_of_itself(bench: Bench) -> None:
    assert bench.engine.model_names == ("the-model", "alias")
    assert bench.engine.max_model_len == CONTEXT
    assert bench.engine.vocab_size == len(bench.engine.tokenizer)


def test_deltas_add_up_to_the_text_without_the_end_of_sequence_token(bench: Bench, prompt: list[int]) -> None:
    answer = bench.ask(prompt, Sampling(max_tokens=30, temperature=0), WORD)
    assert answer.finish_reason == "stop"
    assert answer.text.startswith('{"word":"')
    assert answer.text.endswith('"}')
    assert answer.tokens[-1] == bench.engine.tokenizer.eos_token_id
    assert answer.text == bench.engine.tokenizer.decode(answer.tokens[:-1])
    assert len(answer.deltas) > 2
    assert {delta.prompt_tokens for delta in answer.deltas} == {len(prompt)}


def test_the_budget_ends_an_answer_with_length(bench: Bench, prompt: list[int]) -> None:
    answer = bench.ask(prompt, Sampling(max_tokens=4), ENDLESS)
    assert (len(answer.tokens), answer.finish_reason) == (4, "length")


def test_logprobs_cover_the_text_s_tokens_under_a_grammar(bench: Bench, prompt: list[int]) -> None:
    answer = bench.ask(prompt, Sampling(max_tokens=30, logprobs=3), WORD)
    assert answer.finish_reason == "stop"
    assert [entry.token_id for entry in answer.logprobs] == answer.tokens[:-1]
    assert "".join(entry.token for entry in answer.logprobs) == answer.text
    for entry in answer.logprobs:
        assert len(entry.top) == 3
        assert all(-9999.0 <= top.logprob <= 0 for top in entry.top)
        assert [top.logprob for top in entry.top] == sorted((top.logprob for top in entry.top), reverse=True)
    plain = bench.ask(prompt, Sampling(max_tokens=3, logprobs=0), ENDLESS)
    assert [entry.top for entry in plain.logprobs] == [()] * 3


def test_a_seed_with_a_prompt_of_several_steps_keeps_the_engine_and_the_seed(
    bench: Bench, long_prompt: list[int]
) -> None:
    """vLLM 0.32 for CPUs dies of the first of these. The second finds the prompt cached and computes one step."""
    first = bench.ask(long_prompt, Sampling(max_tokens=6, seed=11))
    second = bench.ask(long_prompt, Sampling(max_tokens=6, seed=11))
    other = bench.ask(long_prompt, Sampling(max_tokens=6, seed=12))
    bench.run(bench.engine.check_health())
    assert second.deltas[0].cached_tokens > 1000
    assert first.tokens == second.tokens
    assert other.tokens != first.tokens


def test_a_full_batch_of_seeds_grammars_and_logprobs_with_preemption(bench: Bench) -> None:
    async def everybody() -> list[Answer]:
        def sampling(number: int) -> Sampling:
            return Sampling(
                max_tokens=24,
                seed=number if number % 2 else None,
                logprobs=number % 3 or None,
                presence_penalty=0.5 * (number % 2),
                repetition_penalty=1.0 + 0.1 * (number % 2),
            )

        def own_prompt(number: int) -> list[int]:
            return [200 + 7 * number + place % 999 for place in range(250)]

        return await asyncio.gather(
            *(bench.answer(own_prompt(number), sampling(number), (ENDLESS, None)[number % 2]) for number in range(8))
        )

    preempted = bench.engine.counters.preemptions
    answers = bench.run(everybody())
    assert all(answer.finish_reason in ("stop", "length") for answer in answers)
    assert bench.engine.counters.preemptions > preempted, "the cache was not full: the test tests nothing"
    bench.run(bench.engine.check_health())


@pytest.mark.parametrize(
    ("sampling", "names"),
    [
        (Sampling(max_tokens=2, logprobs=100_000), "logprobs"),
        (Sampling(max_tokens=2, logit_bias={49_152: 1.0}), "logit_bias"),
        (Sampling(max_tokens=2, logit_bias={-1: 1.0}), "logit_bias"),
        (Sampling(max_tokens=2, logit_bias={5: float("inf")}), "logit_bias"),
        (Sampling(max_tokens=2, logit_bias={5: float("nan")}), "logit_bias"),
        (Sampling(max_tokens=2, stop_token_ids=(10**6,)), "stop_token_ids"),
        (Sampling(max_tokens=2, temperature=float("nan")), "temperature"),
        (Sampling(max_tokens=2, top_p=0.0), "top_p"),
        (Sampling(max_tokens=2, repetition_penalty=0.0), "repetition_penalty"),
        (Sampling(max_tokens=0), "max_tokens"),
    ],
)
def test_sampling_that_vllm_refuses_fails_alone(
    bench: Bench, prompt: list[int], sampling: Sampling, names: str
) -> None:
    with pytest.raises(EngineRequestError, match=names):
        bench.ask(prompt, sampling)


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(max_tokens=2, seed=2**64 + 5),
        Sampling(max_tokens=2, seed=-1),
        Sampling(max_tokens=2, top_k=10**7, min_p=1.0, top_p=1e-9),
    ],
)
def test_sampling_at_its_edges_is_served(bench: Bench, prompt: list[int], sampling: Sampling) -> None:
    assert len(bench.ask(prompt, sampling, WORD).tokens) == 2


def test_prompts_at_the_edges_of_the_context(bench: Bench) -> None:
    for wrong in ([], [100] * CONTEXT, [100] * (CONTEXT + 1), [49_152], [-1], [2**40]):
        with pytest.raises(EngineRequestError):
            bench.ask(wrong, Sampling(max_tokens=5))
    for seed in (None, 3):
        answer = bench.ask([100 + n % 999 for n in range(CONTEXT - 1)], Sampling(max_tokens=5, seed=seed), WORD)
        assert (len(answer.tokens), answer.finish_reason) == (1, "length")


def test_a_token_of_the_tokenizer_s_that_the_model_does_not_know(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """vLLM lets it pass, and the engine would end on it."""
    monkeypatch.setattr(bench.engine, "_vocab_size", 1000)
    monkeypatch.setattr(bench.engine, "_more_tokens", True)
    with pytest.raises(EngineRequestError, match="outside the vocabulary"):
        bench.ask([999, 1000], Sampling(max_tokens=5))
    assert bench.ask([999, 998], Sampling(max_tokens=2)).tokens


@pytest.mark.parametrize(
    "grammar",
    [
        "",
        "start: nothing_of_that_name",
        'start: "a"\nstart: "b"',
        "start: start",
        "start: A\nA: /a/ & /b/",
        'start: "x" A\nA: /a/ & /b/',
        "start: /a{1000000}/",
        'start: %json {"$ref":"#/$defs/n","$defs":{"n":{"$ref":"#/$defs/n"}}}',
        "start: " + "(" * 5000 + '"a"' + ")" * 5000,
        EXPLODING,
    ],
)
def test_a_bad_grammar_fails_alone_and_is_never_an_answer(bench: Bench, prompt: list[int], grammar: str) -> None:
    async def both() -> Answer:
        neighbour = asyncio.create_task(bench.answer(prompt, Sampling(max_tokens=30, temperature=0), WORD))
        with pytest.raises(EngineRequestError):
            await bench.answer(prompt, Sampling(max_tokens=30), grammar)
        return await neighbour

    assert bench.run(both()).finish_reason == "stop"


@pytest.mark.parametrize("logprobs", [None, 0])
def test_wanting_no_more_ends_the_generation_in_the_engine(
    bench: Bench, prompt: list[int], logprobs: int | None
) -> None:
    async def leave_early() -> bool:
        got: list[EngineDelta] = []
        sampling = Sampling(max_tokens=1500, logprobs=logprobs)
        await bench.generate(prompt, sampling, ENDLESS, lambda delta: bool(got.append(delta)))
        assert len(got) == 1
        assert bench.engine.running == 0
        return await bench.idle()

    assert bench.run(leave_early())


def test_cancelling_the_task_ends_the_generation_in_the_engine(bench: Bench, prompt: list[int]) -> None:
    async def cancel() -> bool:
        tasks = [
            asyncio.create_task(bench.answer(prompt, Sampling(max_tokens=1500, seed=n), ENDLESS)) for n in range(4)
        ]
        while bench.engine.counters.running < 4:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert bench.engine.running == 0
        return await bench.idle()

    assert bench.run(cancel())


def test_cancelling_before_anything_came_leaves_nothing_behind(bench: Bench, prompt: list[int]) -> None:
    async def cancel() -> bool:
        for number in range(20):
            task = asyncio.create_task(bench.answer(prompt, Sampling(max_tokens=1500), ENDLESS))
            await asyncio.sleep(0.002 * number)
            task.cancel()
            await asyncio.wait([task])
        assert bench.engine.running == 0
        return await bench.idle()

    assert bench.run(cancel())


def test_special_tokens_are_text_only_where_they_are_wanted(bench: Bench, prompt: list[int]) -> None:
    forced = Sampling(max_tokens=1, logit_bias={3: 100.0}, temperature=0)
    assert bench.engine.tokenizer.convert_ids_to_tokens(3) == "<repo_name>"
    assert bench.ask(prompt, forced).text == ""
    bench.engine.keep_special_tokens = True
    try:
        assert bench.ask(prompt, forced).text == "<repo_name>"
    finally:
        bench.engine.keep_special_tokens = False


def test_a_dead_engine_ends_what_runs_and_says_so(bench: Bench, prompt: list[int]) -> None:
    """The last test of the file: there is no engine after it."""
    core = next(child for child in multiprocessing.active_children() if child.name.startswith("EngineCore"))
    assert core.pid is not None

    async def die(pid: int) -> None:
        running = asyncio.create_task(bench.answer(prompt, Sampling(max_tokens=1500), ENDLESS))
        while not bench.engine.running:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(EngineDeadError):
            await running
        await bench.engine.wait_until_dead()
        with pytest.raises(EngineDeadError):
            await bench.engine.check_health()
        with pytest.raises(EngineDeadError):
            await bench.answer(prompt, Sampling(max_tokens=1))

    bench.run(die(core.pid))
