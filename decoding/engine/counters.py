"""The engine's own counters, as its scheduler reports them after every step."""

from __future__ import annotations

from typing import Any

import msgspec
from vllm.v1.metrics.loggers import StatLoggerBase

#: Where ``SamplingParams.extra_args`` carries a request's grammar.
GRAMMAR_ARGUMENT = "strictcall_grammar"
_PREFIX = "strictcall."


class CoreCounters(msgspec.Struct, frozen=True, gc=False):
    """What Strictcall's scheduler and grammar backend count, since the engine's start."""

    forward_passes: int = 0
    forced_tokens: int = 0
    grammar_cache_hits: int = 0
    grammar_cache_misses: int = 0
    grammar_compile_microseconds: int = 0


#: What each is called in the table that carries it, and here.
_NAMES = [(_PREFIX + name, name) for name in CoreCounters.__struct_fields__]


def attach(stats: Any, counters: CoreCounters) -> None:
    """Let the counters ride with vLLM's ``SchedulerStats`` to the server's process.

    It has no field for others' figures. Its table of running LoRA adapters is one of names and numbers that vLLM fills
    only on the other side; ``take`` removes what was added before anybody reads it.
    """
    stats.running_lora_adapters.update({key: getattr(counters, name) for key, name in _NAMES})


def take(stats: Any) -> CoreCounters | None:
    """The counters that were attached; None when there are none."""
    table = stats.running_lora_adapters
    if _NAMES[0][0] not in table:
        return None
    return CoreCounters(*[table.pop(key) for key, _ in _NAMES])


class EngineCounters(msgspec.Struct, frozen=True, gc=False):
    """Requests in the engine, running or waiting; share of the KV cache in use, 0 to 1; totals since the start."""

    running: int = 0
    waiting: int = 0
    kv_cache_usage: float = 0.0
    preemptions: int = 0
    prompt_tokens: int = 0
    generation_tokens: int = 0
    prefix_cache_queries: int = 0
    prefix_cache_hits: int = 0
    core: CoreCounters = CoreCounters()


class CounterLogger(StatLoggerBase):  # type: ignore[misc]
    """Keeps the newest counters in ``counters``; a stat logger, vLLM's own extension point for this."""

    def __init__(self, vllm_config: Any, engine_index: int = 0) -> None:
        self.counters = EngineCounters()

    def record(
        self,
        scheduler_stats: Any,
        iteration_stats: Any,
        mm_cache_stats: Any = None,
        engine_idx: int = 0,
    ) -> None:
        old = self.counters
        running, waiting, usage, core = old.running, old.waiting, old.kv_cache_usage, old.core
        queries, hits = old.prefix_cache_queries, old.prefix_cache_hits
        preemptions, prompt, generation = old.preemptions, old.prompt_tokens, old.generation_tokens
        if scheduler_stats is not None:
            core = take(scheduler_stats) or core
            running = scheduler_stats.num_running_reqs
            waiting = scheduler_stats.num_waiting_reqs + scheduler_stats.num_skipped_waiting_reqs
            usage = scheduler_stats.kv_cache_usage
            if (prefix := scheduler_stats.prefix_cache_stats) is not None:
                queries += prefix.queries
                hits += prefix.hits
        if iteration_stats is not None:
            preemptions += iteration_stats.num_preempted_reqs
            prompt += iteration_stats.num_prompt_tokens
            generation += iteration_stats.num_generation_tokens
        self.counters = EngineCounters(running, waiting, usage, preemptions, prompt, generation, queries, hits, core)

    def log_engine_initialized(self) -> None:
        pass
