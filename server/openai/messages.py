"""The conversation: every role a client sends, checked, and brought to the one form that rendering reads.

Rendering gets messages with string ``content``, tool results with their ``tool_call_id`` and earlier calls with their
arguments as the text that was sent. The deprecated function call of old clients becomes a tool call on the way.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from server.errors import bad_request

T = TypeVar("T")
#: A body of a few megabytes has room for millions of items and faults: the first fault is told, and there is a limit.
Many: TypeAlias = Annotated[list[T], Field(fail_fast=True, max_length=32_768)]
NAME_PATTERN = "^[a-zA-Z0-9_-]+$"
Name: TypeAlias = Annotated[str, Field(pattern=NAME_PATTERN, max_length=64)]


class Wire(BaseModel):
    """A part of a request: types are not coerced, unknown fields are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class TextPart(Wire):
    type: Literal["text"]
    text: str


class RefusalPart(Wire):
    type: Literal["refusal"]
    refusal: str


class MediaPart(Wire):
    type: Literal["image_url", "input_audio", "file", "video_url", "audio_url"]


def _content_kind(value: Any) -> str:
    return "parts" if isinstance(value, list) else "string"


def _result_kind(value: Any) -> str:
    return "json" if isinstance(value, dict | bool | int | float) else _content_kind(value)


TextParts: TypeAlias = Many[TextPart]
UserParts: TypeAlias = Many[Annotated[TextPart | MediaPart, Field(discriminator="type")]]
AssistantParts: TypeAlias = Many[Annotated[TextPart | RefusalPart, Field(discriminator="type")]]
TextContent: TypeAlias = Annotated[
    Annotated[str, Tag("string")] | Annotated[TextParts, Tag("parts")], Discriminator(_content_kind)
]
UserContent: TypeAlias = Annotated[
    Annotated[str, Tag("string")] | Annotated[UserParts, Tag("parts")], Discriminator(_content_kind)
]
AssistantContent: TypeAlias = Annotated[
    Annotated[str, Tag("string")] | Annotated[AssistantParts, Tag("parts")], Discriminator(_content_kind)
]

#: What a tool gave back. Some clients send the value itself and not its text.
ResultContent: TypeAlias = Annotated[
    Annotated[str, Tag("string")]
    | Annotated[TextParts, Tag("parts")]
    | Annotated[dict[str, Any] | bool | int | float, Tag("json")],
    Discriminator(_result_kind),
]


class CalledFunction(Wire):
    """An earlier call. Its arguments are JSON text; an object, which some clients keep, is taken as that text."""

    name: Name
    arguments: str | dict[str, Any]


class FunctionCall(Wire):
    id: str
    type: Literal["function"]
    function: CalledFunction


class CustomCall(Wire):
    id: str
    type: Literal["custom"]


Call: TypeAlias = Annotated[FunctionCall | CustomCall, Field(discriminator="type")]


class SystemMessage(Wire):
    role: Literal["system", "developer"]
    content: TextContent
    name: str | None = None


class UserMessage(Wire):
    role: Literal["user"]
    content: UserContent
    name: str | None = None


class AssistantMessage(Wire):
    role: Literal["assistant"]
    content: AssistantContent | None = None
    refusal: str | None = None
    name: str | None = None
    tool_calls: Many[Call] | None = None
    function_call: CalledFunction | None = None
    audio: dict[str, Any] | None = None
    reasoning_content: str | None = None


class ToolMessage(Wire):
    role: Literal["tool"]
    tool_call_id: str
    content: ResultContent | None = None


class FunctionMessage(Wire):
    role: Literal["function"]
    name: Name
    content: ResultContent | None = None


Message: TypeAlias = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage | FunctionMessage, Field(discriminator="role")
]


