"""A scripted engine and a real HTTP server around it, so that tests see the bytes that clients see."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import httpx2
import uvicorn
from fastapi import FastAPI
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from decoding.deltas import Deliver, EngineDelta, TokenLogprob
from server.app import create_app
from server.engine_client import EngineClient, EngineDeadError, Sampling
from server.http_server import http_protocol
from server.settings import Settings

TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@cache
def tokenizer() -> Any:
    """One token per byte."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE(vocab={letter: n for n, letter in enumerate(letters)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=core)
    made.chat_template = TEMPLATE
    return made


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of ``generate``."""

    prompt: tuple[int, ...]
    sampling: Sampling
    grammar: str | None
    request_id: str

    @property
    def prompt_text(self) -> str:
        return str(tokenizer().decode(list(self.prompt)))


Piece: TypeAlias = "str | float | BaseException"
"""Text of a delta; seconds to wait; an error to raise."""
Script: TypeAlias = Callable[[Asked], Sequence[Piece]]


def say(*pieces: Piece) -> Script:
    """The same answer for everybody."""
    return lambda _: pieces


def in_turn(*answers: Sequence[Piece]) -> Script:
    """One answer after the other; the last one repeats."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


@dataclass
class StubEngine:
    """Says what its script says, a token per character, within ``max_tokens``."""

    script: Script = field(default_factory=lambda: say("Hello"))
    model_names: tuple[str, ...] = ("stub", "stub-alias")
    max_model_len: int = 4096
    asked: list[Asked] = field(default_factory=list)
    running: int = 0
    aborted: int = 0
    dead: bool = False

    @property
    def tokenizer(self) -> Any:
        return tokenizer()

    async def generate(
        self,
        prompt_token_ids: Sequence[int],
        sampling: Sampling,
        *,
        grammar: str | None,
        request_id: str,
        deliver: Deliver,
    ) -> None:
        if self.dead:
            raise EngineDeadError("gone")
        asked = Asked(tuple(prompt_token_ids), sampling, grammar, request_id)
        self.asked.append(asked)
        self.running += 1
        done = False
        left = sampling.max_tokens
        try:
            for piece in self.script(asked):
                if isinstance(piece, BaseException):
                    raise piece
                if isinstance(piece, int | float):
                    await asyncio.sleep(piece)
                    continue
                await asyncio.sleep(0)
                text = piece[:left]
                left -= len(text)
                done = left == 0
                more = deliver(self._delta(text, sampling, "length" if done else None))
                if done or not more:
                    return
            done = True
            deliver(self._delta("", sampling, "stop", end=True))
        finally:
            self.running -= 1
            self.aborted += not done

    def _delta(self, text: str, sampling: Sampling, reason: Any, *, end: bool = False) -> EngineDelta:
        wanted = sampling.logprobs
        entries = tuple(
            TokenLogprob(
                ord(c) % 256,
                c,
                -0.5,
                tuple(TokenLogprob(ord(c) % 256, c, -0.5) for _ in range(wanted)),
            )
            for c in text
            if wanted is not None
        )
        tokens = [ord(c) % 256 for c in text] + ([0] if end else [])
        return EngineDelta(text, tokens, entries, reason, 0, 3)

    async def check_health(self) -> None:
        if self.dead:
            raise EngineDeadError("gone")

    async def shutdown(self) -> None:
        self.dead = True


@dataclass
class Stub:
    """A server around a StubEngine."""

    engine: StubEngine
    app: FastAPI
    server: uvicorn.Server
    url: str
    port: int
    client: httpx2.Client

    def chat(self, **fields: Any) -> httpx2.Response:
        """POST a chat completion; the model and a message are filled in."""
        body = {"model": "stub", "messages": [{"role": "user", "content": "Hi"}]} | fields
        return self.client.post("/v1/chat/completions", json=body)

    def frames(self, **fields: Any) -> list[dict[str, Any]]:
        """The chunks of a streamed answer; its ``[DONE]`` is checked and left out."""
        response = self.chat(stream=True, **fields)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"].startswith("text/event-stream")
        return chunks(response.content)

    def metric(self, name: str, **labels: str) -> float:
        return self.app.state.serving.metrics.registry.get_sample_value(name, labels) or 0.0


def chunks(raw: bytes, *, done: bool = True) -> list[dict[str, Any]]:
    """The frames of a stream. Every byte must belong to a ``data:`` frame or a comment."""
    assert raw.endswith(b"\n\n")
    frames = [frame for frame in raw.decode().removesuffix("\n\n").split("\n\n") if not frame.startswith(":")]
    assert all(frame.startswith("data: ") and "\n" not in frame for frame in frames)
    assert (frames[-1] == "data: [DONE]") is done
    return [json.loads(frame[6:]) for frame in (frames[:-1] if done else frames)]


@contextlib.contextmanager
def serve(engine: EngineClient | None, **options: Any) -> Iterator[Stub]:
    """Run the app on a free port in a thread."""
    options.setdefault("tool_format", "hermes")
    settings = Settings(**options)
    app = create_app(settings, engine)
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, log_level="error", lifespan="on", loop="uvloop", http=http_protocol(settings))
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        threading.Event().wait(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    try:
        with httpx2.Client(base_url=url, timeout=60) as client:
            yield Stub(engine, app, server, url, port, client)  # type: ignore[arg-type]
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather in a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
        },
    },
    {"type": "function", "function": {"name": "now"}},
]


def call(name: str, arguments: str) -> str:
    """A call as the Hermes format writes it."""
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'
