"""The servers that are compared: the same installed vLLM, the same model folder, the same template and limits."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import httpx2
import orjson
import psutil

START_LIMIT = 600.0
#: One thread for each model: two servers, their API processes and the clients share the cores, and the threads of
#: OpenMP wait for each other in spin loops.
ENVIRONMENT = {"VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1"}
#: Hermes: the tools in the system prompt, calls as JSON between tags.
TEMPLATE = """{%- if tools %}{{- '<|im_start|>system\\n' }}{%- if messages[0].role == 'system' %}\
{{- messages[0].content + '\\n\\n' }}{%- endif %}{{- "You may call functions.\\n<tools>" }}\
{%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}\
{{- '\\n</tools>\\nA call is a JSON object between tags:\\n<tool_call>\\n{"name": <name>, "arguments": <object>}\\n' }}\
{{- '</tool_call><|im_end|>\\n' }}{%- endif %}{%- for message in messages %}\
{%- if not (loop.first and tools and message.role == 'system') %}\
{{- '<|im_start|>' + message.role + '\\n' + (message.content or '') + '<|im_end|>\\n' }}{%- endif %}{%- endfor %}\
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""

_LIMITS = ["--max-num-seqs=64", "--max-num-batched-tokens=1024", f"--kv-cache-memory-bytes={2 * 1024**3}"]
_STRICTCALL = ["-m", "server.cli", "serve", "--model", "{model}", "--port", "{port}", "--log-level", "warning"]
OURS, OURS_OFF, PEER = "strictcall", "strictcall, jump-forward off", "vllm"
COMMANDS: dict[str, list[str]] = {
    OURS: [*_STRICTCALL, "--", *_LIMITS],
    OURS_OFF: [*_STRICTCALL, "--jump-forward", "off", "--", *_LIMITS],
    PEER: [
        *("-m", "vllm.entrypoints.openai.api_server", "--model", "{model}", "--port", "{port}", "--host", "127.0.0.1"),
        *("--dtype", "bfloat16", "--enforce-eager", "--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
        *("--disable-uvicorn-access-log", *_LIMITS),
    ],
}
_HEALTH = {OURS: "/health/ready", OURS_OFF: "/health/ready", PEER: "/health"}
_PASSES = {
    OURS: "strictcall_forward_passes_total",
    OURS_OFF: "strictcall_forward_passes_total",
    PEER: "vllm:iteration_tokens_total_count",
}


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers on ``127.0.0.1:port``; ``pid`` is that of the process that speaks HTTP."""

    name: str
    port: int
    model: str
    pid: int

    def api_seconds(self) -> float:
        """Processor time that the API process has taken (its children, the engine, not counted)."""
        return time.clock_gettime(_clock_of(self.pid))

    def api_memory(self) -> int:
        """Resident bytes of the API process."""
        return int(psutil.Process(self.pid).memory_info().rss)

    def children_memory(self) -> int:
        """Resident bytes of the processes that it has started."""
        return sum(int(child.memory_info().rss) for child in psutil.Process(self.pid).children(recursive=True))

    def metric(self, name: str) -> float:
        """The sum of a metric's samples."""
        text = httpx2.get(f"http://127.0.0.1:{self.port}/metrics", timeout=60).text
        found = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name)]
        if not found:
            raise RuntimeError(f"{self.name}: /metrics has no {name}")
        return sum(found)

    def forward_passes(self) -> float:
        """The engine's steps since its start."""
        return self.metric(_PASSES[self.name])

    def request(self, body: dict[str, Any], connection: Literal["keep-alive", "close"] = "keep-alive") -> bytes:
        """The bytes of a chat completion with ``body``, streamed unless it says otherwise."""
        streamed = {"model": self.model, "stream": True, "stream_options": {"include_usage": True}}
        data = orjson.dumps(streamed | body)
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer none\r\n"
            f"Content-Type: application/json\r\nConnection: {connection}\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        return head.encode() + data


def _clock_of(pid: int) -> int:
    """The clock of a process' processor time, which counts nanoseconds where ``/proc`` has ticks of ten milliseconds
    (POSIX, ``clock_getcpuclockid``). Raises OSError when there is no such process."""
    clock = ctypes.c_int()
    fault = ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock))
    if fault:
        raise OSError(fault, os.strerror(fault))
    return clock.value


def with_template(model: Path, folder: Path) -> Path:
    """A folder with the model's files (links) and the template that both servers use."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in model.iterdir():
        if file.name != "chat_template.jinja" and not (folder / file.name).exists():
            (folder / file.name).symlink_to(file.resolve())
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    return folder


@contextmanager
def running(names: Sequence[str], model: Path, logs: Path, report: Callable[[str], None]) -> Iterator[list[Server]]:
    """Start these of ``COMMANDS``, one after the other, and end all their processes afterwards.

    Each writes to ``logs/NAME.log``. Raises RuntimeError with the end of the log when one does not come up.
    """
    logs.mkdir(parents=True, exist_ok=True)
    started: list[tuple[Server, subprocess.Popen[bytes]]] = []
    try:
        for name in names:
            report(f"starting {name}")
            since = time.monotonic()
            started.append(_start(name, model, logs / f"{name.replace(', ', '-').replace(' ', '-')}.log"))
            report(f"{name} is ready after {time.monotonic() - since:.0f} s")
        yield [server for server, _ in started]
    finally:
        for _, process in started:
            end(process)


def _start(name: str, model: Path, log: Path) -> tuple[Server, subprocess.Popen[bytes]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, *(word.format(model=model, port=port) for word in COMMANDS[name])]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=ENVIRONMENT | os.environ,
        )
    try:
        _wait(process, f"http://127.0.0.1:{port}{_HEALTH[name]}", name, log)
        served = httpx2.get(f"http://127.0.0.1:{port}/v1/models", timeout=30).json()["data"][0]["id"]
    except BaseException:
        end(process)
        raise
    return Server(name, port, served, process.pid), process


def _wait(process: subprocess.Popen[bytes], url: str, name: str, log: Path) -> None:
    until = time.monotonic() + START_LIMIT
    while time.monotonic() < until and process.poll() is None:
        with suppress(httpx2.HTTPError):
            if httpx2.get(url, timeout=5).status_code == 200:
                return
        time.sleep(0.5)
    ended = (
        f"ended with {process.returncode}" if process.poll() is not None else f"was not ready in {START_LIMIT:.0f} s"
    )
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:]
    raise RuntimeError("\n".join([f"{name} {ended}; the end of {log}:", *tail]))


def end(process: subprocess.Popen[Any]) -> None:
    """The process and its group: SIGTERM, then SIGKILL."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(20)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(20)
