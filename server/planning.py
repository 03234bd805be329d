"""From what is asked to what the engine needs: compiled schemas, one grammar, a rendered prompt."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from typing import Any, Literal

from decoding import formats
from decoding.formats import Format
from decoding.grammar import json_grammar, offered_tools, tool_grammar
from decoding.reasoning import has_unseen_marks, mode_of
from decoding.rendering import render_text
from decoding.tokenising import tokenise
from decoding.tools import NO_ARGUMENTS_AS_SHOWN, Tool, ToolChoice, argument_schema
from schemas import CompiledSchema, SchemaError
from server.asking import Ask, JsonAnswer, ToolSpec
from server.compiler import Compiler, Schema, as_written
from server.engine_client import EngineClient, Sampling, SamplingOptions
from server.errors import ApiError, bad_request
from server.plan import Plan

log = logging.getLogger(__name__)

_RENDER_THREADS = 4
_LEAST_TOP_P = 1e-6  # the engine wants more than 0; this keeps the likeliest token alone
_SAMPLING = [field.name for field in fields(SamplingOptions)]


class Planner:
    """Makes plans for one engine. Rendering and tokenising happen in threads, so that the event loop stays free."""

    def __init__(
        self,
        engine: EngineClient,
        compiler: Compiler,
        *,
        fmt: Format,
        undeclared: Literal["forbid", "allow"],
        refused_tools: Literal["error", "omit"] = "error",
    ) -> None:
        self._engine = engine
        self._compiler = compiler
        self._fmt = fmt
        self._undeclared = undeclared
        self._omit = refused_tools == "omit"
        self._threads = ThreadPoolExecutor(_RENDER_THREADS, thread_name_prefix="render")
        vocabulary: dict[str, int] = engine.tokenizer.get_vocab()
        self._vocabulary = len(vocabulary)
        self._special_ids = frozenset(getattr(engine.tokenizer, "all_special_ids", ()))
        self._longest_token = max(map(len, vocabulary))

    @property
    def format_name(self) -> str:
        return self._fmt.name

    def at_once(self, ask: Ask, request_id: str) -> Plan | None:
        """The plan that ``plan`` makes, if all its schemas and grammars are known by now; ``None`` otherwise. For short
        requests: it renders the conversation where it is called. Raises ApiError."""
        self._check_bias(ask.sampling)
        self._check_size(ask)
        compiled = self._compiler.at_hand(
            [spec.parameters for spec in ask.tools], self._undeclared, argument_schema, self._fmt.spelling
        )
        wanted = [] if ask.json_answer is None else [ask.json_answer.schema]
        answers = self._compiler.at_hand(wanted, "allow", self._answers_as(ask))
        if compiled is None or answers is None:
            return None
        plan = self._finish(ask, request_id, list(map(_tool, ask.tools, compiled)), answers[0] if answers else None)
        return plan if plan.grammar is None or self._compiler.has_tried(plan.grammar) else None

    async def plan(self, ask: Ask, request_id: str) -> Plan:
        """Raises ApiError 400 for what cannot be generated: a schema, a token id, a length, a conversation."""
        self._check_bias(ask.sampling)
        self._check_size(ask)
        tools, omitted = await self._tools(ask)
        answer = None if ask.json_answer is None else await self._answer(ask.json_answer, self._answers_as(ask))
        loop = asyncio.get_running_loop()
        plan = await loop.run_in_executor(self._threads, self._finish, ask, request_id, tools, answer)
        if omitted:
            plan = replace(plan, omitted=omitted)
        if plan.grammar is not None:
            await self._try(plan.grammar)
        return plan

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _tools(self, ask: Ask) -> tuple[list[Tool], tuple[str, ...]]:
        """The tools, compiled side by side, and the names of those left out: with ``refused_tools`` "omit", a tool
        whose schema is refused is not offered, unless the request insists on it."""
        made = await asyncio.gather(*map(self._tool, ask.tools), return_exceptions=True)
        faults = [fault for fault in made if isinstance(fault, BaseException)]
        tools = [tool for tool in made if isinstance(tool, Tool)]
        if not faults:
            return tools, ()
        names, mode = ask.tool_choice.names, ask.tool_choice.mode
        usable = [tool for tool in tools if names is None or tool.name in names]
        if not self._omit or not all(map(_refuses_schema, faults)) or (mode == "required" and not usable):
            raise faults[0]
        for fault in faults:
            log.warning("a tool is left out: %s", fault)
        return tools, tuple(spec.name for spec, tool in zip(ask.tools, made, strict=True) if not isinstance(tool, Tool))

    async def _tool(self, spec: ToolSpec) -> Tool:
        try:
            compiled = await self._compiler.compile(
                spec.parameters, self._undeclared, argument_schema, self._fmt.spelling
            )
        except SchemaError as error:
            # Where the schema had to be wrapped (a reference to its root), the pointer is still the client's.
            pointer = error.path if "allOf" in (spec.parameters or {}) else error.path.removeprefix("/allOf/0")
            raise bad_request(
                f"Invalid schema for function {spec.name!r}: {_where(pointer, error)}",
                spec.where,
                "invalid_function_parameters",
            ) from None
        return _tool(spec, compiled)

    async def _try(self, grammar: str) -> None:
        """Each schema has passed alone; together they may be too much for the grammar engine."""
        try:
            await self._compiler.try_grammar(grammar)
        except SchemaError as error:
            raise bad_request(
                f"The tools together are too complex: {error.reason}. Offer fewer or simpler tools.",
                "tools",
                "invalid_function_parameters",
            ) from None

    def _answers_as(self, ask: Ask) -> Callable[[Any], Schema]:
        """What the schema of a JSON answer becomes: beside calls that are JSON themselves none may look like one."""
        beside_calls = bool(ask.tools) and ask.tool_choice.mode == "auto"
        return (self._fmt.answers_apart if beside_calls else None) or as_written

    async def _answer(self, wanted: JsonAnswer, prepare: Callable[[Any], Schema]) -> CompiledSchema:
        try:
            if prepare is not as_written:
                with contextlib.suppress(SchemaError):
                    return await self._compiler.compile(wanted.schema, "allow", prepare)
                # All that it allows looks like a call, or it is refused in any case.
            return await self._compiler.compile(wanted.schema, "allow")
        except SchemaError as error:
            raise bad_request(
                f"Invalid schema for response_format: {_where(error.path, error)}", wanted.where
            ) from None

    def _finish(self, ask: Ask, request_id: str, tools: list[Tool], answer: CompiledSchema | None) -> Plan:
        choice = ask.tool_choice
        if choice.names is not None:  # without those that were left out
            choice = replace(choice, names=tuple(n for n in choice.names if any(n == tool.name for tool in tools)))
        chosen = offered_tools(tools, choice)
        prompt, end = self._render(ask, tools, choice)
        template = self._engine.tokenizer.chat_template
        template = template if isinstance(template, str) else str(template)
        reasoning = mode_of(self._fmt, end, template, ask.template_kwargs)
        grammar: str | None = None
        # Where no call is allowed but calls are known from the conversation, the grammar keeps their markup out.
        # Without a grammar special tokens are no part of the text: where an answer has such marks, it needs one.
        known = bool(tools) or any("tool_calls" in message for message in ask.messages)
        marked = has_unseen_marks(self._fmt, reasoning, self._special_ids)
        if chosen or (answer is None and (known or marked)) or (answer is not None and (reasoning != "none" or marked)):
            built = tool_grammar(chosen, choice, ask.parallel, self._fmt, reasoning, response=answer)
            grammar = built.cfg.definition
        elif answer is not None:
            grammar = json_grammar(answer).cfg.definition
        return Plan(
            request_id=request_id,
            prompt=prompt,
            sampling=self._sampling(ask, len(prompt)),
            fmt=self._fmt,
            tools={tool.name: tool for tool in chosen},
            tool_choice=choice,
            parallel=ask.parallel,
            grammar=grammar,
            answer=answer,
            stops=ask.stops,
            n=ask.n,
            reasoning=reasoning,
            declared_only=self._undeclared == "forbid",
        )

    def _render(self, ask: Ask, tools: list[Tool], choice: ToolChoice) -> tuple[tuple[int, ...], str]:
        """The prompt's tokens, and the end of its text."""
        tokenizer = self._engine.tokenizer
        try:
            text = render_text(tokenizer, self._fmt, ask.messages, tools, choice, ask.template_kwargs)
            self._check_length(len(text), "messages and tools" if ask.tools else "messages")
            return tuple(tokenise(tokenizer, text)), text[-200:]
        except (ValueError, RecursionError) as error:
            raise bad_request(f"This conversation cannot be rendered: {str(error)[:500]}", "messages") from error

    def _sampling(self, ask: Ask, prompt_tokens: int) -> Sampling:
        wanted = {name: getattr(ask.sampling, name) for name in _SAMPLING}
        wanted["top_p"] = max(ask.sampling.top_p, _LEAST_TOP_P)
        if ask.sampling.seed is not None:
            wanted["seed"] = ask.sampling.seed % 2**63
        return Sampling(max_tokens=self._budget(ask, prompt_tokens), **wanted)

    def _budget(self, ask: Ask, prompt_tokens: int) -> int:
        context = self._engine.max_model_len
        left = context - prompt_tokens
        if left < 1:
            raise _too_long(
                f"This model's maximum context length is {context} tokens. However, your messages"
                f"{' and tools' if ask.tools else ''} resulted in {prompt_tokens} tokens. Please shorten them.",
                "messages",
            )
        if ask.max_tokens is not None and ask.max_tokens > left:
            raise _too_long(
                f"This model's maximum context length is {context} tokens. However, you requested "
                f"{prompt_tokens + ask.max_tokens} tokens ({prompt_tokens} in the messages, {ask.max_tokens} in the "
                f"completion). Reduce '{ask.max_tokens_field}' to at most {left}, or leave it out.",
                ask.max_tokens_field,
            )
        return left if ask.max_tokens is None else ask.max_tokens

    def _check_size(self, ask: Ask) -> None:
        """Refuse what cannot fit by its characters alone, before anything is spent on it."""
        self._check_length(sum(len(message["content"]) for message in ask.messages), "messages")

    def _check_length(self, characters: int, what: str) -> None:
        """The same of any text, before it is tokenised."""
        least = characters // self._longest_token
        if least > self._engine.max_model_len:
            raise _too_long(
                f"This model's maximum context length is {self._engine.max_model_len} tokens. However, your {what} "
                f"have {characters} characters, which is {least} tokens at the very least. Please shorten them.",
                "messages",
            )

    def _check_bias(self, sampling: SamplingOptions) -> None:
        for token in sampling.logit_bias or ():
            if token >= self._vocabulary:
                raise bad_request(
                    f"'logit_bias' names token {token}; this model's tokens are 0 to {self._vocabulary - 1}.",
                    "logit_bias",
                    "invalid_value",
                )


def _tool(spec: ToolSpec, compiled: CompiledSchema) -> Tool:
    shown = NO_ARGUMENTS_AS_SHOWN if spec.parameters is None else spec.parameters
    return Tool(spec.name, spec.description, shown, spec.strict, compiled)


def call_format(engine: EngineClient, name: str) -> Format:
    """The format called ``name``, or the one that the model's chat template calls for. Raises ValueError."""
    if name == "auto":
        return formats.detect(engine.tokenizer)
    return formats.bind(formats.get(name), engine.tokenizer)


def _refuses_schema(fault: BaseException) -> bool:
    return isinstance(fault, ApiError) and fault.code == "invalid_function_parameters"


def _where(pointer: str, error: SchemaError) -> str:
    keyword = f", keyword {error.keyword!r}" if error.keyword else ""
    return f"at {pointer or '/'}{keyword}: {error.reason}"


def _too_long(message: str, param: str) -> ApiError:
    return bad_request(message, param, "context_length_exceeded")
