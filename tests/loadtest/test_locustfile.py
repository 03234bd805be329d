"""The Locust file judges: valid calls end in exit code 0 and times in the report, anything else in exit code 1.

The peer here is a scripted HTTP server, so that wrong answers can be had on order; `make loadtest` meets the real one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ARGUMENTS = {
    "get_weather": '{"city": "Paris"}',
    "add_numbers": '{"a": 17, "b": 25}',
    "create_event": '{"title": "Lunch", "day": "2026-05-03", "attendees": ["Ana"]}',
    "set_light": '{"room": "kitchen", "state": {"colour": "#ff0000"}}',
    "ping": "{}",
}
USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


def _chunks(name: str, arguments: str) -> Iterator[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        return HEAD | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}], "usage": None}

    yield chunk({"role": "assistant"})
    function = {"name": name, "arguments": ""}
    yield chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
    for char in arguments:
        yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": char}}]})
    yield chunk({}, "tool_calls")
    yield HEAD | {"choices": [], "usage": USAGE}


HEAD = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    arguments: dict[str, str] = ARGUMENTS
    status = 200

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._json(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.status != 200:
            self._json(self.status, {"error": {"message": "no", "type": "server_error", "param": None, "code": None}})
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        name = body["tools"][0]["function"]["name"]
        for chunk in _chunks(name, self.arguments[name]):
            self._part(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            time.sleep(0.002)
        self._part(b"data: [DONE]\n\n")
        self._part(b"")

    def _part(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _json(self, status: int, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def scripted(arguments: dict[str, str], status: int) -> Iterator[str]:
    handler = type("Handler", (_Handler,), {"arguments": arguments, "status": status})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def locust(url: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "locust", "-f", "loadtest/locustfile.py", "--headless", "--only-summary"]
    command += ["--users", "2", "--spawn-rate", "2", "--run-time", "4s", "--host", url]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_valid_calls_pass_and_their_times_are_reported() -> None:
    with scripted(ARGUMENTS, 200) as url:
        run = locust(url)
    output = run.stdout + run.stderr
    assert run.returncode == 0, output
    for kind in ("TTFT", "ITL", "CALL", "POST"):
        assert kind in output, output
    assert "valid calls" in output


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (dict.fromkeys(ARGUMENTS, '{"zzz": 1}'), 200, "zzz"),
        (dict.fromkeys(ARGUMENTS, '{"city": '), 200, "not strict JSON"),
        (ARGUMENTS, 500, "status 500"),
    ],
    ids=["invalid arguments", "half a call", "server error"],
)
def test_anything_wrong_fails_the_run(arguments: dict[str, str], status: int, said: str) -> None:
    with scripted(arguments, status) as url:
        run = locust(url)
    assert run.returncode == 1, run.stdout + run.stderr
    assert said in run.stdout + run.stderr
