"""The stream reader must take a right stream and name what is wrong with a wrong one: one mutation per wire rule."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from loadtest.stream_answer import StreamedAnswer

Chunk = dict[str, Any]


def chunk(delta: Chunk, finish_reason: str | None = None) -> Chunk:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return head | {"choices": [choice], "usage": None}


def call_delta(index: int, fragment: str) -> Chunk:
    return chunk({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]})


def call_start(index: int, name: str = "f") -> Chunk:
    function = {"name": name, "arguments": ""}
    return chunk({"tool_calls": [{"index": index, "id": f"call_{index}", "type": "function", "function": function}]})


def usage_chunk() -> Chunk:
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    return {key: value for key, value in chunk({}).items() if key != "choices"} | {"choices": [], "usage": usage}


RIGHT: list[Chunk] = [
    chunk({"role": "assistant"}),
    chunk({"content": "Let me look."}),
    call_start(0),
    call_delta(0, '{"a":'),
    call_delta(0, " 1}"),
    call_start(1),
    call_delta(1, "{}"),
    chunk({}, "tool_calls"),
    usage_chunk(),
]


def wire(chunks: list[Chunk]) -> bytes:
    return b"".join(b"data: " + json.dumps(part).encode() + b"\n\n" for part in chunks) + b"data: [DONE]\n\n"


def read(data: bytes, *, step: int = 7) -> StreamedAnswer:
    answer = StreamedAnswer(include_usage=True)
    for start in range(0, len(data), step):
        answer.feed(data[start : start + step], float(start))
    answer.end()
    return answer


@pytest.mark.parametrize("step", [1, 3, 64, 100_000])
def test_a_right_stream_reads_without_fault_however_it_is_cut(step: int) -> None:
    answer = read(b": comment\n\n" + wire(RIGHT), step=step)
    assert answer.faults == []
    choice = answer.choices[0]
    assert choice.content == "Let me look."
    assert [(call.id, call.name, call.arguments) for call in choice.calls] == [
        ("call_0", "f", '{"a": 1}'),
        ("call_1", "f", "{}"),
    ]
    assert choice.finish_reason == "tool_calls"
    assert answer.usage is not None
    assert answer.done


def test_times_are_those_of_the_bytes() -> None:
    call = read(wire(RIGHT), step=1).choices[0].calls[0]
    assert call.started < call.times[0] < call.times[1]


def _set(position: int, path: tuple[Any, ...], value: Any) -> Callable[[list[Chunk]], None]:
    def change(chunks: list[Chunk]) -> None:
        node: Any = chunks[position]
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value

    return change


def _drop(position: int) -> Callable[[list[Chunk]], None]:
    return lambda chunks: chunks.__delitem__(position)


def _insert(position: int, extra: Chunk) -> Callable[[list[Chunk]], None]:
    return lambda chunks: chunks.insert(position, extra)


DELTA = ("choices", 0, "delta")
CALL = (*DELTA, "tool_calls", 0)
MUTATIONS: dict[str, tuple[Callable[[list[Chunk]], None], str]] = {
    "S2 object": (_set(1, ("object",), "chat.completion"), "object is"),
    "S2 id": (_set(2, ("id",), "other"), "id, created or model changed"),
    "S3 choice 1 first": (_set(0, ("choices", 0, "index"), 1), "choice 1 appears"),
    "S4 role twice": (_insert(1, chunk({"role": "assistant"})), "role came twice"),
    "S4 no role": (_drop(0), "before the role"),
    "role with content": (_set(0, DELTA, {"role": "assistant", "content": ""}), "role chunk's delta"),
    "S5 id repeated": (_set(3, (*CALL, "id"), "call_0"), "later delta"),
    "S5 name repeated": (_set(3, (*CALL, "function", "name"), "f"), "later function"),
    "S5 null type": (_set(4, (*CALL, "type"), None), "later delta"),
    "S5 arguments in the first delta": (_set(2, (*CALL, "function", "arguments"), "{"), "first arguments"),
    "S6 no function": (_set(2, CALL, {"index": 0, "id": "x", "type": "function"}), "first delta"),
    "S7 index from 1": (_set(2, (*CALL, "index"), 1), "call index 1"),
    "S8 back to call 0": (_insert(7, call_delta(0, " ")), "call index 0"),
    "S9 half a call": (_drop(4), "call 0:"),
    "S9 twice": (_insert(5, call_delta(0, "{}")), "call 0:"),
    "S10 no finish": (_drop(7), "finish_reason None"),
    "S10 stop with calls": (_set(7, ("choices", 0, "finish_reason"), "stop"), "with 2 calls"),
    "S10 finish twice": (_insert(8, chunk({}, "tool_calls")), "after its finish"),
    "S11 usage missing": (_drop(8), "no usage chunk"),
    "S11 usage early": (_insert(3, usage_chunk()), "usage before the finish"),
    "S11 usage not null before": (_set(3, ("usage",), {"prompt_tokens": 1}), "must be null"),
    "S12 obfuscation": (_set(3, ("obfuscation",), "xx"), "unknown keys in a chunk"),
    "S14 extension in delta": (_set(1, (*DELTA, "seq"), 1), "unknown keys in a delta"),
    "null content": (_set(3, (*DELTA, "content"), None), "absent, not null"),
    "empty content": (_set(1, (*DELTA, "content"), ""), "empty delta"),
    "empty calls": (_set(1, DELTA, {"tool_calls": []}), "not one call entry"),
}


@pytest.mark.parametrize("rule", MUTATIONS)
def test_a_wrong_stream_is_named(rule: str) -> None:
    change, fault = MUTATIONS[rule]
    chunks = copy.deepcopy(RIGHT)
    change(chunks)
    assert any(fault in found for found in read(wire(chunks)).faults)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (wire(RIGHT).replace(b"data: [DONE]\n\n", b""), "no [DONE]"),
        (wire(RIGHT).replace(b"\n\n", b"\r\n\r\n"), "after the last whole frame"),
        (wire(RIGHT).replace(b"data: {", b"event: x\ndata: {", 1), "not one 'data: ' line"),
        (wire(RIGHT) + wire(RIGHT[:1]), "after the end"),
        (wire(RIGHT).replace(b"Let me look.", b"\xff"), "not UTF-8"),
    ],
)
def test_wrong_framing_is_named(data: bytes, fault: str) -> None:
    assert any(fault in found for found in read(data).faults)


def test_an_error_frame_ends_the_stream() -> None:
    error = {"message": "the engine died", "type": "server_error", "param": None, "code": None}
    answer = StreamedAnswer(include_usage=True)
    answer.feed(wire(RIGHT[:3]).replace(b"data: [DONE]\n\n", b""), 0.0)
    answer.feed(b"data: " + json.dumps({"error": error}).encode() + b"\n\n", 1.0)
    answer.end()
    assert answer.error == error
    assert answer.faults == []


def test_a_cut_call_is_no_fault_when_it_is_said_to_be_cut() -> None:
    chunks = [*RIGHT[:4], chunk({}, "length"), usage_chunk()]
    answer = read(wire(chunks))
    assert answer.faults == []
    assert answer.choices[0].calls[0].arguments == '{"a":'
