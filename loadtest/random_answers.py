"""Random answers in every call format, through the whole server and the real engine, judged one by one.

Requests go to the server's own application in this process, one for each format over one engine. The model's weights
are random (``loadtest.random_model``) and its temperature is 2; the marks of the format at hand are biased, so that
calls and reasoning are begun and ended often enough.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from decoding.formats import Format, get
from loadtest.random_model import marks_of, random_engine
from loadtest.validity import argument_faults
from server.app import create_app
from server.engine_client import EngineClient
from server.settings import Settings

MAX_TOKENS = 120
ANSWERS_AT_ONCE = 64
BLOCK = 500
"""Answers of one format between two writes of the results."""


def _tool(name: str, properties: dict[str, Any], required: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required), **more}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [
    {"type": "function", "function": {"name": "ping"}},
    _tool("find", {"q": {"type": "string", "maxLength": 9}, "unit": {"enum": ["a", "b\n"]}}, ["q"]),
    _tool(
        "find_all", {"n": {"type": "integer", "minimum": 0, "maximum": 40}, "on": {"type": ["boolean", "null"]}}, ["n"]
    ),
    _tool(
        "set-tags", {"tags": {"type": "array", "items": {"type": "string", "maxLength": 4}, "maxItems": 2}}, ["tags"]
    ),
    # Names that the model makes up.
    _tool("note", {}, additionalProperties={"type": ["string", "integer"], "maxLength": 4}, maxProperties=2),
]
SCHEMAS = {tool["function"]["name"]: tool["function"].get("parameters") for tool in TOOLS}
CHOICES: tuple[Any, ...] = (
    "auto",
    "required",
    "none",
    {"type": "function", "function": {"name": "find"}},
    {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "ping"}}]},
    },
)
RESPONSE = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 99}, "s": {"enum": ["x", "y\n"]}},
    "required": ["n"],
    "additionalProperties": False,
}
AS_JSON = {"type": "json_schema", "json_schema": {"name": "answer", "schema": RESPONSE}}
ASKED_FOR: tuple[tuple[Any, Any], ...] = (*((choice, None) for choice in CHOICES), *[("auto", AS_JSON)] * 2)
"""The tool choices, and what the answer has to be where it is no call."""


@dataclass(slots=True)
class Tally:
    """What the answers of one format came to."""

    answers: int = 0
    calls: int = 0
    reasoned: int = 0
    cut: int = 0
    as_json: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.answers += other.answers
        self.calls += other.calls
        self.reasoned += other.reasoned
        self.cut += other.cut
        self.as_json += other.as_json
        self.faults += other.faults


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, streamed or not. ``calls`` are name and arguments of complete calls."""

    calls: tuple[tuple[str, str], ...]
    content: str
    reasoning: str
    reason: str


async def tally(engine: EngineClient, name: str, answers: int, seed: int = 0) -> Tally:
    """Ask for that many answers in the format ``name`` and judge them."""
    app = create_app(Settings(tool_format=name), engine)
    rng = random.Random(f"{name} {seed}")
    bias = _biases(get(name), engine.tokenizer)
    found = Tally()
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://server", timeout=None) as client:
        bodies = _bodies(engine.model_names[0], get(name), rng, answers)

        async def ask_on() -> None:
            for body in bodies:
                # Where calls and JSON are to be had, a biased mark would leave calls alone.
                favoured = {"logit_bias": bias} if body["response_format"] is None else {}
                _judge(get(name), body, await _ask(client, body | favoured), found)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(ANSWERS_AT_ONCE):
                tasks.create_task(ask_on())
    violations = app.state.serving.metrics.registry.get_sample_value("strictcall_guarantee_violations_total")
    if violations:
        found.faults.append(f"{violations:.0f} answers were caught by the check behind the grammar")
    await app.state.serving.close()
    return found


def _biases(fmt: Format, tokenizer: Any) -> dict[str, float]:
    """At temperature 2, each of these is as likely as all of the vocabulary's other tokens together."""
    marks = [mark for kind in marks_of(fmt) for mark in kind]
    ids = [tokenizer.eos_token_id, *(tokenizer.convert_tokens_to_ids(mark) for mark in marks)]
    return {str(number): 2 * math.log(1.2 * len(tokenizer)) for number in ids}


def _bodies(model: str, fmt: Format, rng: random.Random, answers: int) -> Iterator[dict[str, Any]]:
    """Every choice, streamed and not, with parallel calls and not, reasoning in every way that there is; in an order of
    its own, so that few of them are of every kind."""
    begins = ["", "", fmt.reasoning.open + "\n"] if fmt.reasoning and not fmt.channels else [""]
    ways = list(itertools.product(ASKED_FOR, (True, False), (True, False), begins))
    rng.shuffle(ways)
    for (choice, wanted), stream, parallel, begin in itertools.islice(itertools.cycle(ways), answers):
        yield {
            "model": model,
            "messages": [{"role": "user", "content": f"Say {rng.random()}."}],
            "tools": TOOLS,
            "tool_choice": choice,
            "parallel_tool_calls": parallel,
            "response_format": wanted,
            "stream": stream,
            "temperature": 2,
            "max_tokens": MAX_TOKENS,
            "seed": rng.randrange(2**31),
            "chat_template_kwargs": {"begin": begin},
        }


