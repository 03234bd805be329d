"""The engine's outputs, processed where they arrive.

vLLM reads the engine's messages in one task and processes them in another, so that reading goes on meanwhile. Where
processing a step takes a millisecond or less, the queue between the two and the switch of tasks are most of that.
"""

from __future__ import annotations

import asyncio
from typing import Any

import vllm.envs
from vllm.v1.engine import EngineCoreOutputs
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.metrics.stats import IterationStats


class OutputQueue(asyncio.Queue[Any]):
    """Stands between both tasks in the place of vLLM's queue.

    While the processing task waits, a step's outputs are processed by whoever puts them here, just as that task would
    do it. It is left to the task to end all requests when something has failed, and to do a step of so many requests
    that others must have their turn in between. The order is kept.
    """

    def __init__(self, llm: AsyncLLM) -> None:
        super().__init__()
        self._client = llm.engine_core
        self._processor = llm.output_processor
        self._record = llm.logger_manager.record if llm.logger_manager is not None else None
        self._with_stats = llm.log_stats
        self._most = int(vllm.envs.VLLM_V1_OUTPUT_PROC_CHUNK_SIZE)
        self._taker_waits = False
        self._aborts: set[asyncio.Task[None]] = set()

    async def get(self) -> Any:
        """vLLM's task comes here for what is left to it."""
        self._taker_waits = True
        try:
            return await super().get()
        finally:
            self._taker_waits = False

    def put_nowait(self, item: Any) -> None:
        if self._taker_waits and type(item) is EngineCoreOutputs and len(item.outputs) <= self._most and self.empty():
            try:
                self._process(item)
                return
            except Exception as fault:
                item = fault
        super().put_nowait(item)

    def _process(self, step: EngineCoreOutputs) -> None:
        stats = IterationStats() if self._with_stats and step.outputs else None
        if step.outputs:
            processed = self._processor.process_outputs(
                step.outputs, step.timestamp, stats, weight_version=step.weight_version
            )
            if processed.reqs_to_abort:
                task = asyncio.create_task(self._client.abort_requests_async(processed.reqs_to_abort))
                self._aborts.add(task)
                task.add_done_callback(self._aborts.discard)
        self._processor.update_scheduler_stats(step.scheduler_stats)
        if self._record is not None:
            self._record(
                engine_idx=step.engine_index,
                scheduler_stats=step.scheduler_stats,
                iteration_stats=stats,
                mm_cache_stats=None,
            )
