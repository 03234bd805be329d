"""A client that goes away, or takes nothing, costs nothing."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from tests.server.stub import Stub, StubEngine, say, serve


@pytest.fixture
def own() -> Iterator[Stub]:
    with serve(StubEngine(), send_timeout=1, keepalive_seconds=0.2) as stub:
        yield stub


def send(stub: Stub, *, stream: bool, receive_buffer: int | None = None, **fields: object) -> socket.socket:
    """A raw request; the caller decides how to read and when to leave."""
    body = {"model": "stub", "messages": [{"role": "user", "content": "Hi"}], "stream": stream} | fields
    data = json.dumps(body).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(data)}\r\n\r\n".encode()
    connection = socket.socket()
    if receive_buffer is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.connect(("127.0.0.1", stub.port))
    connection.sendall(head + data)
    return connection


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("n", [1, 3])
def test_a_vanished_client_ends_its_generation(own: Stub, stream: bool, n: int) -> None:
    own.engine.script = say("Hello", 60.0)
    connection = send(own, stream=stream, n=n)
    until(lambda: own.engine.running == n)
    assert own.metric("strictcall_requests_running") == 1
    if stream:
        until(lambda: b"Hello" in connection.recv(65536))
    connection.close()
    until(lambda: own.engine.running == 0)
    assert own.engine.aborted == n
    until(lambda: own.metric("strictcall_requests_running") == 0)
    until(lambda: own.metric("strictcall_client_disconnects_total") == 1)
    own.engine.script = say("Hello")
    assert own.chat().status_code == 200


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_after_a_large_body(own: Stub, stream: bool) -> None:
    """More than uvicorn reads ahead: it stops to read, and would not see that the client has gone."""
    own.engine.script = say("Hello", 60.0)
    connection = send(own, stream=stream, user="x" * 500_000)
    until(lambda: own.engine.running == 1)
    connection.close()
    until(lambda: own.engine.running == 0)
    until(lambda: own.metric("strictcall_client_disconnects_total") == 1)


def test_a_client_that_leaves_while_waiting_in_the_queue() -> None:
    with serve(StubEngine(), max_running=1, max_queued=5) as stub:
        stub.engine.script = say("x", 60.0)
        first = send(stub, stream=True)
        until(lambda: stub.engine.running == 1)
        second = send(stub, stream=False)
        until(lambda: stub.metric("strictcall_requests_queued") == 1)
        second.close()
        until(lambda: stub.metric("strictcall_requests_queued") == 0)
        first.close()
        until(lambda: stub.metric("strictcall_requests_running") == 0)
        assert len(stub.engine.asked) == 1
        stub.engine.script = say("x")
        assert stub.chat().status_code == 200


def test_keep_alive_comments_while_there_is_nothing_to_say(own: Stub) -> None:
    own.engine.script = say("Hel", 0.7, "lo")
    raw = own.chat(stream=True).content
    assert raw.count(b": keep-alive\n\n") >= 2
    assert raw.count(b"data: ") == 5


def test_a_client_that_takes_nothing_is_dropped_and_holds_nobody_up(own: Stub) -> None:
    own.engine.max_model_len = 10_000_000
    own.engine.script = lambda asked: ["x" * 5000, 0.001] * 20_000 if asked.sampling.seed == 1 else ["Hello"]
    connection = send(own, stream=True, seed=1, receive_buffer=4096)
    until(lambda: own.engine.running == 1)
    for _ in range(5):
        assert own.chat(seed=2).json()["choices"][0]["message"]["content"] == "Hello"
    until(lambda: own.metric("strictcall_requests_running") == 0)
    assert own.engine.running == 0
    assert own.engine.aborted == 1
    connection.close()


def test_a_slow_client_gets_everything() -> None:
    with serve(StubEngine(), send_timeout=30) as stub:
        stub.engine.max_model_len = 10_000_000
        text = [f"{n:05d} " * 400 for n in range(3000)]
        stub.engine.script = say(*text)
        connection = send(stub, stream=True, receive_buffer=4096)
        until(lambda: bool(stub.engine.asked) and stub.engine.running == 0, 60)
        raw = bytearray()
        while not raw.endswith(b"[DONE]\n\n\r\n0\r\n\r\n") and (part := connection.recv(2**20)):
            raw += part
        connection.close()
    body = b"".join(_chunked(bytes(raw).partition(b"\r\n\r\n")[2]))
    frames = [json.loads(f[6:]) for f in body.decode().split("\n\n") if f.startswith("data: {")]
    content = "".join(f["choices"][0]["delta"].get("content", "") for f in frames)
    assert content == "".join(text)
    assert len(frames) < len(text), "what piled up left in fewer pieces"


def test_a_body_that_stops_arriving_is_answered_and_holds_nobody_up() -> None:
    with serve(StubEngine(), receive_timeout=0.5) as stub:
        stub.engine.script = say("Hello")
        connection = socket.create_connection(("127.0.0.1", stub.port), timeout=20)
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n"
        connection.sendall(head + b'{"model": "stub", ')
        assert stub.chat().status_code == 200
        raw = bytearray()
        while part := connection.recv(65536):
            raw += part
        connection.close()
    assert raw.startswith(b"HTTP/1.1 408 ")
    error = json.loads(bytes(raw).partition(b"\r\n\r\n")[2])["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["code"] == "request_timeout"


def test_a_client_that_leaves_in_the_middle_of_its_body() -> None:
    with serve(StubEngine()) as stub:
        stub.engine.script = say("Hello")
        connection = socket.create_connection(("127.0.0.1", stub.port))
        connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
        connection.close()
        assert stub.chat().status_code == 200
        assert stub.metric("strictcall_requests_running") == 0


def _chunked(raw: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(raw):
        end = raw.index(b"\r\n", at)
        size = int(raw[at:end], 16)
        yield raw[end + 2 : end + 2 + size]
        at = end + 4 + size
