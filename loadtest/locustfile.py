"""Locust users that stream tool calls over the real wire and judge every one.

    locust -f loadtest/locustfile.py --headless --users 8 --spawn-rate 4 --run-time 1m --host http://127.0.0.1:8000

Beside the whole requests (type ``POST``) the report has, per scenario, ``TTFT`` (request sent → first text or call
delta), ``ITL`` (between two deltas of one answer, the mean of the answer) and ``CALL`` (request sent → a call's
arguments complete), all in milliseconds. An invalid call, a broken stream or an error answer is a failure, and any
failure makes Locust exit with 1; so does a run in which no call was made.

``STRICTCALL_API_KEY`` is read from the environment; the model is the first that the server names.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from typing import Any

from geventhttpclient import HTTPClient
from locust import User, between, events, task

from loadtest.stream_answer import StreamedAnswer
from loadtest.tools import BUILT_IN, LoadTool, call_faults

CHAT = "/v1/chat/completions"
MAX_TOKENS = 160

outcomes: Counter[str] = Counter()


class StreamFaultError(Exception):
    """The answer was not what the wire promises; the message says all that was wrong with it."""


class ToolCaller(User):  # type: ignore[misc]
    """A client that asks for tool calls, one request after the other on one connection, and reads them as they come."""

    wait_time = between(0.0, 0.5)

    def on_start(self) -> None:
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        if key := os.environ.get("STRICTCALL_API_KEY"):
            headers["authorization"] = f"Bearer {key}"
        self.http = HTTPClient.from_url(
            self.host, headers=headers, concurrency=1, connection_timeout=10.0, network_timeout=120.0
        )
        self.random = random.Random()
        self.model = self._first_model()

    def on_stop(self) -> None:
        self.http.close()

    def _first_model(self) -> str:
        with self.http.get("/v1/models") as response:
            return str(json.loads(response.read())["data"][0]["id"])

    @task(4)  # type: ignore[untyped-decorator]
    def required(self) -> None:
        tools = self.random.sample(BUILT_IN, 3)
        self._stream("required", tools, tools[0].prompt, tool_choice="required")

    @task(3)  # type: ignore[untyped-decorator]
    def named(self) -> None:
        tools = self.random.sample(BUILT_IN, 2)
        choice = {"type": "function", "function": {"name": tools[0].name}}
        self._stream("named", tools, tools[0].prompt, tool_choice=choice)

    @task(2)  # type: ignore[untyped-decorator]
    def auto(self) -> None:
        tools = self.random.sample(BUILT_IN, 2)
        self._stream("auto", tools, tools[0].prompt, tool_choice="auto")

    @task(1)  # type: ignore[untyped-decorator]
    def single(self) -> None:
        tools = list(BUILT_IN)
        self._stream("single", tools, tools[0].prompt, tool_choice="required", parallel_tool_calls=False)

    def _stream(self, name: str, tools: list[LoadTool], prompt: str, **options: Any) -> None:
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "tools": [tool.wire() for tool in tools],
            "max_tokens": MAX_TOKENS,
            "stream": True,
            "stream_options": {"include_usage": True},
            "seed": self.random.getrandbits(31),
        } | options
        answer, sent, failure, received = StreamedAnswer(include_usage=True), time.perf_counter(), None, 0
        try:
            received = self._read(body, answer)
            answer.end()
            self._judge(name, answer, tools)
        except Exception as error:  # whatever went wrong is this request's failure; the user goes on
            failure = error
            outcomes["failed"] += 1
        took = time.perf_counter() - sent
        self._fire("POST", name, took, received, failure)
        if failure is None:
            self._report_times(name, answer, sent)

    def _read(self, body: dict[str, Any], answer: StreamedAnswer) -> int:
        # readline returns as soon as a line is there; read(n) would wait for n bytes and spoil every time below.
        received = 0
        with self.http.post(CHAT, body=json.dumps(body)) as response:
            if response.status_code != 200:
                raise StreamFaultError(f"status {response.status_code}: {response.read()[:300]!r}")
            if (kind := str(response["content-type"])).split(";")[0] != "text/event-stream":
                raise StreamFaultError(f"content-type {kind}")
            while line := response.readline(b"\n"):
                answer.feed(bytes(line), time.perf_counter())
                received += len(line)
        return received

    def _judge(self, name: str, answer: StreamedAnswer, tools: list[LoadTool]) -> None:
        faults = list(answer.faults)
        if answer.error is not None:
            raise StreamFaultError(f"error frame: {answer.error}")
        choice = answer.choices[0]
        cut = choice.finish_reason == "length"
        whole = choice.calls[:-1] if cut else choice.calls
        for call in whole:
            wrong = call_faults(call.name, call.arguments, tools)
            outcomes["invalid calls" if wrong else "valid calls"] += 1
            faults += wrong
        if name != "auto" and not choice.calls:
            faults.append(f"{name}: no call; content {choice.content[:80]!r}, finish_reason {choice.finish_reason}")
        if name == "named" and any(call.name != tools[0].name for call in choice.calls):
            faults.append(f"named {tools[0].name}: called {[call.name for call in choice.calls]}")
        if name == "single" and len(choice.calls) > 1:
            faults.append(f"single: {len(choice.calls)} calls")
        outcomes["answers"] += 1
        outcomes["cut by max_tokens"] += cut
        outcomes["tokens"] += (answer.usage or {}).get("completion_tokens", 0)
        if faults:
            raise StreamFaultError("; ".join(faults))

    def _report_times(self, name: str, answer: StreamedAnswer, sent: float) -> None:
        choice, deltas = answer.choices[0], answer.delta_times
        if deltas:
            self._fire("TTFT", name, deltas[0] - sent)
        if len(deltas) > 1:
            self._fire("ITL", name, (deltas[-1] - deltas[0]) / (len(deltas) - 1))
        ends = [call.started for call in choice.calls[1:]] + [choice.finished]
        for end in ends[: len(choice.calls) - (choice.finish_reason == "length")]:
            self._fire("CALL", name, end - sent)

    def _fire(self, kind: str, name: str, seconds: float, size: int = 0, failure: Exception | None = None) -> None:
        self.environment.events.request.fire(
            request_type=kind,
            name=name,
            response_time=seconds * 1000,
            response_length=size,
            exception=failure,
            context={},
        )


@events.test_start.add_listener  # type: ignore[untyped-decorator]
def _reset(**_: Any) -> None:
    outcomes.clear()


@events.quitting.add_listener  # type: ignore[untyped-decorator]
def _summary(environment: Any, **_: Any) -> None:
    print("strictcall:", ", ".join(f"{key} {value}" for key, value in sorted(outcomes.items())) or "nothing was asked")
    if not outcomes["valid calls"] or outcomes["failed"]:
        environment.process_exit_code = 1
