"""The one real engine: vLLM's AsyncLLM behind ``EngineClient``. Importing this module imports vLLM (seconds)."""

from __future__ import annotations

import asyncio
import gc
import math
import re
import signal
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import llguidance
import llguidance.hf
from vllm import SamplingParams
from vllm.envs import enable_envs_cache
from vllm.exceptions import VLLMClientError
from vllm.sampling_params import RequestOutputKind
from vllm.utils.gc_utils import freeze_gc_heap
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.engine.exceptions import EngineDeadError as VllmEngineDeadError

from decoding.deltas import Deliver
from decoding.engine.arguments import EngineArgumentError, JumpForward, engine_config
from decoding.engine.counters import GRAMMAR_ARGUMENT, CounterLogger, EngineCounters
from decoding.engine.grammar_backend import is_panic
from decoding.engine.latencies import StepPrometheusLogger
from decoding.engine.outputs import listen, use_deltas
from decoding.engine.shared_core import Seat, alone, give_up, join, launch, own
from decoding.engine.submitting import keep_end_of_sequence
from server.engine_client import EngineDeadError, EngineRequestError, Sampling
from server.engine_listener import EngineListener
from server.threads import in_thread

#: A grammar that every answer fits, to make the grammar engine build its tables before the first client waits for them.
_WARM_UP_GRAMMAR = "start: /(?s:.*)/"

#: Objects that may be made, more than were freed, before the garbage collector looks for cycles among them.
_YOUNG_OBJECTS = 10_000


class EngineStartError(RuntimeError):
    """The engine cannot start; one line that says why."""


class _Counters:
    """A factory of stat loggers, as vLLM wants one, that remembers what it made."""

    def __init__(self) -> None:
        self.made: list[CounterLogger] = []

    def __call__(self, vllm_config: Any, engine_index: int = 0) -> CounterLogger:
        self.made.append(CounterLogger(vllm_config, engine_index))
        return self.made[-1]


