"""Several API processes in front of one engine."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from server import api_process
from server.api_processes import ApiProcesses
from server.metrics import Metrics
from server.settings import Settings
from server.shared_metrics import add_up
from server.start_errors import StartError, bind_several
from tests.server.test_lifecycle import LONG_ANSWER, Stream, serve

CALL = {
    "model": "m",
    "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
    "max_tokens": 60,
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"enum": ["Paris", "London"]}, "unit": {"enum": ["C", "F"]}},
                    "required": ["city", "unit"],
                },
            },
        }
    ],
    "tool_choice": "required",
}


def call(url: str, number: int) -> Any:
    """The arguments of a call, streamed for odd numbers. Every client has a connection of its own."""
    body = CALL | {"stream": bool(number % 2), "temperature": number / 16}
    with httpx2.Client(timeout=300) as client:
        response = client.post(f"{url}/v1/chat/completions", json=body)
    assert response.status_code == 200, response.text
    if not number % 2:
        (found,) = response.json()["choices"][0]["message"]["tool_calls"]
        return json.loads(found["function"]["arguments"])
    text = ""
    for line in response.text.splitlines():
        if line.startswith("data: {"):
            for choice in json.loads(line[6:])["choices"]:
                text += "".join(c["function"].get("arguments") or "" for c in choice["delta"].get("tool_calls", ()))
    return json.loads(text)


def metrics(url: str) -> dict[str, float]:
    """The sum of each metric's samples, a fresh connection asked."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(httpx2.get(f"{url}/metrics", timeout=30).text):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0) + sample.value
    return found


@pytest.mark.engine
@pytest.mark.timeout(900)
def test_two_processes_share_an_engine() -> None:
    with serve("--port", "0", "--api-processes", "2") as server:
        url = server.wait_until_ready()
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda number: call(url, number), range(16)))
        assert all(a["city"] in ("Paris", "London") and a["unit"] in ("C", "F") for a in answers)
        for number in range(16, 40):  # the system deals by chance: all sixteen to one is 1 in 32,768, forty is never
            if all(f"[api {process}] 127.0.0.1" in server.log for process in (0, 1)):
                break
            call(url, number)
        else:
            pytest.fail(f"one process has got all\n{server.log}")
        count = sum("POST" in line for line in server.lines)
        for _ in range(4):  # whichever of the two is asked
            found = metrics(url)
            assert found["strictcall_tool_calls_total"] == count
            assert found["strictcall_forward_passes_total"] > 0
            assert found["strictcall_requests_running"] == 0

        # Clients that go away, whichever process they talk to: the engine has nothing to do any more.
        for _ in range(4):
            with httpx2.stream("POST", f"{url}/v1/chat/completions", json=LONG_ANSWER, timeout=60) as response:
                next(response.iter_lines())
        server.wait_for(lambda: metrics(url)["strictcall_requests_running"] == 0, 60, "all answers given up")
        server.wait_for(lambda: _passes_in(url, 0.5) == 0, 60, "an idle engine")

        streams = [Stream(url) for _ in range(4)]
        server.wait_for(lambda: all(len(stream.data) > 5 for stream in streams), 120, "streams")
        server.remember()
        os.killpg(server.process.pid, signal.SIGINT)  # as Ctrl-C in a terminal does
        assert server.exit_code() == 0, server.log
        server.leaves_nothing()
        for stream in streams:
            stream.join(10)
            assert stream.ended_with_an_error_frame(), stream.data[-3:]
        assert server.lines[-1].endswith("[api 0] stopped")
        assert "Traceback" not in server.log
        assert "error" not in server.log


def _passes_in(url: str, seconds: float) -> float:
    before = metrics(url)["strictcall_forward_passes_total"]
    time.sleep(seconds)
    return metrics(url)["strictcall_forward_passes_total"] - before


class _Seat:
    """As much of a seat as a process needs that never takes it."""

    def __init__(self, index: int) -> None:
        self.index = index

    def close(self) -> None:
        pass


def _dies(settings: Settings, names: Sequence[str], seat: _Seat, listener: Any, pipe: Connection, folder: Any) -> None:
    """Instead of ``api_process.main``: the second process is ready and dies when it is told to open."""
    pipe.send(("log", f"process {seat.index} of {names[0]}"))
    if settings.served_model_name:
        pipe.send(("failed", "no such thing"))
        os._exit(1)
    pipe.send(("ready",))
    pipe.recv()
    os.kill(os.getpid(), signal.SIGKILL)


def _processes(settings: Settings, console: io.StringIO, folder: Path) -> tuple[ApiProcesses, list[socket.socket]]:
    sockets = bind_several("127.0.0.1", 0, 2)
    return ApiProcesses(settings, sockets[1:], console, folder), sockets


@pytest.mark.parametrize("fails", [False, True])
def test_a_process_that_dies_is_told(fails: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(api_process, "main", _dies)
    console = io.StringIO()

    async def run() -> str:
        processes, sockets = _processes(Settings(served_model_name=("x",) if fails else ()), console, tmp_path)
        try:
            if fails:
                with pytest.raises(StartError, match="API process 1 failed: no such thing"):
                    await processes.start([_Seat(1)], ["m"])  # type: ignore[list-item]
                return ""
            await processes.start([_Seat(1)], ["m"])  # type: ignore[list-item]
            processes.open()
            return await asyncio.wait_for(processes.wait_for_a_death(), 30)
        finally:
            await processes.stop(seconds=5)
            sockets[0].close()

    told = asyncio.run(run())
    assert told == ("" if fails else "API process 1 was ended by SIGKILL")
    assert console.getvalue() == "process 1 of m\n"


def test_one_port_is_one_servers() -> None:
    sockets = bind_several("127.0.0.1", 0, 3)
    try:
        ports = {at.getsockname()[1] for at in sockets}
        assert len(ports) == 1
        for count in (1, 2):
            with pytest.raises(StartError, match="another program has it"):
                bind_several("127.0.0.1", next(iter(ports)), count)
    finally:
        for at in sockets:
            at.close()


def test_metrics_of_several_processes() -> None:
    texts = []
    for number in (1, 2):
        one = Metrics()
        one.requests.labels("chat", "200").inc(number)
        one.requests.labels(f"only {number}", "200").inc()
        one.running.inc(number)
        one.ttft.observe(0.02 * number)
        one.inter_delta.observe(0.02 * number)
        one.watch_engine(lambda passes=10 * number: {"forward_passes": passes})  # type: ignore[misc]
        text = one.exposition()
        texts.append(text)
    added = add_up([text + b"# TYPE vllm:waiting gauge\nvllm:waiting 3\n" for text in texts]).decode()
    lines = added.splitlines()
    assert 'strictcall_requests_total{route="chat",status="200"} 3.0' in lines
    assert 'strictcall_requests_total{route="only 2",status="200"} 1.0' in lines
    assert "strictcall_requests_running 3.0" in lines
    assert "strictcall_ttft_seconds_count 2.0" in lines
    assert 'strictcall_ttft_seconds_bucket{le="0.025"} 1.0' in lines
    assert 'strictcall_inter_delta_seconds_bucket{le="+Inf"} 2.0' in lines
    assert "strictcall_forward_passes_total 20.0" in lines, "the engine is one"
    assert 'vllm:waiting{process="0"} 3.0' in lines
    assert 'vllm:waiting{process="1"} 3.0' in lines
    assert len([line for line in lines if line.startswith("# TYPE strictcall_requests_total ")]) == 1
