"""The worker class for GPUs with jump-forward: vLLM's own with its V1 model runner, which then takes known tokens.

It has never run on a GPU. It is the counterpart of the worker for CPUs, whose runner extends the same V1 runner.
"""

from __future__ import annotations

from vllm.v1.worker.gpu_model_runner import GPUModelRunner
from vllm.v1.worker.gpu_worker import Worker

from decoding.engine.known_tokens import KnownTokensRunner


class StrictcallGPUModelRunner(KnownTokensRunner, GPUModelRunner):  # type: ignore[misc]
    """vLLM's V1 model runner that takes known tokens."""


class StrictcallGPUWorker(Worker):  # type: ignore[misc]
    """vLLM's GPU worker with ``StrictcallGPUModelRunner``; named in ``ParallelConfig.worker_cls``."""

    def _make_model_runner(self) -> GPUModelRunner:
        if self.use_v2_model_runner:
            raise RuntimeError("jump-forward needs vLLM's V1 model runner (VLLM_USE_V2_MODEL_RUNNER=0)")
        return StrictcallGPUModelRunner(self.vllm_config, self.device)
