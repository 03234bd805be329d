"""vLLM's synchronous engine with Strictcall's scheduler and worker, stepped by hand."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from decoding.engine.counters import GRAMMAR_ARGUMENT

#: ``make test-jump-forward-off`` runs the same tests without it.
JUMP_FORWARD: Literal["on", "off"] = "off" if os.environ.get("STRICTCALL_JUMP_FORWARD") == "off" else "on"


@dataclass(slots=True)
class Answer:
    """What one request got."""

    tokens: list[int] = field(default_factory=list)
    text: str = ""
    reason: str | None = None
    logprobs: list[Any] = field(default_factory=list)
    deltas: int = 0


@dataclass(slots=True)
class Core:
    engine: Any
    scheduler: Any
    tokenizer: Any
    _names: Iterator[int] = field(default_factory=itertools.count)

    @classmethod
    def start(cls, model: str) -> Core:
        from vllm.v1.engine.llm_engine import LLMEngine

        from decoding.engine.arguments import engine_config

        extra = ["--block-size=32", "--num-gpu-blocks-override=40", "--max-num-batched-tokens=64", "--max-num-seqs=16"]
        # In bfloat16 two tokens can be so near that one wide step and two narrow ones, rounded otherwise, differ.
        extra += ["--dtype=float32"]
        config = engine_config(model, ["model"], max_model_len=512, jump_forward=JUMP_FORWARD, extra=extra)
        engine = LLMEngine.from_vllm_config(config)
        return cls(engine, engine.engine_core.engine_core.scheduler, engine.get_tokenizer())

    def shutdown(self) -> None:
        self.engine.engine_core.shutdown()

    @property
    def passes(self) -> int:
        return int(self.scheduler._forward_passes)

    def params(self, grammar: str | None = None, **fields: Any) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        extra = None if grammar is None else {GRAMMAR_ARGUMENT: grammar}
        defaults = {"temperature": 0.0, "max_tokens": 120, "skip_special_tokens": grammar is None}
        return SamplingParams(extra_args=extra, output_kind=RequestOutputKind.DELTA, **(defaults | fields))

    def add(self, prompt: str, params: Any) -> str:
        name = f"request-{next(self._names)}"
        self.engine.add_request(name, {"prompt_token_ids": self.tokenizer.encode(prompt)}, params)
        return name

    def run(self, names: Sequence[str], after_step: Callable[[int], None] | None = None) -> dict[str, list[Answer]]:
        """Step until nothing is left to do. Each request has one answer per choice."""
        answers: dict[str, list[Answer]] = {name: [] for name in names}
        step = 0
        while self.engine.has_unfinished_requests():
            for output in self.engine.step():
                for choice in output.outputs:
                    choices = answers[output.request_id]
                    choices += [Answer() for _ in range(choice.index + 1 - len(choices))]
                    answer = choices[choice.index]
                    answer.tokens += choice.token_ids
                    answer.text += choice.text
                    answer.reason = choice.finish_reason
                    answer.logprobs += choice.logprobs or []
                    answer.deltas += 1
            step += 1
            if after_step is not None:
                after_step(step)
        return answers

    def ask(self, prompt: str, grammar: str | None = None, **fields: Any) -> Answer:
        name = self.add(prompt, self.params(grammar, **fields))
        return self.run([name])[name][0]

    def ask_all(self, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Answer]:
        names = [self.add(prompt, self.params(**fields)) for prompt, fields in asked]
        answers = self.run(names)
        return [answers[name][0] for name in names]

    def is_idle(self) -> bool:
        """Whether nothing of any request is left behind."""
        scheduler = self.scheduler
        names = ("_unsent", "_unsent_openings", "_openings", "_prompt_hashes") if JUMP_FORWARD == "on" else ()
        left = [getattr(scheduler, name) for name in names]
        return not (scheduler.requests or scheduler.running or scheduler.waiting or any(left))


@contextmanager
def jump_forward_off() -> Iterator[None]:
    """The same engine without jump-forward."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("decoding.engine.forced_tokens.may_jump", lambda request: False)
        yield
