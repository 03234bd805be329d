"""A Chat Completions request: every field of the API, honoured, harmless, or refused with a reason."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from server.asking import Ask, JsonAnswer
from server.engine_client import SamplingOptions
from server.errors import ApiError, bad_request
from server.openai.faults import request_fault
from server.openai.messages import Many, Message, Name, Wire, conversation
from server.openai.tools import ChatTool, ChoiceObject, chosen, tool_specs


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Fields that other servers read as a constraint on the answer. Ignoring one would be a silent loss of it.
CONSTRAINTS = _names(
    "guided_json guided_regex guided_choice guided_grammar guided_decoding_backend "
    "guided_whitespace_pattern guided_json_object guided_decoding structured_outputs structural_tag "
    "grammar grammar_type json_schema json_object regex ebnf choice json lark format output_config "
    "json_mode"
)
REFUSED = {
    "functions": "'functions' is deprecated and not supported; use 'tools'.",
    "function_call": "'function_call' is deprecated and not supported; use 'tool_choice'.",
    "audio": "This server has no audio output; leave 'audio' out.",
    "web_search_options": "This server has no web search; leave 'web_search_options' out.",
    "moderation": "This server has no moderation; leave 'moderation' out.",
}
TEMPLATE_RESERVED = _names(
    "messages conversation tools documents chat_template add_generation_prompt continue_final_message "
    "tokenize return_dict return_tensors tool_choice"
)

_PART = 1000

Short: TypeAlias = Annotated[str, StringConstraints(max_length=64)]


def _choice_kind(value: Any) -> str:
    return "object" if isinstance(value, dict) else "string"


def _stop_kind(value: Any) -> str:
    return "array" if isinstance(value, list) else "string"


def _a_part_at_a_time(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """A body of a few megabytes has room for a million faults; those of the first part are enough."""
    if not isinstance(value, dict) or len(value) <= _PART:
        return check(value)
    items = iter(value.items())
    found: dict[str, float] = {}
    while part := dict(islice(items, _PART)):
        found |= check(part)
    return found


StopString: TypeAlias = Annotated[str, StringConstraints(min_length=1)]


class JsonSchema(Wire):
    name: Name
    description: str | None = None
    json_schema: dict[str, Any] | None = Field(default=None, alias="schema")
    strict: bool | None = None


class TextFormat(Wire):
    type: Literal["text"]


class JsonObjectFormat(Wire):
    type: Literal["json_object"]


class JsonSchemaFormat(Wire):
    type: Literal["json_schema"]
    json_schema: JsonSchema


class StreamOptions(Wire):
    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class Prediction(Wire):
    type: Literal["content"]
    content: Any = None


class ChatRequest(Wire):
    """The body of ``POST /v1/chat/completions``. ``null`` means absent throughout."""

    # What is asked
    model: str
    messages: Many[Message]
    tools: Many[ChatTool] | None = None
    tool_choice: (
        Annotated[
            Annotated[Literal["none", "auto", "required"], Tag("string")] | Annotated[ChoiceObject, Tag("object")],
            Discriminator(_choice_kind),
        ]
        | None
    ) = None
    parallel_tool_calls: bool | None = None
    response_format: Annotated[TextFormat | JsonObjectFormat | JsonSchemaFormat, Field(discriminator="type")] | None = (
        None
    )
    stream: bool | None = None
    stream_options: StreamOptions | None = None

    # How to sample
    n: Annotated[int, Field(ge=1, le=128)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), le=2**63 - 1)] | None = None
    logit_bias: (
        Annotated[dict[str, Annotated[float, Field(ge=-100, le=100)]], WrapValidator(_a_part_at_a_time)] | None
    ) = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    stop: (
        Annotated[
            Annotated[StopString, Tag("string")]
            | Annotated[Annotated[Many[StopString], Field(max_length=4)], Tag("array")],
            Discriminator(_stop_kind),
        ]
        | None
    ) = None

    # Beyond OpenAI's API, as vLLM's clients send them
    top_k: Annotated[int, Field(ge=-1, le=2**31 - 1)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    # Near nothing it would make numbers of the logits that a mask has no hold on.
    repetition_penalty: Annotated[float, Field(ge=0.01, le=10)] | None = None
    chat_template_kwargs: dict[str, Any] | None = None

    # Known to the chat template of some models
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None

    # Of no influence on the answer here
    metadata: (
        Annotated[
            dict[Short, Annotated[str, StringConstraints(max_length=512)]],
            Field(max_length=16),
            WrapValidator(_a_part_at_a_time),
        ]
        | None
    ) = None
    modalities: Many[str] | None = None
    prediction: Prediction | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: dict[str, Any] | None = None
    prompt_cache_retention: str | None = None
    safety_identifier: Annotated[str, StringConstraints(max_length=128)] | None = None
    service_tier: Literal["auto", "default", "flex", "scale", "priority", "fast"] | None = None
    store: bool | None = None
    user: str | None = None
    verbosity: Literal["low", "medium", "high"] | None = None

    @property
    def streamed(self) -> bool:
        return self.stream is True

    @property
    def with_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage is True


def parse_chat(body: dict[str, Any]) -> ChatRequest:
    """Check the types and ranges of every field. Raises ApiError 400 that names the field."""
    for name, value in body.items():
        if value is None:
            continue
        if name in REFUSED:
            raise bad_request(REFUSED[name], name, "unsupported_parameter")
        if name in CONSTRAINTS:
            raise bad_request(
                f"'{name}' asks for a constraint that this server does not know; use 'tools' or 'response_format'.",
                name,
                "unsupported_parameter",
            )
    try:
        request = ChatRequest.model_validate(body)
    except ValidationError as error:
        raise request_fault(error, body) from None
    _check_together(request)
    return request


def ask_of(request: ChatRequest) -> Ask:
    """The request without its wire form. Raises ApiError 400."""
    messages = conversation(request.messages)
    tools = tool_specs(request.tools)
    kwargs = dict(request.chat_template_kwargs or {})
    if request.reasoning_effort is not None:
        kwargs.setdefault("reasoning_effort", request.reasoning_effort)
        if request.reasoning_effort == "none":
            # The names that the families' templates have for it.
            kwargs.setdefault("enable_thinking", False)
            kwargs.setdefault("thinking", False)
    return Ask(
        messages=messages,
        tools=tools,
        tool_choice=chosen(request.tool_choice, [tool.name for tool in tools]),
        parallel=request.parallel_tool_calls is not False,
        json_answer=_json_answer(request),
        sampling=_sampling(request),
        n=request.n or 1,
        stops=_stops(request.stop),
        max_tokens=request.max_completion_tokens or request.max_tokens,
        max_tokens_field="max_completion_tokens" if request.max_completion_tokens else "max_tokens",
        template_kwargs=kwargs,
    )


def _stops(stop: str | list[str] | None) -> tuple[str, ...]:
    if stop is None:
        return ()
    return (stop,) if isinstance(stop, str) else tuple(stop)


def _json_answer(request: ChatRequest) -> JsonAnswer | None:
    """The schema of the answer's text. It is enforced whether or not ``strict`` is given."""
    wanted = request.response_format
    if wanted is None or isinstance(wanted, TextFormat):
        return None
    if isinstance(wanted, JsonObjectFormat) or wanted.json_schema.json_schema is None:
        return JsonAnswer({"type": "object"}, "response_format")
    return JsonAnswer(wanted.json_schema.json_schema, "response_format")


