"""One engine core in this process, stepped by hand: tests see its scheduler and can break it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.decoding.engine.core import Core


@pytest.fixture(scope="package")
def core() -> Iterator[Core]:
    """The embedded model with a KV cache of 1,280 tokens and steps of 64, so that chunks and preemptions happen."""
    from server.embedded import EmbeddedModelError, default_cache_dir, prepare

    # One thread: on a busy machine several would wait for each other.
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
    try:
        model = Path(prepare(default_cache_dir(), lambda text: None))
    except EmbeddedModelError as error:
        pytest.skip(f"no embedded model: {error}")
    # For the start alone: servers that other tests start are to have their processes.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        core = Core.start(str(model))
    yield core
    core.shutdown()
