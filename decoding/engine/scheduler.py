"""vLLM's schedulers with Strictcall's grammar backend; named in ``SchedulerConfig.scheduler_cls``."""

from __future__ import annotations

from typing import Any

from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler

from decoding.engine.grammar_backend import GrammarBackend


class _WithGrammarBackend:
    """Sets the backend that vLLM would choose itself at the first request with a grammar."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        manager: Any = self.structured_output_manager  # type: ignore[attr-defined]
        manager.backend = GrammarBackend(
            manager.vllm_config,
            tokenizer=manager.tokenizer,
            vocab_size=manager.vllm_config.model_config.get_vocab_size(),
        )


class GrammarScheduler(_WithGrammarBackend, Scheduler):  # type: ignore[misc]
    """For synchronous scheduling (CPUs)."""


class AsyncGrammarScheduler(_WithGrammarBackend, AsyncScheduler):  # type: ignore[misc]
    """For asynchronous scheduling (GPUs)."""


def scheduler_path(asynchronous: bool) -> str:
    """The class to name in ``SchedulerConfig.scheduler_cls``."""
    scheduler = AsyncGrammarScheduler if asynchronous else GrammarScheduler
    return f"{scheduler.__module__}.{scheduler.__qualname__}"
