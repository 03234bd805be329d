"""Is an answer what its request may get? Unstreamed ones are first brought into the form of streamed ones."""

from __future__ import annotations

from typing import Any

from loadtest.scenarios import Scenario
from loadtest.stream_answer import StreamedCall, StreamedChoice
from loadtest.tools import call_faults
from loadtest.validity import NotStrictJsonError, schema_faults, strict_json

_MESSAGE_KEYS = {"role", "content", "refusal", "annotations", "tool_calls", "reasoning_content", "incomplete_tool_call"}


def full_answer(body: dict[str, Any]) -> tuple[list[StreamedChoice], list[str]]:
    """Read a ``chat.completion`` object: its choices, and what is wrong with its form."""
    faults, choices = [], []
    if body.get("object") != "chat.completion":
        faults.append(f"object is {body.get('object')!r}")
    usage = body.get("usage") or {}
    if usage.get("total_tokens") != usage.get("prompt_tokens", 0) + usage.get("completion_tokens", -1):
        faults.append(f"usage {usage}")
    for position, entry in enumerate(body["choices"]):
        message, choice = entry["message"], StreamedChoice(entry["index"], finish_reason=entry["finish_reason"])
        if entry["index"] != position or message.get("role") != "assistant" or "content" not in message:
            faults.append(f"choice {position}: {str(entry)[:200]}")
        if unknown := set(message) - _MESSAGE_KEYS:
            faults.append(f"choice {position}: unknown keys {sorted(unknown)}")
        if "tool_calls" in message and not message["tool_calls"]:
            faults.append(f"choice {position}: tool_calls must be absent when there are none")
        choice.content = message.get("content") or ""
        choice.logprobs = (entry.get("logprobs") or {}).get("content") or []
        for call in message.get("tool_calls") or []:
            if set(call) != {"id", "type", "function"} or call["type"] != "function":
                faults.append(f"choice {position}: a call is {str(call)[:200]}")
            function = call["function"]
            choice.calls.append(StreamedCall(call["id"], function["name"], 0.0, [function["arguments"]]))
        if (choice.finish_reason == "tool_calls") != bool(choice.calls) and choice.finish_reason != "length":
            faults.append(f"choice {position}: {choice.finish_reason} with {len(choice.calls)} calls")
        choices.append(choice)
    return choices, faults


def whole_calls(choice: StreamedChoice, *, streamed: bool) -> list[StreamedCall]:
    """The calls that the answer presents as complete: a stream ended by ``length`` may have cut its last one."""
    if not (streamed and choice.finish_reason == "length" and choice.calls):
        return choice.calls
    try:
        strict_json(choice.calls[-1].arguments)
    except NotStrictJsonError:
        return choice.calls[:-1]
    return choice.calls  # the budget ended just after it: an object's text is whole only once its brace is closed


def choice_faults(scenario: Scenario, choice: StreamedChoice) -> list[str]:
    """What is wrong with one choice of the answer to this request."""
    body, faults = scenario.body, []
    calls = whole_calls(choice, streamed=scenario.streamed)
    cut = choice.finish_reason == "length"
    allowed, forced = _allowed(body)
    for call in calls:
        faults += call_faults(call.name, call.arguments, list(scenario.tools))
        if call.name not in allowed:
            faults.append(f"{call.name} was called, tool_choice allows {sorted(allowed)}")
    if forced and not choice.calls and not cut:
        faults.append(f"a call was required; finish_reason {choice.finish_reason}, content {choice.content[:80]!r}")
    if body.get("parallel_tool_calls") is False and len(choice.calls) > 1:
        faults.append(f"{len(choice.calls)} calls although parallel_tool_calls is false")
    if not choice.calls and not cut and "stop" not in body:
        faults += _format_faults(body, choice.content)
    if body.get("logprobs") and (choice.content or calls):
        faults += _logprob_faults(choice, int(body.get("top_logprobs") or 0))
    return [f"choice {choice.index}: {fault}" for fault in faults]


def _allowed(body: dict[str, Any]) -> tuple[set[str], bool]:
    """The names that may be called, and whether a call must be made."""
    offered = {tool["function"]["name"] for tool in body.get("tools") or []}
    choice = body.get("tool_choice") or ("auto" if offered else "none")
    if isinstance(choice, str):
        return (set() if choice == "none" else offered), choice == "required"
    if choice["type"] == "function":
        return {choice["function"]["name"]}, True
    allowed = choice["allowed_tools"]
    return {tool["function"]["name"] for tool in allowed["tools"]}, allowed["mode"] == "required"


def _format_faults(body: dict[str, Any], content: str) -> list[str]:
    wanted = body.get("response_format") or {"type": "text"}
    if wanted["type"] == "text":
        return []
    try:
        value = strict_json(content)
    except NotStrictJsonError as error:
        return [f"{wanted['type']}: {error}: {content[:200]!r}"]
    if wanted["type"] == "json_object":
        return [] if isinstance(value, dict) else [f"json_object: {content[:200]!r}"]
    return [f"json_schema: {fault}" for fault in schema_faults(value, wanted["json_schema"]["schema"])]


def _logprob_faults(choice: StreamedChoice, top: int) -> list[str]:
    if not choice.logprobs:
        return ["logprobs were asked for and are missing"]
    for entry in choice.logprobs:
        if not {"token", "logprob", "bytes", "top_logprobs"} <= set(entry):
            return [f"a logprobs entry is {entry}"]
        if len(entry["top_logprobs"]) > top or (top and not entry["top_logprobs"]):
            return [f"{len(entry['top_logprobs'])} top_logprobs instead of {top}"]
        if entry["logprob"] > 1e-6:
            return [f"a logprob above 0: {entry['logprob']}"]
    return []
