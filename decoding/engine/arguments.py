"""vLLM's engine arguments: Strictcall's defaults, then what the user wrote, read by vLLM's own parser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from vllm.config import VllmConfig
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.platforms import current_platform
from vllm.utils.argparse_utils import FlexibleArgumentParser

from decoding.engine.scheduler import scheduler_path

#: Two cores and a small model are the measure: short prefill steps, so that running answers are not held up by a long
#: prompt, a cache that leaves the machine usable, and no compilation, which takes minutes and gains little.
CPU_DEFAULTS = (
    "--dtype=bfloat16",
    "--enforce-eager",
    "--max-num-seqs=64",
    "--max-num-batched-tokens=1024",
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
    extra: Sequence[str] = (),
) -> VllmConfig:
    """The engine's configuration. ``extra`` are options as on vLLM's command line.

    Raises EngineArgumentError, and what vLLM raises for a model or values that do not fit.
    """
    _check(extra)
    argv = ["--model", model, "--served-model-name", *served_names]
    argv += ["--tensor-parallel-size", str(tensor_parallel_size)]
    if max_model_len is not None:
        argv += ["--max-model-len", str(max_model_len)]
    if current_platform.is_cpu():
        argv += CPU_DEFAULTS
    parser = AsyncEngineArgs.add_cli_args(_Parser(prog="vllm", add_help=False))
    # argparse lets the last one win: the user's options stand over the defaults.
    arguments = AsyncEngineArgs.from_cli_args(parser.parse_args([*argv, *FIXED, *extra]))
    config = arguments.create_engine_config()
    # Only now is it known which of vLLM's two schedulers is to be extended.
    config.scheduler_config.scheduler_cls = scheduler_path(bool(config.scheduler_config.async_scheduling))
    return config


def _check(extra: Sequence[str]) -> None:
    for word in extra:
        name = word.split("=", 1)[0].replace("_", "-")
        base = name.split(".", 1)[0]
        if base in _OWN_OPTIONS:
            raise EngineArgumentError(f"give {_OWN_OPTIONS[base]} to strictcall itself, before the --")
        if base in _REFUSED:
            raise EngineArgumentError(f"{base} cannot be given: {_REFUSED[base]}")
