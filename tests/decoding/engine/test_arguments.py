"""Options for vLLM: defaults, what the user wrote over them, and what cannot be given."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("vllm.v1.worker.cpu_worker", reason="needs vLLM's CPU build")

from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.utils.argparse_utils import FlexibleArgumentParser

from decoding.engine.arguments import EngineArgumentError, _obstacle, engine_config
from decoding.engine.counters import CoreCounters, attach, take
from decoding.engine.norms import PROVIDER
from decoding.engine.scheduler import scheduler_path
from server.embedded import default_cache_dir, prepare
from tests.test_documents import other_options


@pytest.fixture(scope="module")
def model() -> Path:
    return prepare(default_cache_dir(), print)


def test_defaults_for_cpus_and_what_the_guarantee_stands_on(model: Path) -> None:
    config = engine_config(str(model), ["m"], max_model_len=1024)
    assert config.model_config.max_model_len == 1024
    assert config.model_config.enforce_eager
    assert config.cache_config.kv_cache_memory_bytes == 2 * 1024**3
    assert config.cache_config.enable_prefix_caching
    assert config.parallel_config.worker_cls == "decoding.engine.worker.StrictcallCPUWorker"
    assert config.scheduler_config.scheduler_cls == "decoding.engine.scheduler.ForcedTokenScheduler"
    assert config.structured_outputs_config.backend == "guidance"
    assert config.parallel_config.distributed_executor_backend == "uni"
    assert config.kernel_config.ir_op_priority.rms_norm == [PROVIDER, "native"]
    assert config.kernel_config.ir_op_priority.fused_add_rms_norm == [PROVIDER, "native"]


@pytest.mark.parametrize("extra", [["--distributed-executor-backend", "mp"], ["--distributed_executor_backend=mp"]])
def test_a_worker_process_can_be_had(model: Path, extra: list[str]) -> None:
    assert engine_config(str(model), ["m"], extra=extra).parallel_config.distributed_executor_backend == "mp"


def test_other_norms_can_be_had(model: Path) -> None:
    extra = ["--ir-op-priority", '{"rms_norm": ["native"], "fused_add_rms_norm": ["vllm_c"]}']
    order = engine_config(str(model), ["m"], extra=extra).kernel_config.ir_op_priority
    assert order.fused_add_rms_norm[0] == "vllm_c"


def test_the_user_s_options_stand_over_the_defaults(model: Path) -> None:
    extra = ["--max-num-seqs", "7", "--no-enforce-eager", "--kv-cache-memory-bytes=300000000", "--dtype=float32"]
    config = engine_config(str(model), ["m"], extra=extra)
    assert config.scheduler_config.max_num_seqs == 7
    assert not config.model_config.enforce_eager
    assert config.cache_config.kv_cache_memory_bytes == 300_000_000
    assert str(config.model_config.dtype) == "torch.float32"


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--no-such-option", "1"], "--no-such-option"),
        (["stray"], "stray"),
        (["--max-num-seqs", "many"], "many"),
        (["--model", "x"], "before the --"),
        (["--served_model_name=x"], "before the --"),
        (["--worker-cls", "x.Y"], "worker class"),
        (["--scheduler-cls=x.Y"], "scheduler class"),
        (["--structured-outputs-config.backend=xgrammar"], "guidance"),
        (["--structured-outputs-config", "{}"], "guidance"),
        (["--skip-tokenizer-init"], "tokenizer"),
        (["--tool-call-parser", "hermes"], "reads the model's text itself"),
    ],
)
def test_what_cannot_be_given_is_named(model: Path, extra: list[str], words: str) -> None:
    with pytest.raises(EngineArgumentError, match=words):
        engine_config(str(model), ["m"], extra=extra)


def test_several_api_processes_have_one_engine(model: Path) -> None:
    assert engine_config(str(model), ["m"]).parallel_config._api_process_count == 1
    config = engine_config(str(model), ["m"], api_processes=3).parallel_config
    assert (config._api_process_count, config._api_process_rank) == (3, -1)
    with pytest.raises(EngineArgumentError, match="--api-processes does not go with data parallelism"):
        engine_config(str(model), ["m"], api_processes=3, extra=["--data-parallel-size", "2"])


def test_a_context_that_the_model_does_not_have_is_refused(model: Path) -> None:
    with pytest.raises(ValueError, match="max_model_len"):
        engine_config(str(model), ["m"], max_model_len=100_000)


def test_jump_forward_can_be_turned_off(model: Path) -> None:
    config = engine_config(str(model), ["m"], max_model_len=1024, jump_forward="off")
    assert config.scheduler_config.scheduler_cls == "decoding.engine.scheduler.GrammarScheduler"


SPECULATIVE = '--speculative-config={"method":"ngram","num_speculative_tokens":2,"prompt_lookup_max":3}'


def test_speculative_decoding_and_jump_forward(model: Path) -> None:
    with pytest.raises(EngineArgumentError, match=r"--jump-forward on .*--speculative-config"):
        engine_config(str(model), ["m"], max_model_len=1024, jump_forward="on", extra=[SPECULATIVE])
    config = engine_config(str(model), ["m"], max_model_len=1024, extra=[SPECULATIVE])
    assert config.scheduler_config.scheduler_cls == "decoding.engine.scheduler.GrammarScheduler"


def like_config(**fields: Any) -> Any:
    return SimpleNamespace(
        speculative_config=fields.get("speculative"),
        scheduler_config=SimpleNamespace(async_scheduling=fields.get("asynchronous", False)),
        parallel_config=SimpleNamespace(pipeline_parallel_size=fields.get("pipeline", 1)),
        use_v2_model_runner=fields.get("second_runner", False),
    )


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, None),
        ({"speculative": object()}, "--speculative-config"),
        ({"pipeline": 2}, "--pipeline-parallel-size"),
        ({"asynchronous": True}, "--async-scheduling"),
        ({"second_runner": True}, "VLLM_USE_V2_MODEL_RUNNER"),
    ],
)
def test_what_rules_jump_forward_out(fields: dict[str, Any], told: str | None) -> None:
    obstacle = _obstacle(like_config(**fields))
    assert (obstacle is None) if told is None else (obstacle is not None and told in obstacle)


def test_scheduler_names() -> None:
    assert scheduler_path(asynchronous=False, jump_forward=True).endswith(".ForcedTokenScheduler")
    assert scheduler_path(asynchronous=False, jump_forward=False).endswith(".GrammarScheduler")
    assert scheduler_path(asynchronous=True, jump_forward=False).endswith(".AsyncGrammarScheduler")
    with pytest.raises(ValueError, match="synchronous"):
        scheduler_path(asynchronous=True, jump_forward=True)


def test_counters_ride_unseen() -> None:
    stats = SimpleNamespace(running_lora_adapters={"mine": 1})
    counters = CoreCounters(forward_passes=3, forced_tokens=2, grammar_compile_microseconds=5)
    attach(stats, counters)
    assert take(stats) == counters
    assert stats.running_lora_adapters == {"mine": 1}
    assert take(stats) is None


def test_options_that_the_documents_name_are_vllm_s() -> None:
    parser = AsyncEngineArgs.add_cli_args(FlexibleArgumentParser(add_help=False))
    assert other_options() <= {option for action in parser._actions for option in action.option_strings}
