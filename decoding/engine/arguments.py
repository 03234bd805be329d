"""vLLM's engine arguments: Strictcall's defaults, then what the user wrote, read by vLLM's own parser."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, NoReturn

from vllm.config import VllmConfig
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.platforms import current_platform
from vllm.utils.argparse_utils import FlexibleArgumentParser

from decoding.engine.norms import prefer_kernels
from decoding.engine.scheduler import scheduler_path

#: Two cores and a small model are the measure: short prefill steps, so that running answers are not held up by a long
#: prompt, a cache that leaves the machine usable, and no compilation, which takes minutes and gains little.
CPU_DEFAULTS = (
    "--dtype=bfloat16",
    "--enforce-eager",
    "--max-num-seqs=64",
    "--max-num-batched-tokens=256",
    f"--kv-cache-memory-bytes={2 * 1024**3}",
    "--worker-cls=decoding.engine.worker.StrictcallCPUWorker",
)
#: What the guarantee stands on.
FIXED = ("--structured-outputs-config.backend=guidance", "--enable-prefix-caching")

_OWN_OPTIONS = {
    "--model": "--model",
    "--served-model-name": "--served-model-name",
    "--max-model-len": "--max-model-len",
    "--tensor-parallel-size": "--tensor-parallel-size",
    "-tp": "--tensor-parallel-size",
}
_REFUSED = {
    "--worker-cls": "Strictcall sets the worker class",
    "--scheduler-cls": "Strictcall sets the scheduler class",
    "--structured-outputs-config": "Strictcall needs the guidance backend",
    "--guided-decoding-backend": "Strictcall needs the guidance backend",
    "--skip-tokenizer-init": "grammars need the tokenizer",
    "--reasoning-parser": "Strictcall reads the model's text itself",
    "--tool-call-parser": "Strictcall reads the model's text itself",
}


JumpForward = Literal["on", "off", "auto"]
#: Jump-forward on a GPU: the forced tokens are known only when a step is done, and the newer model runner keeps the
#: requests' tokens where they cannot be appended to.
GPU_JUMP_FORWARD = ("--no-async-scheduling", "--worker-cls=decoding.engine.gpu_worker.StrictcallGPUWorker")


class EngineArgumentError(ValueError):
    """An option for vLLM that it does not know, or that Strictcall does not allow."""


class _Parser(FlexibleArgumentParser):  # type: ignore[misc]
    def error(self, message: str) -> NoReturn:
        raise EngineArgumentError(f"vLLM does not take these options: {message}")


def engine_config(
    model: str,
    served_names: Sequence[str],
    *,
    max_model_len: int | None = None,
    tensor_parallel_size: int = 1,
    jump_forward: JumpForward = "auto",
    api_processes: int = 1,
    extra: Sequence[str] = (),
) -> VllmConfig:
    """The engine's configuration. ``extra`` are options as on vLLM's command line; ``api_processes`` says how many
    server processes are to share the engine core.

    ``jump_forward``: ``auto`` is on for CPUs, where it was measured, and off for GPUs, where it costs asynchronous
    scheduling and the newer model runner and was never run; and off with vLLM's own speculative decoding or pipeline
    parallelism, which ``on`` refuses.

    Raises EngineArgumentError, and what vLLM raises for a model or values that do not fit.
    """
    _check(extra)
    jump = jump_forward == "on" or (jump_forward == "auto" and current_platform.is_cpu())
    argv = ["--model", model, "--served-model-name", *served_names]
    argv += ["--tensor-parallel-size", str(tensor_parallel_size)]
    if max_model_len is not None:
        argv += ["--max-model-len", str(max_model_len)]
    if current_platform.is_cpu():
        argv += CPU_DEFAULTS
    elif jump:
        argv += GPU_JUMP_FORWARD
        os.environ.setdefault("VLLM_USE_V2_MODEL_RUNNER", "0")
    parser = AsyncEngineArgs.add_cli_args(_Parser(prog="vllm", add_help=False))
    # argparse lets the last one win: the user's options stand over the defaults.
    arguments = AsyncEngineArgs.from_cli_args(parser.parse_args([*argv, *FIXED, *extra]))
    arguments._api_process_count = api_processes
    arguments._api_process_rank = 0 if api_processes == 1 else -1
    config = arguments.create_engine_config()
    if api_processes > 1 and config.parallel_config.data_parallel_size > 1:
        raise EngineArgumentError("--api-processes does not go with data parallelism (--data-parallel-size)")
    if current_platform.is_cpu():
        prefer_kernels(config)
        if config.parallel_config.world_size == 1 and not _names_executor(extra):
            _run_in_the_engine_process(config)
    obstacle = _obstacle(config)
    if jump_forward == "on" and obstacle:
        raise EngineArgumentError(f"--jump-forward on does not go with {obstacle}")
    # Only now is it known which of vLLM's two schedulers is to be extended.
    config.scheduler_config.scheduler_cls = scheduler_path(
        asynchronous=bool(config.scheduler_config.async_scheduling), jump_forward=jump and not obstacle
    )
    return config


def _run_in_the_engine_process(config: VllmConfig) -> None:
    """Let the model run in the engine core's own process.

    vLLM starts a worker process for CPUs even for one worker, because it gives each worker threads and cores of its
    own through the environment. The engine core waits for it in a spin loop, which takes a core from the server and
    from the model's other threads. For one worker, OMP_NUM_THREADS does; by default one core is left to the server.
    """
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, len(os.sched_getaffinity(0)) - 1)))
    config.parallel_config.distributed_executor_backend = "uni"


def _names_executor(extra: Sequence[str]) -> bool:
    return any(w.split("=", 1)[0].replace("_", "-") == "--distributed-executor-backend" for w in extra)


def _obstacle(config: VllmConfig) -> str | None:
    """What in the configuration rules jump-forward out."""
    if config.speculative_config is not None:
        return "speculative decoding (--speculative-config)"
    if config.parallel_config.pipeline_parallel_size > 1:
        return "pipeline parallelism (--pipeline-parallel-size)"
    if config.scheduler_config.async_scheduling:
        return "asynchronous scheduling (--async-scheduling)"
    if config.use_v2_model_runner:
        return "vLLM's second model runner (VLLM_USE_V2_MODEL_RUNNER=1)"
    return None


def _check(extra: Sequence[str]) -> None:
    for word in extra:
        name = word.split("=", 1)[0].replace("_", "-")
        base = name.split(".", 1)[0]
        if base in _OWN_OPTIONS:
            raise EngineArgumentError(f"give {_OWN_OPTIONS[base]} to strictcall itself, before the --")
        if base in _REFUSED:
            raise EngineArgumentError(f"{base} cannot be given: {_REFUSED[base]}")
