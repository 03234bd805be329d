from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from decoding.engine.arguments import EngineArgumentError, _obstacle, engine_config
from decoding.engine.counters import CoreCounters, attach, take
from decoding.engine.scheduler import scheduler_path

MODEL = "no/model"


def config(**fields: Any) -> Any:
    scheduler = SimpleNamespace(async_scheduling=fields.get("async_scheduling", False))
    parallel = SimpleNamespace(pipeline_parallel_size=fields.get("pipeline", 1))
    return SimpleNamespace(
        speculative_config=fields.get("speculative"),
        scheduler_config=scheduler,
        parallel_config=parallel,
        use_v2_model_runner=fields.get("second_runner", False),
    )


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, None),
        ({"speculative": object()}, "--speculative-config"),
        ({"pipeline": 2}, "--pipeline-parallel-size"),
        ({"async_scheduling": True}, "--async-scheduling"),
        ({"second_runner": True}, "VLLM_USE_V2_MODEL_RUNNER"),
    ],
)
def test_what_rules_jump_forward_out(fields: dict[str, Any], told: str | None) -> None:
    obstacle = _obstacle(config(**fields))
    assert (obstacle is None) if told is None else (obstacle is not None and told in obstacle)


@pytest.mark.parametrize("option", ["--worker-cls=x", "--scheduler-cls", "--structured-outputs-config.backend=xgrammar"])
def test_options_that_strictcall_sets(option: str) -> None:
    with pytest.raises(EngineArgumentError, match=option.split("=")[0].split(".")[0]):
        engine_config(MODEL, ["m"], extra=[option])


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