def _sampling(request: ChatRequest) -> SamplingOptions:
    return SamplingOptions(
        temperature=1.0 if request.temperature is None else request.temperature,
        top_p=1.0 if request.top_p is None else request.top_p,
        top_k=max(request.top_k or 0, 0),
        min_p=request.min_p or 0.0,
        presence_penalty=request.presence_penalty or 0.0,
        frequency_penalty=request.frequency_penalty or 0.0,
        repetition_penalty=request.repetition_penalty or 1.0,
        seed=request.seed,
        logit_bias=_logit_bias(request.logit_bias),
        logprobs=(request.top_logprobs or 0) if request.logprobs else None,
    )


def _logit_bias(biases: dict[str, float] | None) -> dict[int, float] | None:
    for token in biases or ():
        if not (token.isascii() and token.isdecimal() and len(token) < 20):
            raise bad_request(
                f"The keys of 'logit_bias' are token ids; {token[:40]!r} is none.", "logit_bias", "invalid_value"
            )
    return {int(token): bias for token, bias in biases.items()} if biases else None


def _check_together(request: ChatRequest) -> None:
    """Fields that are fine alone and wrong beside each other."""
    if request.stream_options is not None and not request.streamed:
        raise bad_request("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    if request.top_logprobs is not None and not request.logprobs:
        raise bad_request("'top_logprobs' needs 'logprobs' to be true.", "top_logprobs")
    if request.modalities is not None and request.modalities != ["text"]:
        raise bad_request("This server answers in text only.", "modalities", "unsupported_parameter")
    tokens, completion = request.max_tokens, request.max_completion_tokens
    if tokens is not None and completion is not None and tokens != completion:
        raise bad_request(
            "'max_tokens' and 'max_completion_tokens' differ; give 'max_completion_tokens' alone.", "max_tokens"
        )
    reserved = TEMPLATE_RESERVED & (request.chat_template_kwargs or {}).keys()
    if reserved:
        name = min(reserved)
        raise _reserved(name)


def _reserved(name: str) -> ApiError:
    return bad_request(
        f"'{name}' is set by the server and cannot be a template argument.", f"chat_template_kwargs.{name}"
    )
