"""``POST /v1/chat/completions``."""

from __future__ import annotations

import time
from collections.abc import Callable
from secrets import token_hex

from starlette.requests import Request
from starlette.responses import Response

from server.bodies import json_object, read_body
from server.event_stream import EventStream
from server.generation import Choice
from server.gone import unless_gone
from server.openai.answer import chat_answer
from server.openai.errors import error_frame, error_response
from server.openai.models import check_model
from server.openai.request import ChatRequest, ask_of, parse_chat
from server.openai.stream import ChunkWriter, chat_frames
from server.outbox import Outbox
from server.plan import Plan
from server.serving import Serving, api_error

#: Bytes of a request that is planned in the event loop, within a millisecond or two, if its schemas are known.
SHORT = 4096


async def chat_completions(serving: Serving, request: Request) -> Response:
    """Answer one request, streamed or whole. Raises ApiError, ClientGone and the engine's errors."""
    asked_at = time.perf_counter()
    engine = serving.engine()
    body = await read_body(request, serving.settings.max_body_bytes, serving.settings.receive_timeout)
    chat = parse_chat(json_object(body))
    check_model(engine, chat.model)
    ask = ask_of(chat)
    answer_id = f"chatcmpl-{token_hex(16)}"
    leave = serving.admission.enter_at_once()
    if leave is None:
        with unless_gone(request.scope, request.receive):
            leave = await serving.admission.enter()
    try:
        plan = serving.plan_at_once(ask, answer_id) if len(body) <= SHORT else None
        if plan is None:
            with unless_gone(request.scope, request.receive):
                plan = await serving.plan(ask, answer_id)
        choices = serving.choices(plan, asked_at=asked_at, hold=not chat.streamed)
        if chat.streamed:
            stream = _stream(serving, chat, choices, answer_id, engine.model_names[0], leave)
            leave = _nothing  # the stream leaves when it is over
            return _with_omitted(stream, plan)
        with unless_gone(request.scope, request.receive):
            whole = await _whole(chat, choices, plan, engine.model_names[0])
        return _with_omitted(whole, plan)
    finally:
        leave()


def _nothing() -> None:
    pass


def _with_omitted(response: Response, plan: Plan) -> Response:
    if plan.omitted:
        response.headers["x-strictcall-omitted-tools"] = ", ".join(plan.omitted)
    return response


async def _whole(chat: ChatRequest, choices: list[Choice], plan: Plan, model: str) -> Response:
    answer = await chat_answer(choices, plan.request_id, int(time.time()), model, with_logprobs=bool(chat.logprobs))
    return Response(answer, media_type="application/json")


def _stream(
    serving: Serving,
    chat: ChatRequest,
    choices: list[Choice],
    answer_id: str,
    model: str,
    leave: Callable[[], None],
) -> EventStream:
    writer = ChunkWriter(answer_id, int(time.time()), model, choices=len(choices), with_usage=chat.with_usage)
    return EventStream(
        lambda write_now: chat_frames(
            Outbox(choices), writer, choices, write_now, keepalive=serving.settings.keepalive_seconds
        ),
        fault_response=lambda fault: error_response(api_error(fault)),
        fault_frame=lambda fault: error_frame(api_error(fault)),
        on_close=leave,
        on_gone=serving.metrics.disconnects.inc,
        send_timeout=serving.settings.send_timeout,
    )
