"""A step is processed on the spot while vLLM's task waits for it; all else reaches that task, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("vllm.v1.engine.async_llm", reason="needs vLLM")

from vllm.v1.engine import EngineCoreOutput, EngineCoreOutputs
from vllm.v1.engine.output_processor import OutputProcessorOutput

from decoding.engine.output_queue import OutputQueue


class Engine:
    """What the queue knows of AsyncLLM, and a task that takes as vLLM's does, one turn for each thing."""

    def __init__(self) -> None:
        self.log_stats = True
        self.logger_manager = SimpleNamespace(record=lambda **given: self.recorded.append(given))
        self.output_processor: Any = self
        self.engine_core: Any = self
        self.at_once: list[float] = []
        self.recorded: list[dict[str, Any]] = []
        self.taken: list[Any] = []
        self.aborted: list[str] = []
        self.to_abort: list[str] = []
        self.fault: Exception | None = None
        self.queue = OutputQueue(self)  # type: ignore[arg-type]

    def process_outputs(self, outputs: Any, timestamp: float, stats: Any, weight_version: Any) -> Any:
        if self.fault is not None:
            raise self.fault
        assert stats is not None
        self.at_once.append(timestamp)
        return OutputProcessorOutput(request_outputs=[], reqs_to_abort=self.to_abort)

    def update_scheduler_stats(self, stats: Any) -> None:
        pass

    async def abort_requests_async(self, names: list[str]) -> None:
        self.aborted += names

    async def take(self) -> None:
        while True:
            self.taken.append(await self.queue.get())
            await asyncio.sleep(0)


def step(number: int, size: int = 1) -> EngineCoreOutputs:
    return EngineCoreOutputs(outputs=[EngineCoreOutput("r", [1])] * size, timestamp=float(number))


def with_engine(test: Callable[[Engine], Awaitable[None]]) -> None:
    async def run() -> None:
        engine = Engine()
        task = asyncio.create_task(engine.take())
        await asyncio.sleep(0.01)
        await test(engine)
        task.cancel()

    asyncio.run(run())


def test_a_step_is_processed_before_put_returns() -> None:
    async def run(engine: Engine) -> None:
        engine.queue.put_nowait(step(1))
        engine.queue.put_nowait(step(2))
        assert engine.at_once == [1, 2]
        assert [given["iteration_stats"] is not None for given in engine.recorded] == [True, True]
        await asyncio.sleep(0.01)
        assert engine.taken == []

    with_engine(run)


def test_statistics_without_tokens_are_recorded() -> None:
    async def run(engine: Engine) -> None:
        engine.queue.put_nowait(step(1, 0))
        assert engine.at_once == []
        assert [given["iteration_stats"] for given in engine.recorded] == [None]

    with_engine(run)


def test_the_order_is_kept_behind_what_the_task_does_itself() -> None:
    async def run(engine: Engine) -> None:
        large = 100_000
        for number, size in enumerate((1, large, 1, 1), 1):
            engine.queue.put_nowait(step(number, size))
        assert engine.at_once == [1]
        await asyncio.sleep(0.01)
        assert [taken.timestamp for taken in engine.taken] == [2, 3, 4]
        engine.queue.put_nowait(step(5))
        assert engine.at_once == [1, 5]

    with_engine(run)


def test_nothing_overtakes_what_the_task_is_at_work_on() -> None:
    async def run(engine: Engine) -> None:
        engine.queue.put_nowait(step(1, 100_000))
        await asyncio.sleep(0)
        # The queue is empty, and the task is not back yet.
        assert len(engine.taken) == 1
        assert engine.queue.empty()
        engine.queue.put_nowait(step(2))
        assert engine.at_once == []
        await asyncio.sleep(0.01)
        assert [taken.timestamp for taken in engine.taken] == [1, 2]

    with_engine(run)


def test_a_fault_reaches_the_task() -> None:
    async def run(engine: Engine) -> None:
        engine.fault = RuntimeError("broken")
        engine.queue.put_nowait(step(1))
        gone = ConnectionError("the engine is gone")
        engine.queue.put_nowait(gone)
        await asyncio.sleep(0.01)
        assert engine.taken == [engine.fault, gone]

    with_engine(run)


def test_what_is_to_be_aborted_is() -> None:
    async def run(engine: Engine) -> None:
        engine.to_abort = ["r"]
        engine.queue.put_nowait(step(1))
        await asyncio.sleep(0.01)
        assert engine.aborted == ["r"]

    with_engine(run)
