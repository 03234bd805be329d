"""``strictcall`` with an engine that costs nothing: each API process says x for ever, and a process that sleeps stands
for the engine core. Run as a script; the API processes that it spawns import it again and so have the same engine.

``FAKE_JOIN=never``: further API processes never come to be ready.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from decoding.deltas import Deliver, EngineDelta
from server.engine_client import EngineDeadError, Sampling
from tests.server.stub import tokenizer


@dataclass
class Seat:
    index: int
    count: int

    def close(self) -> None:
        pass


class FakeEngine:
    model_names: tuple[str, ...]
    max_model_len = 1_000_000
    vocab_size = 256

    def __init__(self, names: Sequence[str], core: subprocess.Popen[bytes] | None, seats: Sequence[Seat]) -> None:
        self.model_names = tuple(names)
        self.seats = seats
        self._core = core
        self._over = ""

    @classmethod
    async def start(cls, _model: str, names: Sequence[str], *, api_processes: int, **_: Any) -> FakeEngine:
        core = subprocess.Popen([sys.executable, "-IS", "-c", "import time; time.sleep(1000)", "EngineCore"])  # noqa: ASYNC220
        return cls(names, core, [Seat(index, api_processes) for index in range(1, api_processes)])

    @classmethod
    async def join(cls, _seat: Seat, names: Sequence[str]) -> FakeEngine:
        if os.environ.get("FAKE_JOIN") == "never":
            await asyncio.sleep(1000)
        return cls(names, None, ())

    @property
    def tokenizer(self) -> Any:
        return tokenizer()

    def totals(self) -> dict[str, float]:
        return {}

    async def generate(
        self, prompt: Sequence[int], sampling: Sampling, *, grammar: str | None, request_id: str, deliver: Deliver
    ) -> None:
        while not self._over:
            if not deliver(EngineDelta("x", [120], (), None, len(prompt), 0)):
                return
            await asyncio.sleep(0.02)
        raise EngineDeadError(self._over)

    async def check_health(self) -> None:
        if self._over:
            raise EngineDeadError(self._over)

    async def wait_until_dead(self) -> None:
        assert self._core is not None
        while self._core.poll() is None or self._over == "shut down":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        self._over = "dead"

    def give_up(self) -> None:
        self._over = "dead"

    def death_story(self) -> str:
        assert self._core is not None
        return f"its process was ended by {signal.Signals(-self._core.returncode).name}"

    async def drain(self, grace: float) -> None:
        await asyncio.sleep(grace)
        self._over = self._over or "the server is shutting down"

    async def shutdown(self) -> None:
        self._over = "shut down"
        if self._core is not None:
            self._core.kill()


module: Any = ModuleType("server.engine")
module.VllmEngine = FakeEngine
module.EngineArgumentError = module.EngineStartError = type("EngineStartError", (RuntimeError,), {})
sys.modules["server.engine"] = module

if __name__ == "__main__":
    from server.cli import main

    main()
