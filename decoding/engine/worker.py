"""The worker class for CPUs: vLLM's own, with a mended model runner that takes known tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from vllm.v1.worker.cpu_model_runner import CPUModelRunner
from vllm.v1.worker.cpu_worker import CPUWorker

from decoding.engine import norms  # noqa: F401 (registers the kernels that ``engine_config`` prefers)
from decoding.engine.known_tokens import KnownTokensRunner


class SeedSafeCPUModelRunner(CPUModelRunner):  # type: ignore[misc]
    """A CPU model runner that survives requests with a seed whose prompt is computed in several steps.

    A step that only computes a part of a prompt still samples a token, which is thrown away, and the request's random
    generator must be as if that had not happened. vLLM 0.32 moves the generator's offset back, which CUDA generators
    have and CPU generators do not: the engine dies ("CPU Generator does not use offset"). Here the generator's whole
    state is kept over the sampling of such rows, and vLLM's own rewinding finds no generator to rewind.
    """

    def _sample(self, *args: Any, **kwargs: Any) -> Any:
        generators = self._discarded_generators()
        states = [generator.get_state() for generator in generators.values()]
        output = super()._sample(*args, **kwargs)
        for generator, state in zip(generators.values(), states, strict=True):
            generator.set_state(state)
        return output

    def _bookkeeping_sync(self, *args: Any, **kwargs: Any) -> Any:
        generators = self._discarded_generators()
        for row in generators:
            del self.input_batch.generators[row]
        try:
            return super()._bookkeeping_sync(*args, **kwargs)
        finally:
            self.input_batch.generators.update(generators)

    def _discarded_generators(self) -> dict[int, torch.Generator]:
        """The seeded generators, by row of the batch, of requests whose token of this step is thrown away."""
        rows = np.nonzero(self.discard_request_mask.np[: self.input_batch.num_reqs])[0]
        seeded = self.input_batch.generators
        return {row: seeded[row] for row in map(int, rows) if row in seeded}


class StrictcallCPUModelRunner(KnownTokensRunner, SeedSafeCPUModelRunner):
    """vLLM's V1 model runner for CPUs with both changes."""


class StrictcallCPUWorker(CPUWorker):  # type: ignore[misc]
    """vLLM's CPU worker with ``StrictcallCPUModelRunner``; named in ``ParallelConfig.worker_cls``."""

    def init_device(self) -> None:
        super().init_device()
        if self.use_v2_model_runner:
            raise RuntimeError("Strictcall's CPU worker needs vLLM's V1 model runner (VLLM_USE_V2_MODEL_RUNNER=0)")
        self.model_runner = StrictcallCPUModelRunner(self.vllm_config, self.device)
