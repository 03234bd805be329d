"""A request on its way into vLLM.

``AsyncLLM.add_request`` takes any kind of prompt and of parameters, makes a collector for what comes back, and draws a
UUID. A text request whose prompt is tokens needs the middle of it: vLLM's checks, its books, and the message.
"""

from __future__ import annotations

from secrets import token_hex

from vllm import SamplingParams
from vllm.inputs.engine import tokens_input
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.engine.exceptions import EngineDeadError
from vllm.v1.engine.output_processor import RequestOutputCollector


async def submit(
    llm: AsyncLLM, prompt: list[int], params: SamplingParams, request_id: str, receiver: RequestOutputCollector
) -> None:
    """Start one generation (``params.n`` is 1); what comes of it goes to ``receiver``.

    Raises what ``AsyncLLM.add_request`` does: EngineDeadError, and the faults that vLLM finds in prompt and parameters.
    """
    if llm.errored:
        raise EngineDeadError
    request = llm.input_processor.process_inputs(
        request_id, tokens_input(prompt), params, supported_tasks=await llm.get_supported_tasks()
    )
    # Inside vLLM a request has an id of its own, whatever ids its users give.
    request.external_req_id = request_id
    request.request_id = f"{request_id}-{token_hex(4)}"
    llm._run_output_handler()
    await llm._add_request(request, None, None, 0, receiver)


def keep_end_of_sequence(llm: AsyncLLM) -> None:
    """Look the end-of-sequence token up once: vLLM asks the tokenizer for it with every request, which takes a copy
    from a pool to do so."""
    renderer = llm.input_processor.renderer
    token = renderer.get_eos_token_id()
    renderer.get_eos_token_id = lambda: token
