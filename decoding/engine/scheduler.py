"""vLLM's schedulers with Strictcall's grammar backend; named in ``SchedulerConfig.scheduler_cls``."""

from __future__ import annotations

from typing import Any

from vllm.sampling_params import StructuredOutputsParams
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.request import Request, RequestStatus
from vllm.v1.structured_output.request import StructuredOutputRequest

from decoding.engine.counters import GRAMMAR_ARGUMENT, CoreCounters, attach
from decoding.engine.forced_tokens import ForcedTokens
from decoding.engine.grammar_backend import GrammarBackend


class _WithGrammarBackend:
    """Sets the backend that vLLM would choose itself at the first request with a grammar, and counts."""

    _forward_passes = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        manager: Any = self.structured_output_manager  # type: ignore[attr-defined]
        self._backend = GrammarBackend(
            manager.vllm_config,
            tokenizer=manager.tokenizer,
            vocab_size=manager.vllm_config.model_config.get_vocab_size(),
        )
        manager.backend = self._backend

    def add_request(self, request: Request) -> None:
        """A grammar in ``SamplingParams.extra_args`` counts as one in ``structured_outputs``.

        vLLM reads and checks the latter in the server's process, for milliseconds, on every request; ours was checked
        when it was compiled, and a grammar that fails here fails its request alone.
        """
        extra = request.sampling_params.extra_args if request.sampling_params is not None else None
        if extra and GRAMMAR_ARGUMENT in extra and request.structured_output_request is None:
            params = StructuredOutputsParams(grammar=extra[GRAMMAR_ARGUMENT])
            request.structured_output_request = StructuredOutputRequest(params=params)
            request.status = RequestStatus.WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR
            request.sampling_params.extra_args = {k: v for k, v in extra.items() if k != GRAMMAR_ARGUMENT} or None
            self.structured_output_manager.grammar_init(request)  # type: ignore[attr-defined]
        super().add_request(request)  # type: ignore[misc]

    def _update_after_schedule(self, scheduler_output: SchedulerOutput) -> None:
        self._forward_passes += scheduler_output.total_num_scheduled_tokens > 0
        super()._update_after_schedule(scheduler_output)  # type: ignore[misc]

    def make_stats(self, *args: Any, **kwargs: Any) -> Any:
        stats = super().make_stats(*args, **kwargs)  # type: ignore[misc]
        if stats is not None:
            cache = self._backend.cache
            attach(
                stats,
                CoreCounters(
                    forward_passes=self._forward_passes,
                    forced_tokens=getattr(self, "forced_tokens", 0),
                    grammar_cache_hits=cache.hits,
                    grammar_cache_misses=cache.misses,
                    grammar_compile_microseconds=round(self._backend.compile_seconds * 1e6),
                ),
            )
        return stats


class GrammarScheduler(_WithGrammarBackend, Scheduler):  # type: ignore[misc]
    """For synchronous scheduling (CPUs)."""


class AsyncGrammarScheduler(_WithGrammarBackend, AsyncScheduler):  # type: ignore[misc]
    """For asynchronous scheduling (GPUs)."""


class ForcedTokenScheduler(ForcedTokens, _WithGrammarBackend, Scheduler):  # type: ignore[misc]
    """With jump-forward; needs synchronous scheduling and a model runner that is a ``KnownTokensRunner``."""


def scheduler_path(*, asynchronous: bool, jump_forward: bool) -> str:
    """The class to name in ``SchedulerConfig.scheduler_cls``. Raises ValueError for jump-forward with asynchronous
    scheduling."""
    scheduler: type[Any] = AsyncGrammarScheduler if asynchronous else GrammarScheduler
    if jump_forward:
        if asynchronous:
            raise ValueError("jump-forward needs synchronous scheduling")
        scheduler = ForcedTokenScheduler
    return f"{scheduler.__module__}.{scheduler.__qualname__}"
