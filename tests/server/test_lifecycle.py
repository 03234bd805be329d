"""The server as a process: loading, stopping, dying. Real processes; three engine starts, each used for all it can."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]

COMMAND = str(Path(sys.executable).with_name("strictcall"))
START_LIMIT = 400.0
#: What is promised: nothing is left ten seconds after the signal (seconds; 2 were seen on an idle machine).
STOP_LIMIT = 10.0
#: Threads that are bound to a core wait for each other when others use the machine too.
UNBOUND = {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1"}
LONG_ANSWER = {
    "model": "m",
    "messages": [{"role": "user", "content": "Count from one to ten thousand."}],
    "max_tokens": 4000,
    "stream": True,
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "count",
                "parameters": {
                    "type": "object",
                    "properties": {"numbers": {"type": "array", "items": {"type": "integer"}, "minItems": 3000}},
                    "required": ["numbers"],
                },
            },
        }
    ],
    "tool_choice": "required",
}


@dataclass
class Serve:
    """A running ``strictcall serve``."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)

    @property
    def log(self) -> str:
        return "\n".join(self.lines)

    def wait_for(self, condition: Callable[[], object], limit: float, what: str) -> float:
        """Seconds until the condition holds; fails with the log when it does not."""
        started = time.monotonic()
        while not condition():
            if time.monotonic() - started > limit:
                pytest.fail(f"{what} not within {limit:.0f} s\n{self.log}")
            time.sleep(0.1)
        return time.monotonic() - started

    def wait_until_ready(self) -> str:
        """The server's URL, as its ready line says."""

        def ready_or_gone() -> bool:
            return " ready: " in self.log or self.process.poll() is not None

        self.wait_for(ready_or_gone, START_LIMIT, "ready")
        assert " format prompted: the chat template knows no tools" in self.log, "why this format"
        match = re.search(r" ready: (http://\S+)/v1 {2}model \S+ {2}format \w+ {2}in \d+ s", self.log)
        assert match, self.log
        self.remember()
        return match[1]

    def remember(self) -> set[int]:
        """Collect the process ids of all that this server has started so far."""
        self.seen |= descendants(self.process.pid)
        return self.seen

    def exit_code(self) -> int:
        self.wait_for(lambda: self.process.poll() is not None, STOP_LIMIT, "exit")
        return self.process.returncode

    def leaves_nothing(self) -> float:
        return self.wait_for(lambda: not any(alive(pid) for pid in self.seen), STOP_LIMIT, f"end of {self.seen}")