def conversation(messages: list[Message]) -> list[dict[str, Any]]:
    """The messages as rendering reads them. Raises ApiError where the history does not add up."""
    if not messages:
        raise bad_request("'messages' is empty; at least one message is needed.", "messages", "empty_array")
    rendered: list[dict[str, Any]] = []
    open_calls: dict[str, bool] = {}  # id → answered, of the assistant message that tool messages may answer now
    asked_at = 0
    for i, message in enumerate(messages):
        if isinstance(message, ToolMessage | FunctionMessage):
            tool_id = _answered_call(message, open_calls, i)
            open_calls[tool_id] = True
            rendered.append({"role": "tool", "tool_call_id": tool_id, "content": _text(message.content, i)})
            continue
        _refuse_unanswered(open_calls, asked_at)
        open_calls, asked_at = {}, i
        if isinstance(message, AssistantMessage):
            rendered.append(_assistant(message, i))
            open_calls = {call["id"]: False for call in rendered[-1].get("tool_calls", ())}
        else:
            entry = {"role": message.role, "content": _text(message.content, i)}
            rendered.append(entry | ({"name": message.name} if message.name is not None else {}))
    _refuse_unanswered(open_calls, asked_at)
    return rendered


def _answered_call(message: ToolMessage | FunctionMessage, open_calls: dict[str, bool], i: int) -> str:
    if isinstance(message, FunctionMessage):
        tool_id = _legacy_id(message.name)
        said = "messages with role 'function' must be a response to a preceding message with 'function_call'."
    else:
        tool_id = message.tool_call_id
        said = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
    if tool_id not in open_calls:
        raise bad_request(f"Invalid parameter: {said} 'messages[{i}]' answers none.", f"messages.[{i}].role")
    return tool_id


def _refuse_unanswered(open_calls: dict[str, bool], asked_at: int) -> None:
    missing = [tool_id for tool_id, answered in open_calls.items() if not answered]
    if missing:
        raise bad_request(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids of 'messages[{asked_at}]' did not have response messages: "
            f"{', '.join(missing)}",
            "messages",
        )


def _assistant(message: AssistantMessage, i: int) -> dict[str, Any]:
    if message.audio is not None:
        raise bad_request("This server has no audio; earlier answers must be text.", f"messages[{i}].audio")
    calls: list[dict[str, Any]] = []
    ids: set[str] = set()
    for j, call in enumerate(message.tool_calls or ()):
        if isinstance(call, CustomCall):
            raise bad_request(
                "Custom tool calls are not supported; declare the tool as type 'function'.",
                f"messages[{i}].tool_calls[{j}].type",
            )
        if call.id in ids:
            raise bad_request(
                f"The id {call.id!r} is used by two calls of one message.", f"messages[{i}].tool_calls[{j}].id"
            )
        ids.add(call.id)
        calls.append(_call(call.id, call.function))
    if message.function_call is not None:
        calls.append(_call(_legacy_id(message.function_call.name), message.function_call))
    entry: dict[str, Any] = {"role": "assistant", "content": _text(message.content, i) or message.refusal or ""}
    if message.reasoning_content is not None:
        entry["reasoning_content"] = message.reasoning_content
    if calls:
        entry["tool_calls"] = calls
    return entry


def _call(tool_id: str, function: CalledFunction) -> dict[str, Any]:
    return {
        "id": tool_id,
        "type": "function",
        "function": {"name": function.name, "arguments": _json_text(function.arguments)},
    }


def _legacy_id(name: str) -> str:
    return f"function_call:{name}"


def _json_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(content: Any, i: int) -> str:
    """The text of a message; text parts are paragraphs of it, another value stands as its JSON."""
    if content is None:
        return ""
    if not isinstance(content, list):
        return _json_text(content)
    texts: list[str] = []
    for j, part in enumerate(content):
        if isinstance(part, MediaPart):
            raise bad_request(
                f"This model reads text only; a part of type {part.type!r} cannot be used.",
                f"messages[{i}].content[{j}].type",
                "unsupported_content",
            )
        texts.append(part.text if isinstance(part, TextPart) else part.refusal)
    return "\n".join(texts)
