"""Read a streamed chat completion, and hold every chunk to the wire's rules while it passes.

The rules are those that the clients in use depend on: a ``null`` where a key should be absent, a repeated name or id, a
late role or a call's index from 1 each break at least one of them. Faults are collected in plain words, so that one
run shows all of them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from loadtest.sse import DONE, FrameReader
from loadtest.validity import NotStrictJsonError, strict_json

_CHUNK_KEYS = {"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier"}
_CHOICE_KEYS = {"index", "delta", "logprobs", "finish_reason"}
_DELTA_KEYS = {"role", "content", "tool_calls", "reasoning_content", "refusal"}


@dataclass(slots=True)
class StreamedCall:
    """One call as its fragments came. ``times`` holds the clock at each fragment, in the caller's seconds."""

    id: str
    name: str
    started: float
    fragments: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return "".join(self.fragments)


@dataclass(slots=True)
class StreamedChoice:
    """One choice's answer so far."""

    index: int
    content: str = ""
    reasoning: str = ""
    calls: list[StreamedCall] = field(default_factory=list)
    finish_reason: str | None = None
    finished: float = 0.0
    logprobs: list[dict[str, Any]] = field(default_factory=list)
    has_role: bool = False


@dataclass(slots=True)
class StreamedAnswer:
    """Feed it the body's bytes as they arrive, with the clock at each; then call ``end``."""

    include_usage: bool = False
    choices: dict[int, StreamedChoice] = field(default_factory=dict)
    usage: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    done: bool = False
    chunks: int = 0
    delta_times: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _frames: FrameReader = field(default_factory=FrameReader)
    _constant: dict[str, Any] = field(default_factory=dict)

    def feed(self, data: bytes, now: float) -> None:
        """Take bytes that arrived at ``now`` (seconds of any steady clock)."""
        for payload in self._frames.feed(data):
            self._payload(payload, now)

    def end(self, expected_choices: int = 1) -> None:
        """The body is over: check what only the whole can show. A stream that the client cut is not to be ended."""
        self._frames.end()
        self.faults += self._frames.faults
        if self.error is not None:
            return
        self._expect(self.done, "no [DONE] at the end")
        self._expect(sorted(self.choices) == list(range(expected_choices)), f"choices {sorted(self.choices)}")
        self._expect(not self.include_usage or self.usage is not None, "no usage chunk although it was asked for")
        for choice in self.choices.values():
            self._whole_choice(choice)

    def _expect(self, holds: bool, fault: str) -> bool:
        if not holds:
            self.faults.append(fault)
        return holds

    def _payload(self, payload: str, now: float) -> None:
        self._expect(not self.done and self.error is None, f"a frame after the end: {payload[:80]}")
        if payload == DONE:
            self.done = True
            return
        try:
            chunk = json.loads(payload)
        except ValueError as error:
            self.faults.append(f"a frame is not JSON ({error}): {payload[:80]}")
            return
        self.chunks += 1
        if "error" in chunk:
            self.error = chunk["error"]
            self._expect(set(chunk) == {"error"}, f"keys beside error: {sorted(chunk)}")
            self._expect(set(chunk["error"]) == {"message", "type", "param", "code"}, f"error frame: {chunk['error']}")
        else:
            self._chunk(chunk, now)

    def _chunk(self, chunk: dict[str, Any], now: float) -> None:
        self._expect(set(chunk) <= _CHUNK_KEYS, f"unknown keys in a chunk: {sorted(set(chunk) - _CHUNK_KEYS)}")
        self._expect(chunk.get("object") == "chat.completion.chunk", f"object is {chunk.get('object')!r}")
        constant = {key: chunk.get(key) for key in ("id", "created", "model")}
        self._constant = self._constant or constant
        self._expect(constant == self._constant, f"id, created or model changed: {constant}")
        self._expect(self.usage is None, "a chunk after the usage chunk")
        if not chunk.get("choices"):
            self._usage_chunk(chunk)
            return
        if self.include_usage:
            self._expect("usage" in chunk and chunk["usage"] is None, "usage must be null before the usage chunk")
        else:
            self._expect(chunk.get("usage") is None, "usage although it was not asked for")
        for choice in chunk["choices"]:
            self._choice(choice, now)

    def _usage_chunk(self, chunk: dict[str, Any]) -> None:
        self._expect(chunk.get("choices") == [], "choices must be present and empty in the usage chunk")
        self._expect(self.include_usage, "a chunk without choices although usage was not asked for")
        usage = chunk.get("usage")
        self._expect(isinstance(usage, dict), f"usage is {usage!r}")
        if isinstance(usage, dict):
            self.usage = usage
            total = usage["prompt_tokens"] + usage["completion_tokens"]
            self._expect(usage["total_tokens"] == total and usage["completion_tokens"] > 0, f"usage {usage}")
        unfinished = [choice.index for choice in self.choices.values() if choice.finish_reason is None]
        self._expect(not unfinished, f"usage before the finish chunk of choices {unfinished}")

    def _choice(self, entry: dict[str, Any], now: float) -> None:
        self._expect(set(entry) <= _CHOICE_KEYS, f"unknown keys in a choice: {sorted(set(entry) - _CHOICE_KEYS)}")
        index = entry["index"]
        if index not in self.choices:
            self._expect(index == len(self.choices), f"choice {index} appears after {sorted(self.choices)}")
            self.choices[index] = StreamedChoice(index)
        choice, delta = self.choices[index], entry["delta"]
        self._expect(choice.finish_reason is None, f"choice {index}: a delta after its finish chunk: {delta}")
        self._expect(set(delta) <= _DELTA_KEYS, f"unknown keys in a delta: {sorted(set(delta) - _DELTA_KEYS)}")
        self._expect(None not in delta.values(), f"a key that is not sent must be absent, not null: {delta}")
        choice.logprobs += (entry.get("logprobs") or {}).get("content") or []
        finish_reason = entry.get("finish_reason")
        if finish_reason is not None:
            choice.finish_reason, choice.finished = finish_reason, now
            self._expect(delta == {}, f"the finish chunk's delta is {delta}")
            return
        if "role" in delta:
            self._expect(delta == {"role": "assistant"}, f"the role chunk's delta is {delta}")
            self._expect(not choice.has_role, "the role came twice")
            choice.has_role = True
            return
        self._expect(choice.has_role, f"a delta before the role: {delta}")
        self._delta(choice, delta, now)

    def _delta(self, choice: StreamedChoice, delta: dict[str, Any], now: float) -> None:
        self.delta_times.append(now)
        self._expect(len(delta) == 1, f"a delta must carry one thing: {delta}")
        for key in ("content", "reasoning_content"):
            if key in delta:
                self._expect(isinstance(delta[key], str) and delta[key] != "", f"an empty delta: {delta}")
        choice.content += delta.get("content") or ""
        choice.reasoning += delta.get("reasoning_content") or ""
        if "tool_calls" in delta:
            self._expect(len(delta["tool_calls"]) == 1, f"not one call entry in a delta: {delta}")
            for entry in delta["tool_calls"]:
                self._call(choice, entry, now)

    def _call(self, choice: StreamedChoice, entry: dict[str, Any], now: float) -> None:
        index, calls = entry.get("index"), choice.calls
        if index == len(calls):
            self._expect(set(entry) == {"index", "id", "type", "function"}, f"a call's first delta is {entry}")
            function = entry.get("function") or {}
            self._expect(entry.get("type") == "function", f"type is {entry.get('type')!r}")
            self._expect(set(function) == {"name", "arguments"}, f"a call's first function is {function}")
            self._expect(function.get("arguments") == "", f"a call's first arguments are {function}")
            call = StreamedCall(str(entry.get("id")), str(function.get("name")), now)
            self._expect(call.id not in {other.id for other in calls}, f"two calls have the id {call.id}")
            calls.append(call)
        elif self._expect(index == len(calls) - 1, f"call index {index} although {len(calls)} calls are known"):
            self._expect(set(entry) == {"index", "function"}, f"a call's later delta is {entry}")
            self._expect(set(entry["function"]) == {"arguments"}, f"a call's later function is {entry['function']}")
            fragment = entry["function"].get("arguments")
            self._expect(isinstance(fragment, str) and fragment != "", f"an empty fragment: {entry}")
            calls[-1].fragments.append(str(fragment))
            calls[-1].times.append(now)

    def _whole_choice(self, choice: StreamedChoice) -> None:
        reason = choice.finish_reason
        self._expect(choice.has_role, f"choice {choice.index}: no role")
        self._expect(reason in ("stop", "length", "tool_calls"), f"choice {choice.index}: finish_reason {reason!r}")
        self._expect(
            (reason == "tool_calls") == bool(choice.calls) or reason == "length",
            f"choice {choice.index}: finish_reason {reason!r} with {len(choice.calls)} calls",
        )
        for position, call in enumerate(choice.calls):
            if reason == "length" and position == len(choice.calls) - 1:
                continue  # cut by the budget, and said to be
            try:
                value = strict_json(call.arguments)
            except NotStrictJsonError as error:
                self.faults.append(f"call {position}: {error}: {call.arguments[:200]!r}")
            else:
                self._expect(isinstance(value, dict), f"call {position}: arguments are not an object")