async def _ask(client: httpx2.AsyncClient, body: dict[str, Any]) -> Answer | str:
    """The answer, or what went wrong."""
    response = await client.post("/v1/chat/completions", json=body)
    if response.status_code != 200:
        return f"{response.status_code}: {response.text[:300]}"
    if not body["stream"]:
        choice = response.json()["choices"][0]
        message = choice["message"]
        calls = [(c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls", ())]
        reasoning = message.get("reasoning_content", "")
        return Answer(tuple(calls), message["content"] or "", reasoning, choice["finish_reason"])
    # Lines end with a line feed: str.splitlines would cut at the separators that JSON may hold raw.
    return _joined([json.loads(line[6:]) for line in response.text.split("\n") if line.startswith("data: {")])


def _joined(frames: Sequence[dict[str, Any]]) -> Answer | str:
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    text: Counter[str] = Counter()
    parts: dict[str, str] = {"content": "", "reasoning_content": ""}
    reason = ""
    for frame in frames:
        if "error" in frame:
            return f"a fault in the stream: {frame['error']}"
        choice = frame["choices"][0]
        reason = choice["finish_reason"] or reason
        for part in parts:
            parts[part] += choice["delta"].get(part) or ""
        for call in choice["delta"].get("tool_calls", ()):
            index = call["index"]
            names.setdefault(index, call["function"].get("name"))
            arguments[index] = arguments.get(index, "") + call["function"]["arguments"]
            text[str(index)] += 1
    calls = [(names[index], arguments[index]) for index in sorted(names)]
    if reason == "length" and calls and argument_faults(calls[-1][1], SCHEMAS[calls[-1][0]]):
        calls.pop()  # cut
    return Answer(tuple(calls), parts["content"], parts["reasoning_content"], reason)


def _judge(fmt: Format, body: dict[str, Any], answer: Answer | str, found: Tally) -> None:
    found.answers += 1
    if isinstance(answer, str):
        found.faults.append(answer)
        return
    found.calls += len(answer.calls)
    found.reasoned += bool(answer.reasoning)
    found.cut += answer.reason == "length"
    found.as_json += body.get("response_format") is not None and answer.reason == "stop"
    found.faults += [f"{fault}: {answer}, {body['tool_choice']}" for fault in faults_of(fmt, body, answer)]


def faults_of(fmt: Format, body: dict[str, Any], answer: Answer) -> Iterator[str]:
    choice = body["tool_choice"]
    allowed = set(SCHEMAS)
    if isinstance(choice, dict):
        allowed = {"find"} if choice["type"] == "function" else {"ping"}
    for name, arguments in answer.calls:
        if name not in allowed:
            yield f"{name!r} is not on offer"
        else:
            yield from argument_faults(arguments, SCHEMAS[name])
    single = not body["parallel_tool_calls"] or (isinstance(choice, dict) and choice["type"] == "function")
    if choice == "none" and answer.calls:
        yield "a call under none"
    if single and len(answer.calls) > 1:
        yield "more than one call"
    if answer.reason not in ("stop", "length", "tool_calls"):
        yield f"finish_reason {answer.reason!r}"
    if answer.reason != "length" and (answer.reason == "tool_calls") != bool(answer.calls):
        yield f"finish_reason {answer.reason!r} with {len(answer.calls)} calls"
    if answer.reason == "stop" and choice not in ("auto", "none"):
        yield "no call where one is required"
    if choice not in ("auto", "none") and answer.content:
        yield "text where calls are required"
    if body.get("response_format") is not None and answer.calls and answer.content:
        yield "JSON and calls"
    if body.get("response_format") is not None and answer.reason == "stop":
        yield from argument_faults(answer.content, RESPONSE)
    special, _ = marks_of(fmt)
    if any(mark in answer.content for mark in special):
        yield "a mark in the text"


async def run(answers: int, formats: Sequence[str], file: Path | None) -> int:
    """So many answers of each of these formats; prints a table and the faults. 1 when there is any.

    Every block's results are added to ``file``, if there is one, and what stands in it already is not asked again.
    """
    sizes = [min(BLOCK, answers - begin) for begin in range(0, answers, BLOCK)]
    wanted = [(name, block, size) for block, size in enumerate(sizes) for name in formats]
    known = _known(file)
    missing = [each for each in wanted if each not in known]
    if missing:
        async with random_engine() as engine:
            for name, block, size in missing:
                found = known[name, block, size] = await tally(engine, name, size, block)
                if file is not None:
                    with file.open("a", encoding="utf-8") as lines:
                        lines.write(json.dumps({"format": name, "block": block, "tally": asdict(found)}) + "\n")
    print("| format | answers | complete calls | with reasoning | cut by the budget | faults |")
    print("|---|---|---|---|---|---|")
    faults = 0
    for name in formats:
        whole = Tally()
        for each in wanted:
            if each[0] == name:
                whole.add(known[each])
        faults += len(whole.faults)
        figures = [whole.answers, whole.calls, whole.reasoned, whole.cut, len(whole.faults)]
        print(f"| `{name}` | {' | '.join(map(str, figures))} |", *whole.faults[:5], sep="\n  ")
    return 1 if faults else 0


def _known(file: Path | None) -> dict[tuple[str, int, int], Tally]:
    """The results in the file, by format, block and size."""
    if file is None or not file.exists():
        return {}
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {(line["format"], line["block"], line["tally"]["answers"]): Tally(**line["tally"]) for line in lines}
