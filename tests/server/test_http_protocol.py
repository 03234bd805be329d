"""The wire under HTTP: clients that are slow, old, or gone, as the server sees them on a socket."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from server.http_protocol import MAX_HEAD, Turn
from tests.server.stub import Stub, StubEngine, chunks, say, serve
from tests.server.test_disconnects import send, until

HOST = b"host: x\r\n"


@pytest.fixture
def own() -> Iterator[Stub]:
    with serve(StubEngine(), receive_timeout=0.5, send_timeout=0.5) as stub:
        yield stub


def request(version: str = "1.1", *headers: str, **fields: object) -> bytes:
    body = json.dumps({"model": "stub", "messages": [{"role": "user", "content": "Hi"}]} | fields).encode()
    lines = [f"POST /v1/chat/completions HTTP/{version}", "host: x", f"content-length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def connected(stub: Stub, data: bytes = b"", receive_buffer: int | None = None) -> socket.socket:
    connection = socket.socket()
    if receive_buffer is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(30)
    connection.connect(("127.0.0.1", stub.port))
    connection.sendall(data)
    return connection


def all_of(connection: socket.socket) -> bytes:
    """What comes until the server closes."""
    raw = bytearray()
    while part := connection.recv(65536):
        raw += part
    connection.close()
    return bytes(raw)


def nobody_is_connected(stub: Stub) -> bool:
    stub.client.close()
    return not stub.server.server_state.connections


def test_http_1_0_gets_a_stream_without_chunks(own: Stub) -> None:
    own.engine.script = say("Hel", 0.05, "lo")
    head, _, body = all_of(connected(own, request("1.0", stream=True))).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert b"transfer-encoding" not in head.lower()
    assert b"connection: close" in head.lower()
    assert "".join(f["choices"][0]["delta"].get("content", "") for f in chunks(body)) == "Hello"


def test_http_1_0_gets_a_whole_answer(own: Stub) -> None:
    head, _, body = all_of(connected(own, request("1.0"))).partition(b"\r\n\r\n")
    assert b"content-length: %d" % len(body) in head.lower()
    assert json.loads(body)["choices"][0]["message"]["content"] == "Hello"


@pytest.mark.parametrize("data", [b"", b"POST /v1/chat/completions HTTP/1.1\r\nhost:", request("1.0")[:-5]])
def test_a_request_that_does_not_arrive_ends(own: Stub, data: bytes) -> None:
    own.server.config.timeout_keep_alive = 1
    connection = connected(own, data)
    raw = all_of(connection)
    assert raw == b"" or raw.startswith(b"HTTP/1.1 408 ")
    assert own.chat().status_code == 200


@pytest.mark.parametrize("line", [b"x: y\r\n", b"x" * 1000])
def test_a_head_without_end_is_cut(own: Stub, line: bytes) -> None:
    connection = connected(own, b"POST /v1/chat/completions HTTP/1.1\r\n" + HOST)
    with pytest.raises(OSError):  # noqa: PT011, PT012 - refused, reset or closed, as the system's buffers will have it
        for _ in range(4 * MAX_HEAD // len(line)):
            connection.sendall(line)
        if not all_of(connection).startswith(b"HTTP/1.1 431 "):
            pytest.fail("a head without end was read")
        raise OSError
    connection.close()
    assert own.chat().status_code == 200


def test_requests_that_come_together_are_answered_in_turn(own: Stub) -> None:
    own.engine.script = lambda asked: [f"seed {asked.sampling.seed}", 0.05]
    several = b"".join(request(seed=n, stream=n == 1) for n in range(3)) + request("1.1", "connection: close", seed=3)
    raw = all_of(connected(own, several)).decode()
    assert raw.count("HTTP/1.1 200 OK") == 4
    places = [raw.index(f"seed {n}") for n in range(4)]
    assert places == sorted(places)


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_sends_its_next_request_and_leaves_ends_its_generation(own: Stub, stream: bool) -> None:
    own.engine.script = say("Hello", 60.0)
    connection = connected(own, request(stream=stream))
    until(lambda: own.engine.running == 1)
    connection.sendall(request(seed=2))
    connection.close()
    until(lambda: own.engine.running == 0)
    until(lambda: own.metric("strictcall_requests_running") == 0)
    assert len(own.engine.asked) == 1


def test_a_stream_that_nobody_takes_leaves_no_connection(own: Stub) -> None:
    own.engine.max_model_len = 10_000_000
    own.engine.script = say(*["x" * 5000, 0.001] * 20_000)
    connection = send(own, stream=True, receive_buffer=4096)
    until(lambda: own.engine.aborted == 1)
    until(lambda: nobody_is_connected(own), 5)
    connection.close()


def test_a_whole_answer_that_nobody_takes_leaves_no_connection(own: Stub) -> None:
    own.engine.max_model_len = 10_000_000
    own.engine.script = say("x" * 9_000_000)
    connection = send(own, stream=False, receive_buffer=4096)
    until(lambda: own.engine.running == 0 and len(own.engine.asked) == 1)
    until(lambda: nobody_is_connected(own), 10)
    connection.close()


def test_a_whole_answer_that_is_taken_slowly_is_taken_whole() -> None:
    with serve(StubEngine(), send_timeout=1) as stub:
        stub.engine.max_model_len = 10_000_000
        stub.engine.script = say("x" * 9_000_000)
        connection = send(stub, stream=False, receive_buffer=65536)
        connection.settimeout(30)
        raw = bytearray()
        while not raw.endswith(b"}}"):
            part = connection.recv(2**20)
            assert part, f"cut after {len(raw)}"
            raw += part
            if len(raw) % 3 == 0 and len(raw) < 1_000_000:
                time.sleep(0.2)
        connection.close()
    assert raw.count(b"x" * 9_000_000) == 1


def test_an_offer_of_http_2_is_passed_over(own: Stub) -> None:
    offer = [
        "connection: Upgrade, HTTP2-Settings",
        "upgrade: h2c",
        "http2-settings: AAEAAEAAAAIAAAAB",
    ]
    whole = request("1.1", *offer)
    for pieces in ([whole], [whole[:-40], whole[-40:]]):
        connection = connected(own)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.05)
        raw = b""
        while not raw.endswith(b"}"):
            raw += connection.recv(65536)
        assert raw.startswith(b"HTTP/1.1 200 ")
        assert b"Hello" in raw
        connection.close()


class _Transport:
    """As uvloop's: writing to one that is closed raises."""

    def __init__(self) -> None:
        self.closed = False
        self.writes: list[bytes] = []

    @property
    def written(self) -> bytes:
        return b"".join(self.writes)

    def is_closing(self) -> bool:
        return self.closed

    def write(self, data: bytes) -> None:
        if self.closed:
            raise RuntimeError("the handler is closed")
        self.writes.append(data)


def test_steps_that_come_in_one_turn_leave_in_one_write_for_each_client() -> None:
    async def run() -> list[list[bytes]]:
        turn, transports = Turn(), [_Transport(), _Transport()]
        for token in (b"one ", b"two ", b"three"):
            for transport in transports:
                written: Any = transport
                turn.write(written, token)
        await asyncio.sleep(0)
        turn.write(written, b".")
        await asyncio.sleep(0)
        return [transport.writes for transport in transports]

    assert asyncio.run(run()) == [[b"one two three"], [b"one two three", b"."]]


def test_a_client_that_leaves_within_a_turn_takes_nothing_from_others() -> None:
    async def run() -> list[bytes]:
        turn, transports = Turn(), [_Transport(), _Transport(), _Transport()]
        for transport in transports:
            written: Any = transport
            turn.write(written, b"token")
        assert not any(transport.written for transport in transports), "all leaves at the turn's end"
        transports[1].closed = True
        await asyncio.sleep(0)
        return [transport.written for transport in transports]

    assert asyncio.run(run()) == [b"token", b"", b"token"]