@contextmanager
def serve(
    *arguments: str, command: Sequence[str] = (COMMAND,), environment: Mapping[str, str] = UNBOUND
) -> Iterator[Serve]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("STRICTCALL_")}
    process = subprocess.Popen(
        [*command, "serve", "--served-model-name", "m", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=clean | dict(environment),
    )
    running = Serve(process)

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            running.lines.append(line.rstrip("\n"))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield running
    finally:
        running.remember()
        if process.poll() is None:
            process.kill()
        process.wait(STOP_LIMIT)
        reader.join(5)


def descendants(pid: int) -> set[int]:
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found: set[int] = set()
    todo = [pid]
    while todo:
        for child in parents.get(todo.pop(), []):
            found.add(child)
            todo.append(child)
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def engine_core(server: Serve) -> int | None:
    """The engine's process: a child of the server that runs vLLM."""
    for pid in descendants(server.process.pid):
        try:
            if b"EngineCore" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
        except OSError:
            continue
    return None


class Stream(threading.Thread):
    """A streamed request, read in a thread; ``data`` are the payloads of its frames."""

    def __init__(self, url: str, body: Mapping[str, object] = LONG_ANSWER) -> None:
        super().__init__(daemon=True)
        self.url = url
        self.body = body
        self.data: list[str] = []
        self.fault: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            with httpx2.stream("POST", f"{self.url}/v1/chat/completions", json=self.body, timeout=120) as response:
                for line in response.iter_lines():
                    if line.startswith("data: "):
                        self.data.append(line.removeprefix("data: "))
        except Exception as error:
            self.fault = error

    def ended_with_an_error_frame(self) -> bool:
        return bool(self.data) and '"error"' in self.data[-1] and not any('finish_reason":"' in d for d in self.data)


def test_sigterm_lets_streams_end_and_stops_everything() -> None:
    with serve("--port", "0", "--shutdown-grace", "1") as server:
        url = server.wait_until_ready()
        host_port = url.removeprefix("http://")

        # The port is taken now: a second server says so and goes.
        second = subprocess.run(
            [COMMAND, "serve", "--port", host_port.rpartition(":")[2]], capture_output=True, text=True, timeout=120
        )
        assert second.returncode == 1
        assert host_port in second.stderr

        stream = Stream(url)
        server.wait_for(lambda: len(stream.data) > 5, 120, "stream")
        assert httpx2.get(f"{url}/health/ready").status_code == 200
        assert httpx2.get(f"{url}/v1/models").json()["data"][0]["id"] == "m"
        server.remember()
        server.process.send_signal(signal.SIGTERM)
        assert server.exit_code() == 0, server.log
        server.leaves_nothing()
        stream.join(10)
        assert stream.fault is None
        assert stream.ended_with_an_error_frame(), stream.data[-3:]
        assert "Traceback" not in server.log
        assert "error" not in server.log
        assert server.lines[-1].endswith("stopped")
        # One access line per request, none per token, none for health.
        assert sum("/v1/chat/completions" in line for line in server.lines) <= 1
        assert not any("/health" in line for line in server.lines)


def test_a_dead_engine_ends_the_server_with_one_clear_line() -> None:
    with serve("--port", "0") as server:
        url = server.wait_until_ready()
        stream = Stream(url)
        server.wait_for(lambda: len(stream.data) > 5, 120, "stream")
        server.remember()
        core = engine_core(server)
        assert core is not None
        os.kill(core, signal.SIGKILL)

        def not_ready() -> bool:
            try:
                return httpx2.get(f"{url}/health/ready", timeout=5).status_code == 503
            except httpx2.HTTPError:
                return server.process.poll() is not None

        server.wait_for(not_ready, STOP_LIMIT, "not ready")
        assert server.exit_code() == 1
        server.leaves_nothing()
        stream.join(10)
        assert stream.fault is None
        assert stream.ended_with_an_error_frame(), stream.data[-3:]
        assert sum("error: the engine died: its process was ended by SIGKILL" in line for line in server.lines) == 1
        assert "Traceback" not in server.log


def test_nothing_outlives_a_server_that_is_killed() -> None:
    with serve("--port", "0") as server:
        url = server.wait_until_ready()
        stream = Stream(url)
        server.wait_for(lambda: len(stream.data) > 5, 120, "stream")
        assert engine_core(server) in server.remember()
        assert len(server.seen) >= 3
        maps = "".join(Path(f"/proc/{pid}/maps").read_text(errors="replace") for pid in server.seen if alive(pid))
        shared = set(re.findall(r"/dev/shm/psm_\w+", maps))
        # One worker lives in the engine's own process: nothing is shared that could outlive both.
        assert not shared
        server.process.kill()
        server.leaves_nothing()


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT]])
def test_a_server_that_is_loading_answers_and_stops(signals: list[signal.Signals]) -> None:
    with serve("--port", "0", "--log-level", "debug") as server:
        server.wait_for(lambda: "loading vLLM" in server.log, START_LIMIT, "loading")
        port = _listening_port(server.process.pid)
        url = f"http://127.0.0.1:{port}"
        assert httpx2.get(f"{url}/health/live", timeout=30).status_code == 200
        assert httpx2.get(f"{url}/health/ready", timeout=30).status_code == 503
        early = httpx2.post(f"{url}/v1/chat/completions", json=LONG_ANSWER, timeout=30)
        assert early.status_code == 503
        assert set(early.json()["error"]) == {"message", "type", "param", "code"}
        if signals == [signal.SIGTERM]:
            server.wait_for(lambda: engine_core(server), START_LIMIT, "engine process")
        server.remember()
        for number in signals:
            server.process.send_signal(number)
            time.sleep(0.2)
        assert server.exit_code() == 0, server.log
        server.leaves_nothing()
        assert "Traceback" not in server.log.partition("stopping")[2]


def test_nothing_outlives_a_server_that_is_killed_while_it_loads() -> None:
    with serve("--port", "0") as server:
        server.wait_for(lambda: engine_core(server) or server.process.poll() is not None, START_LIMIT, "engine process")
        assert engine_core(server) in server.remember()
        server.process.kill()
        server.leaves_nothing()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--", "--no-such-engine-option", "1"], "--no-such-engine-option"),
        (["--", "--kv-cache-memory-bytes", "900000000000000"], "memory"),
    ],
)
def test_an_engine_that_cannot_start_is_one_line_and_exit_code_1(arguments: list[str], reason: str) -> None:
    with serve("--port", "0", *arguments) as server:
        server.wait_for(lambda: server.process.poll() is not None, START_LIMIT, "exit")
        server.remember()
        assert server.process.returncode == 1
        errors = [line for line in server.lines if " error: " in line]
        assert errors == server.lines[-1:]
        assert len(errors) == 1, server.log
        assert reason in errors[0]
        assert "Traceback" not in server.log


def _listening_port(pid: int) -> int:
    sockets = {
        os.readlink(link)
        for link in Path(f"/proc/{pid}/fd").iterdir()
        if link.is_symlink() and os.readlink(link).startswith("socket:")
    }
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets and fields[1].startswith("0100007F"):
            return int(fields[1].partition(":")[2], 16)
    raise AssertionError("the server does not listen")
