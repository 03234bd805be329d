"""The stream's rules S1 to S16, on the bytes as a client gets them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from server import http_protocol
from tests.server.stub import TOOLS, Stub, call, chunks, in_turn, say
from tests.server.test_disconnects import send, until

ROME = call("weather", '{"city": "Rome"}')


def split(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def deltas(frames: list[dict[str, Any]], choice: int = 0) -> list[dict[str, Any]]:
    return [c["delta"] for f in frames for c in f["choices"] if c["index"] == choice]


def calls(frames: list[dict[str, Any]], choice: int = 0) -> dict[int, dict[str, str]]:
    """The calls as a client puts them together."""
    out: dict[int, dict[str, str]] = {}
    for delta in deltas(frames, choice):
        for part in delta.get("tool_calls", ()):
            entry = out.setdefault(part["index"], {"id": "", "name": "", "arguments": ""})
            entry["id"] += part.get("id", "")
            entry["name"] += part["function"].get("name", "")
            entry["arguments"] += part["function"].get("arguments", "")
    return out


def test_s1_frames_and_headers(stub: Stub) -> None:
    response = stub.chat(stream=True)
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"
    assert "content-length" not in response.headers
    assert response.headers["x-request-id"].startswith("req_")
    assert response.content.endswith(b"data: [DONE]\n\n")
    chunks(response.content)  # every byte is a frame


def test_s2_every_chunk_has_the_same_head(stub: Stub) -> None:
    frames = stub.frames(stream_options={"include_usage": True})
    heads = {(f["id"], f["object"], f["created"], f["model"]) for f in frames}
    assert len(heads) == 1
    (answer_id, kind, created, model) = heads.pop()
    assert answer_id.startswith("chatcmpl-")
    assert kind == "chat.completion.chunk"
    assert isinstance(created, int)
    assert model == "stub"


def test_s3_s4_roles_once_and_choice_0_in_front(stub: Stub) -> None:
    frames = stub.frames(n=3)
    assert [f["choices"][0]["index"] for f in frames[:3]] == [0, 1, 2]
    for n in range(3):
        assert deltas(frames, n)[0] == {"role": "assistant"}
        assert sum("role" in delta for delta in deltas(frames, n)) == 1
        assert "".join(delta.get("content", "") for delta in deltas(frames, n)) == "Hello"


def test_s5_to_s8_a_call(stub: Stub) -> None:
    stub.engine.script = say("Sure.\n", *split(ROME + "\n" + call("now", "{}"), 3))
    frames = stub.frames(tools=TOOLS)
    parts = [part for delta in deltas(frames) for part in delta.get("tool_calls", ())]
    first = [part for part in parts if "id" in part]
    assert [part.keys() for part in first] == [{"index", "id", "type", "function"}] * 2
    assert [part["type"] for part in first] == ["function"] * 2
    assert [part["function"] for part in first] == [
        {"name": "weather", "arguments": ""},
        {"name": "now", "arguments": ""},
    ]
    assert [part["index"] for part in first] == [0, 1]
    assert first[0]["id"] != first[1]["id"]
    for part in parts:
        if "id" not in part:
            assert part.keys() == {"index", "function"}
            assert part["function"].keys() == {"arguments"}
            assert part["function"]["arguments"], "no empty fragments"
    order = [part["index"] for part in parts]
    assert order == sorted(order), "a call is finished before the next is opened"
    assert all(len(delta.get("tool_calls", [0])) == 1 for delta in deltas(frames))


def test_no_delta_is_empty_and_no_key_is_null(stub: Stub) -> None:
    """b7, b8, b14, b15: metadata once, no empty deltas, no ``content`` or ``tool_calls`` that say nothing."""
    stub.engine.script = say(*split("Sure.\n" + ROME, 2))
    frames = stub.frames(tools=TOOLS)
    found = deltas(frames)
    assert found[-1] == {}
    for delta in found[:-1]:
        assert len(delta) == 1
        assert all(value not in ("", None, []) for value in delta.values())
    assert "\n" not in "".join(d.get("content", "") for d in found).removeprefix("Sure.")


def test_s9_fragments_are_the_whole_answers_arguments(stub: Stub) -> None:
    arguments = json.dumps({"city": 'Żółć "x" </tool_call> \\ 東京 🙂', "days": -3}, ensure_ascii=False)
    for size in (1, 2, 3, 7, 1000):
        stub.engine.script = say(*split(call("weather", arguments), size))
        assert calls(stub.frames(tools=TOOLS))[0]["arguments"] == arguments
        whole = stub.chat(tools=TOOLS).json()["choices"][0]["message"]["tool_calls"][0]
        assert whole["function"] == {"name": "weather", "arguments": arguments}


def test_arguments_come_as_they_are_generated(stub: Stub) -> None:
    """b19: they are with the client while the model goes on writing, and nothing joins what comes bit by bit."""
    text = call("weather", json.dumps({"city": "x" * 600}))
    stub.engine.script = say(*split(text, 4))
    parts = [part for delta in deltas(stub.frames(tools=TOOLS)) for part in delta.get("tool_calls", ())]
    assert len(parts) > 100
    stub.engine.script = say(text[:300], 60.0)
    connection = send(stub, stream=True, tools=TOOLS)
    connection.settimeout(10)
    seen = bytearray()

    def shown() -> bool:
        seen.extend(connection.recv(65536))
        return b"xxx" in seen

    until(shown, 10)
    assert stub.engine.running == 1
    connection.close()
    until(lambda: stub.engine.running == 0)


@pytest.mark.parametrize("choice", ["auto", "required", {"type": "function", "function": {"name": "weather"}}])
def test_s10_one_finish_chunk_with_tool_calls(stub: Stub, choice: Any) -> None:
    stub.engine.script = say(ROME)
    frames = stub.frames(tools=TOOLS, tool_choice=choice)
    reasons = [c["finish_reason"] for f in frames for c in f["choices"] if c["finish_reason"] is not None]
    assert reasons == ["tool_calls"]
    assert frames[-1]["choices"][0]["delta"] == {}
    assert stub.chat(tools=TOOLS, tool_choice=choice).json()["choices"][0]["finish_reason"] == "tool_calls"


def test_s11_usage_last_and_only_when_asked(stub: Stub) -> None:
    for options in (None, {}, {"include_usage": False}, {"include_obfuscation": True}):
        frames = stub.frames(stream_options=options)
        assert all("usage" not in f and f["choices"] for f in frames)
    frames = stub.frames(stream_options={"include_usage": True})
    assert all(f["usage"] is None for f in frames[:-1])
    assert frames[-1]["choices"] == []
    assert frames[-2]["choices"][0]["finish_reason"] == "stop"
    usage = frames[-1]["usage"]
    assert usage["completion_tokens"] == 6
    assert usage["total_tokens"] == usage["prompt_tokens"] + 6
    assert usage["prompt_tokens_details"]["cached_tokens"] == 3


def test_s12_s14_nothing_but_the_known_keys(stub: Stub) -> None:
    stub.engine.script = say("Sure.\n", ROME)
    for frame in stub.frames(tools=TOOLS):
        assert frame.keys() == {"id", "object", "created", "model", "choices"}
        for choice in frame["choices"]:
            assert choice.keys() == {"index", "delta", "logprobs", "finish_reason"}
            assert choice["delta"].keys() <= {"role", "content", "tool_calls"}


def test_s13_a_fault_after_the_headers_is_one_frame_and_the_end(stub: Stub) -> None:
    stub.engine.script = say("Hel", RuntimeError("secret"))
    response = stub.chat(stream=True)
    assert response.status_code == 200
    frames = chunks(response.content, done=False)
    assert frames[-1] == {
        "error": {
            "message": "The server had an internal error.",
            "type": "server_error",
            "param": None,
            "code": "internal_error",
        }
    }
    assert all(c["finish_reason"] is None for f in frames[:-1] for c in f["choices"])


def test_s15_reasoning_stands_apart(stub: Stub) -> None:
    from decoding.events import Finished, Reasoning, Text
    from server.generation import Step
    from server.openai.stream import ChunkWriter

    writer = ChunkWriter("chatcmpl-1", 1, "m", choices=1, with_usage=False)
    raw = writer.step(0, Step([Reasoning("hm"), Text("yes"), Finished("stop")], []))
    assert [f["choices"][0]["delta"] for f in chunks(raw, done=False)] == [
        {"reasoning_content": "hm", "reasoning": "hm"},
        {"content": "yes"},
        {},
    ]


def test_logprobs_of_every_token_once_calls_included(stub: Stub) -> None:
    """h4: streamed, with tools, tokens of markers too."""
    text = "Sure.\n" + ROME
    stub.engine.script = say(*split(text, 5))
    frames = stub.frames(tools=TOOLS, logprobs=True, top_logprobs=2)
    entries = [e for f in frames for c in f["choices"] if c["logprobs"] for e in c["logprobs"]["content"]]
    assert "".join(entry["token"] for entry in entries) == text
    assert all(len(entry["top_logprobs"]) == 2 for entry in entries)
    assert entries[0] == {
        "token": "S",
        "logprob": -0.5,
        "bytes": [83],
        "top_logprobs": [{"token": "S", "logprob": -0.5, "bytes": [83]}] * 2,
    }
    whole = stub.chat(tools=TOOLS, logprobs=True).json()["choices"][0]
    assert "".join(entry["token"] for entry in whole["logprobs"]["content"]) == text
    assert all(entry["top_logprobs"] == [] for entry in whole["logprobs"]["content"])
    assert stub.chat().json()["choices"][0]["logprobs"] is None


def test_choices_do_not_share_state(stub: Stub) -> None:
    """b11: calls of several choices, interleaved."""
    cities = ["Rome", "Oslo", "Lima"]
    texts = [split(call("weather", json.dumps({"city": city})), 3) for city in cities]
    stub.engine.script = lambda asked: texts[int(asked.request_id.rsplit("-", 1)[1])]
    frames = stub.frames(tools=TOOLS, n=3, seed=5)
    for n, city in enumerate(cities):
        assert json.loads(calls(frames, n)[0]["arguments"]) == {"city": city}
    assert len({calls(frames, n)[0]["id"] for n in range(3)}) == 3
    assert sorted(asked.sampling.seed or 0 for asked in stub.engine.asked) == [5, 6, 7]
    whole = stub.chat(tools=TOOLS, n=3).json()
    assert [c["index"] for c in whole["choices"]] == [0, 1, 2]
    assert [
        json.loads(c["message"]["tool_calls"][0]["function"]["arguments"])["city"] for c in whole["choices"]
    ] == cities
    assert whole["usage"]["completion_tokens"] == sum(len("".join(t)) + 1 for t in texts)


def test_events_that_come_together_leave_together(stub: Stub) -> None:
    """A delta with a whole call is several frames and one write."""
    stub.engine.script = in_turn([0.05, ROME, 0.05])
    body = {"model": "stub", "messages": [{"role": "user", "content": "x"}], "tools": TOOLS, "stream": True}
    with stub.client.stream("POST", "/v1/chat/completions", json=body) as response:
        parts = list(response.iter_raw())
    assert parts[0].count(b"data: ") == 3, "role, start and arguments"


@pytest.mark.parametrize("text", ["a\u0085b\u2028c\u2029d", "é\u2028", "日本\u2027\u202a"])
def test_no_frame_is_cut_by_a_client_that_splits_lines_as_python_does(stub: Stub, text: str) -> None:
    """U+0085, U+2028 and U+2029 end a line for ``str.splitlines``, and JSON need not escape them."""
    written = call("weather", json.dumps({"city": text}, ensure_ascii=False))
    stub.engine.script = lambda _: ["Look: ", text, "\n", *split(written, 3)]
    response = stub.chat(stream=True, tools=TOOLS, logprobs=True)
    lines = response.content.decode().splitlines()
    assert lines == response.content.decode().split("\n")[:-1]
    frames = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    assert "".join(delta.get("content") or "" for delta in deltas(frames)) == "Look: " + text
    assert json.loads(calls(frames)[0]["arguments"]) == {"city": text}
    entries = [e for f in frames for c in f["choices"] for e in (c["logprobs"] or {"content": []})["content"]]
    assert text in "".join(entry["token"] for entry in entries)


def test_tokens_of_a_client_that_keeps_up_go_the_short_way(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """And are the same bytes as by ASGI's ``send``, which writes the first chunk and the last."""
    written: list[bytes] = []
    write = http_protocol._write_now
    monkeypatch.setattr(
        http_protocol,
        "_write_now",
        lambda cycle, turn, data: write(cycle, turn, data) and (written.append(data) or True),
    )
    words = [f"word{n} " for n in range(20)]
    stub.engine.script = lambda _: [piece for word in words for piece in (word, 0.005)]
    short = stub.frames()
    assert len(written) >= 10
    assert "".join(delta.get("content", "") for delta in deltas(short)) == "".join(words)
    monkeypatch.setattr(http_protocol, "_write_now", lambda cycle, turn, data: False)
    long = stub.frames()
    assert deltas(short) == deltas(long)
