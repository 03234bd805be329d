"""A whole Chat Completions answer, for clients that do not stream."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from decoding.deltas import TokenLogprob
from decoding.events import ArgumentsDelta, CallFinished, CallStarted, Event, Finished, Reasoning, Text
from server.generation import Choice, Step
from server.openai.logprobs import logprobs_object
from server.openai.usage import usage_object


@dataclass(slots=True)
class _Call:
    id: str
    name: str
    fragments: list[str] = field(default_factory=list)
    arguments: str | None = None  # set when the call is complete


@dataclass(slots=True)
class _Message:
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    reason: str = "stop"

    def add(self, event: Event) -> None:
        match event:
            case Text(text):
                self.text.append(text)
            case Reasoning(text):
                self.reasoning.append(text)
            case CallStarted(_, call_id, name):
                self.calls.append(_Call(call_id, name))
            case ArgumentsDelta(_, fragment):
                self.calls[-1].fragments.append(fragment)
            case CallFinished(_, arguments):
                self.calls[-1].arguments = arguments
            case Finished(reason):
                self.reason = reason


async def chat_answer(
    choices: Sequence[Choice], answer_id: str, created: int, model: str, *, with_logprobs: bool
) -> bytes:
    """Generate every choice to its end and write the answer as JSON. Raises the first fault of any choice."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_collect(choice)) for choice in choices]
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None
    body = {
        "id": answer_id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [
            {
                "index": choice.number,
                "message": _message(task.result(), choice.cut_opening),
                "logprobs": logprobs_object(task.result().logprobs) if with_logprobs else None,
                "finish_reason": task.result().reason,
            }
            for choice, task in zip(choices, tasks, strict=True)
        ],
        "usage": usage_object([choice.usage for choice in choices]),
    }
    return orjson.dumps(body)


async def _collect(choice: Choice) -> _Message:
    message = _Message()

    def add(step: Step) -> None:
        nonlocal message
        if step.restart:
            message = _Message()
        message.logprobs += step.logprobs
        for event in step.events:
            message.add(event)

    await choice.run(add)
    return message


def _message(message: _Message, cut_opening: str | None) -> dict[str, Any]:
    """``tool_calls`` is there only when there are calls; a cut one stands apart, so that nobody runs it.

    Of one that was cut before its name was known, ``text`` is what there was."""
    text = "".join(message.text)
    out: dict[str, Any] = {"role": "assistant", "content": text or (None if message.calls else ""), "refusal": None}
    if message.reasoning:
        out["reasoning_content"] = out["reasoning"] = "".join(message.reasoning)
    complete = [call for call in message.calls if call.arguments is not None]
    if complete:
        out["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in complete
        ]
    for call in message.calls:
        if call.arguments is None:
            out["incomplete_tool_call"] = {"name": call.name, "arguments": "".join(call.fragments)}
    if cut_opening is not None and "incomplete_tool_call" not in out:
        out["incomplete_tool_call"] = {"name": None, "arguments": "", "text": cut_opening}
    return out
