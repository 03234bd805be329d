"""Random Chat Completions requests for the soak: every field that changes how the engine works, in any combination."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any, Literal

from loadtest.tools import LoadTool

Expect = Literal["answer", "client error"]

ANSWER_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 30}, "sunny": {"type": "boolean"}},
    "required": ["city", "sunny"],
    "additionalProperties": False,
}
_STORY = "the river runs past seven old houses and a mill where nobody has lived since the great flood of that year"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One request. ``drop_after``: the client goes away after that many seconds (None: it stays)."""

    body: dict[str, Any]
    tools: tuple[LoadTool, ...] = ()
    expect: Expect = "answer"
    drop_after: float | None = None
    labels: tuple[str, ...] = field(default_factory=tuple)

    @property
    def streamed(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def budget(self) -> int:
        """Completion tokens that a choice may have; 0 where the request does not say, or says nonsense on purpose."""
        asked = self.body.get("max_tokens") or self.body.get("max_completion_tokens")
        return asked if isinstance(asked, int) else 0

    @property
    def choices(self) -> int:
        return int(self.body.get("n") or 1)


def random_scenario(
    rng: random.Random, pool: list[LoadTool], model: str, vocabulary: int, prompt_words: int
) -> Scenario:
    """Draw one request.

    ``vocabulary`` bounds the token ids of ``logit_bias``; ``prompt_words`` the length of the longest prompts, in words.
    """
    if rng.random() < 0.06:
        return _bad_request(rng, pool, model)
    tools = tuple(rng.sample(pool, min(len(pool), rng.choice([1, 1, 2, 3, 6]))))
    if rng.random() < 0.12:
        tools = ()
    body: dict[str, Any] = {"model": model, "messages": _messages(rng, tools, prompt_words)}
    labels: list[str] = []
    if tools:
        body["tools"] = [_maybe_strict(rng, tool.wire()) for tool in tools]
        labels.append(_tool_choice(rng, body, tools))
        if rng.random() < 0.5:
            body["parallel_tool_calls"] = rng.random() < 0.5
    _response_format(rng, body, labels)
    _sampling(rng, body, vocabulary, labels)
    body[rng.choice(["max_tokens", "max_completion_tokens"])] = rng.choice([1, 8, 32, 64, 96, 128, 192])
    if rng.random() < 0.6:
        body["stream"] = True
        if rng.random() < 0.5:
            body["stream_options"] = {"include_usage": True}
    drop_after = rng.uniform(0.05, 4.0) if rng.random() < 0.12 else None
    return Scenario(body, tools, "answer", drop_after, tuple(labels))


def _maybe_strict(rng: random.Random, wire: dict[str, Any]) -> dict[str, Any]:
    # strict:false only: strict:true asks for the strict subset, and the corpus is not written in it.
    if rng.random() < 0.2:
        wire["function"]["strict"] = False
    return wire


def _tool_choice(rng: random.Random, body: dict[str, Any], tools: tuple[LoadTool, ...]) -> str:
    mode = rng.choice(["auto", "required", "required", "named", "named", "allowed_tools", "none", "default"])
    name = {"type": "function", "function": {"name": rng.choice(tools).name}}
    if mode == "named":
        body["tool_choice"] = name
    elif mode == "allowed_tools":
        allowed = {"mode": rng.choice(["auto", "required"]), "tools": [name]}
        body["tool_choice"] = {"type": "allowed_tools", "allowed_tools": allowed}
    elif mode != "default":
        body["tool_choice"] = mode
    return mode


def _response_format(rng: random.Random, body: dict[str, Any], labels: list[str]) -> None:
    drawn = rng.random()
    if drawn < 0.08:
        body["response_format"] = {"type": "json_object"}
    elif drawn < 0.2:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": ANSWER_SCHEMA}}
    else:
        return
    labels.append(body["response_format"]["type"])


def _sampling(rng: random.Random, body: dict[str, Any], vocabulary: int, labels: list[str]) -> None:
    drawn: dict[str, Any] = {
        "temperature": rng.choice([0, 0.3, 0.7, 1, 1, 1.5, 2]),
        "top_p": rng.choice([0.1, 0.9, 1]),
        "seed": rng.choice([0, 7, rng.getrandbits(31), rng.getrandbits(62)]),
        "presence_penalty": round(rng.uniform(-2, 2), 2),
        "frequency_penalty": round(rng.uniform(-2, 2), 2),
        "logit_bias": {str(rng.randrange(vocabulary)): rng.randint(-100, 100) for _ in range(rng.choice([1, 5]))},
        "n": rng.choice([2, 2, 3]),
        "logprobs": True,
        "stop": rng.choice(["\n\n", ["}", "the"], ["zz"]]),
    }
    chance = {"temperature": 0.8, "top_p": 0.3, "seed": 0.6, "n": 0.15, "stop": 0.2}
    for name, value in drawn.items():
        if rng.random() < chance.get(name, 0.25):
            body[name] = value
            labels.append(name)
    if body.get("logprobs") and rng.random() < 0.7:
        body["top_logprobs"] = rng.choice([0, 1, 5, 20])


def _messages(rng: random.Random, tools: tuple[LoadTool, ...], prompt_words: int) -> list[dict[str, Any]]:
    prompt = tools[0].prompt if tools else "Tell me about the sea in one sentence."
    messages: list[dict[str, Any]] = []
    if rng.random() < 0.4:
        messages.append({"role": rng.choice(["system", "developer"]), "content": "You help with tools."})
    if rng.random() < 0.1:  # long enough that the engine prefills it in several steps
        messages.append({"role": "user", "content": _filler(rng, rng.randint(prompt_words // 2, prompt_words))})
        messages.append({"role": "assistant", "content": "I have read it."})
    if tools and rng.random() < 0.3:
        messages += _earlier_call(rng, tools[0])
    content: Any = prompt if rng.random() < 0.8 else [{"type": "text", "text": prompt}]
    return [*messages, {"role": "user", "content": content}]


def _filler(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(_STORY.split(), k=words))


def _earlier_call(rng: random.Random, tool: LoadTool) -> list[dict[str, Any]]:
    arguments = rng.choice(["{}", '{"a": 1, "b": [true, null, "é \\" </tool_call>"]}', '{"cut": "he'])
    call = {"id": "call_earlier", "type": "function", "function": {"name": tool.name, "arguments": arguments}}
    result: Any = rng.choice(['{"ok": true}', "Error: no such thing", [{"type": "text", "text": "12 degrees"}]])
    return [
        {"role": "user", "content": tool.prompt},
        {"role": "assistant", "content": rng.choice([None, "", "One moment."]), "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_earlier", "content": result},
        {"role": "assistant", "content": "Done."},
    ]


def _bad_request(rng: random.Random, pool: list[LoadTool], model: str) -> Scenario:
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": "hi"}], "max_tokens": 8}
    broken_schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}, "required": ["a"]}
    function = {"name": "f", "parameters": broken_schema}
    faults: dict[str, dict[str, Any]] = {
        "no messages": {"messages": []},
        "unknown model": {"model": "no-such-model"},
        "empty tools": {"tools": []},
        "bad temperature": {"temperature": 9},
        "bad type": {"max_tokens": "many"},
        "bad n": {"n": 0},
        "broken $ref": {"tools": [{"type": "function", "function": function}]},
        "self reference": {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "x", "schema": {"$ref": "#/$defs/n", "$defs": {"n": {"$ref": "#/$defs/n"}}}},
            }
        },
        "named tool not offered": {
            "tools": [pool[0].wire()],
            "tool_choice": {"type": "function", "function": {"name": "nothing"}},
        },
        "stream_options without stream": {"stream_options": {"include_usage": True}},
        "too long": {"messages": [{"role": "user", "content": "word " * 200_000}]},
        "unanswered call": {
            "messages": [
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
                {"role": "user", "content": "go on"},
            ]
        },
    }
    name = rng.choice(sorted(faults))
    return Scenario(body | faults[name], (), "client error", None, (name,))