class VllmEngine:
    """``EngineClient`` over AsyncLLM. All methods belong to the event loop that called ``start``."""

    def __init__(self, llm: AsyncLLM, names: Sequence[str], counters: CounterLogger) -> None:
        config = llm.model_config
        self._llm = llm
        self._counters = counters
        self._running: set[str] = set()
        self._aborts: set[asyncio.Task[None]] = set()
        self._closing = False
        self._closed = False
        self._names = tuple(names)
        self._max_model_len = int(config.max_model_len)
        self._vocab_size = int(config.get_vocab_size())
        self._more_tokens = len(llm.get_tokenizer()) > self._vocab_size
        """The tokenizer has tokens that the model does not know, and vLLM lets them pass."""
        self.seats: Sequence[Seat] = ()
        """The places of further processes at the same engine core."""
        self.keep_special_tokens = False
        """Whether special tokens are part of the text without a grammar too: some call formats need them."""

    @classmethod
    async def start(
        cls,
        model: str,
        served_names: Sequence[str],
        *,
        max_model_len: int | None = None,
        tensor_parallel_size: int = 1,
        jump_forward: JumpForward = "auto",
        api_processes: int = 1,
        extra: Sequence[str] = (),
    ) -> VllmEngine:
        """Start vLLM with ``model`` (folder or Hugging Face id) and wait until it has answered once.

        ``extra`` are options as on vLLM's command line. With several ``api_processes`` this one has the first seat at
        the engine core and owns it; ``seats`` are the others'. Loading runs in a thread; the event loop stays free.
        Raises EngineArgumentError, EngineStartError.
        """
        seats: list[Seat] = []

        def load(counters: _Counters) -> AsyncLLM:
            config = engine_config(
                model,
                served_names,
                max_model_len=max_model_len,
                tensor_parallel_size=tensor_parallel_size,
                jump_forward=jump_forward,
                api_processes=api_processes,
                extra=extra,
            )
            if api_processes == 1:
                return alone(config, [counters, StepPrometheusLogger])
            (first, *others), core = launch(config, api_processes)
            llm = join(first, [counters, StepPrometheusLogger])
            own(llm, core)
            seats.extend(others)
            return llm

        engine = await cls._made(load, served_names)
        engine.seats = seats
        return engine

    @classmethod
    async def join(cls, seat: Seat, served_names: Sequence[str]) -> VllmEngine:
        """A seat at an engine core that another process has started. Raises EngineStartError."""
        return await cls._made(lambda counters: join(seat, [counters, StepPrometheusLogger]), served_names)

    @classmethod
    async def _made(cls, load: Callable[[_Counters], AsyncLLM], served_names: Sequence[str]) -> VllmEngine:
        counters = _Counters()

        def loaded() -> AsyncLLM:
            llm = load(counters)
            use_deltas(llm)
            keep_end_of_sequence(llm)
            # vLLM asks the environment for every token otherwise.
            enable_envs_cache()
            return llm

        try:
            engine = cls(await in_thread(loaded), served_names, counters.made[0])
            await in_thread(lambda: engine._ll_tokenizer)
            await engine._warm_up()
            # What is loaded by now stays: a full collection would look through all of it while every stream waits.
            freeze_gc_heap()
            # What a request is made of is freed by itself in a moment; looking through it until then is of no use.
            gc.set_threshold(_YOUNG_OBJECTS)
        except EngineArgumentError:
            raise
        except Exception as error:
            raise EngineStartError(first_line(error)) from error
        return engine

    @property
    def model_names(self) -> tuple[str, ...]:
        return self._names

    @property
    def max_model_len(self) -> int:
        return self._max_model_len

    @property
    def vocab_size(self) -> int:
        """Size of the logits' last axis: token ids in ``logit_bias`` must be below it."""
        return self._vocab_size

    @property
    def tokenizer(self) -> Any:
        return self._llm.get_tokenizer()

    @property
    def counters(self) -> EngineCounters:
        """What the engine's scheduler last reported."""
        return self._counters.counters

    def totals(self) -> dict[str, float]:
        """What the engine process counted since its start, by the names of ``server.metrics``."""
        core = self.counters.core
        return {
            "forward_passes": core.forward_passes,
            "forced_tokens": core.forced_tokens,
            "engine_grammar_cache_hits": core.grammar_cache_hits,
            "engine_grammar_cache_misses": core.grammar_cache_misses,
            "engine_grammar_compile_seconds": core.grammar_compile_microseconds / 1e6,
        }

    @property
    def running(self) -> int:
        """Generations that were started here and not yet ended."""
        return len(self._running)

    async def generate(
        self,
        prompt_token_ids: Sequence[int],
        sampling: Sampling,
        *,
        grammar: str | None,
        request_id: str,
        deliver: Deliver,
    ) -> None:
        """See EngineClient. ``max_tokens`` is cut to what the context leaves.

        Raises EngineDeadError, EngineRequestError; a prompt that is empty, holds unknown tokens or fills the context
        is an EngineRequestError.
        """
        if self._closing:
            raise EngineDeadError("the server is shutting down")
        params = self._sampling_params(prompt_token_ids, sampling, grammar)
        listener = EngineListener(deliver, sampling.logprobs, self._ll_tokenizer)
        self._running.add(request_id)
        try:
            await listen(self._llm, list(prompt_token_ids), params, request_id, listener)
        except (EngineDeadError, EngineRequestError):
            raise
        except VllmEngineDeadError as error:
            raise EngineDeadError("the engine process is gone") from error
        except Exception as error:
            raise EngineRequestError(first_line(error)) from error
        except BaseException as error:
            if is_panic(error):
                raise EngineRequestError(f"the grammar cannot be read: {first_line(error)}") from error
            raise
        finally:
            self._running.discard(request_id)
            if not listener.finished:
                self._abort(request_id)

    async def check_health(self) -> None:
        if self._closed or self._llm.errored:
            raise EngineDeadError("the engine process is gone")

    async def wait_until_dead(self) -> None:
        """Return when the engine has died by itself; never after ``shutdown``."""
        # vLLM sets a flag, from another thread, and tells nobody.
        while not self._llm.errored or self._closed:  # noqa: ASYNC110
            await asyncio.sleep(0.2)

    def give_up(self) -> None:
        """The engine is gone, as the process that owns it has seen: end all generations with EngineDeadError."""
        if not self._closed:
            give_up(self._llm)

    def death_story(self) -> str:
        """What is known of why the engine died."""
        manager = getattr(getattr(self._llm.engine_core, "resources", None), "engine_manager", None)
        for code in (manager.finished_procs() if manager is not None else {}).values():
            if code < 0:
                reason = " (by the system, for want of memory?)" if code == -signal.SIGKILL else ""
                return f"its process was ended by {signal.Signals(-code).name}{reason}"
        return first_line(self._llm.dead_error)

    async def drain(self, grace: float) -> None:
        """Refuse new generations, give running ones ``grace`` seconds, then end them with EngineDeadError."""
        self._closing = True
        loop = asyncio.get_running_loop()
        deadline = loop.time() + grace
        while self._running and loop.time() < deadline and not self._llm.errored:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        if self._running and not self._llm.errored:
            await self._llm.abort(list(self._running))

    async def shutdown(self) -> None:
        self._closing = self._closed = True
        # vLLM sends SIGTERM, waits this many seconds, and kills.
        await in_thread(lambda: self._llm.shutdown(timeout=2.0))

    async def _warm_up(self) -> None:
        prompt = self.tokenizer.encode("Hello", add_special_tokens=False) or [0]
        sampling = Sampling(max_tokens=1)
        await self.generate(
            prompt, sampling, grammar=_WARM_UP_GRAMMAR, request_id="warm-up", deliver=lambda delta: True
        )

    def _abort(self, request_id: str) -> None:
        """Abort in the engine, whatever happens to the task that gave up the generation.

        vLLM aborts too when its generator is closed, but in the cancelled task, where the abort can be cancelled.
        """
        if self._closed or self._llm.errored:
            return
        task = asyncio.get_running_loop().create_task(self._llm.abort(request_id))
        self._aborts.add(task)
        task.add_done_callback(self._aborts.discard)

    def _sampling_params(self, prompt: Sequence[int], sampling: Sampling, grammar: str | None) -> SamplingParams:
        room = self._max_model_len - len(prompt)
        if not prompt:
            raise EngineRequestError("the prompt is empty")
        if room < 1:
            raise EngineRequestError(
                f"the prompt has {len(prompt)} tokens and leaves no room in a context of {self._max_model_len}"
            )
        if self._more_tokens and max(prompt) >= self._vocab_size:
            raise EngineRequestError("the prompt holds a token id outside the vocabulary")
        if not all(map(math.isfinite, (sampling.logit_bias or {}).values())):
            # An infinite bias would win against the grammar's mask.
            raise EngineRequestError("logit_bias holds a value that is not finite")
        try:
            return SamplingParams(
                max_tokens=min(sampling.max_tokens, room),
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                top_k=sampling.top_k,
                min_p=sampling.min_p,
                presence_penalty=sampling.presence_penalty,
                frequency_penalty=sampling.frequency_penalty,
                repetition_penalty=sampling.repetition_penalty,
                # A generator takes 64 bits; more would end the engine, not the request.
                seed=None if sampling.seed is None else sampling.seed & (2**63 - 1),
                logit_bias=sampling.logit_bias or None,
                logprobs=sampling.logprobs,
                stop_token_ids=list(sampling.stop_token_ids),
                # Not in structured_outputs: vLLM would read the grammar here, too, on every request.
                extra_args=None if grammar is None else {GRAMMAR_ARGUMENT: grammar},
                skip_special_tokens=grammar is None and not self.keep_special_tokens,
                output_kind=RequestOutputKind.DELTA,
                skip_clone=True,
            )
        except (VLLMClientError, ValueError, TypeError) as error:
            raise EngineRequestError(first_line(error)) from error

    @cached_property
    def _ll_tokenizer(self) -> llguidance.LLTokenizer:
        """The grammar engine's view of the vocabulary: it knows each token's bytes."""
        return llguidance.hf.from_tokenizer(self.tokenizer, max(self._vocab_size, len(self.tokenizer)))


def first_line(error: BaseException) -> str:
    """The first line of an error that says something, without what pydantic puts around it."""
    for line in str(error).splitlines():
        text = re.sub(r"^Value error, | \[type=.*$", "", line.strip())
        if text and not re.fullmatch(r"\d+ validation errors? for \w+", text):
            return text
    return type(error).__name__
