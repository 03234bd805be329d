"""The servers that are compared: the same installed vLLM, the same model folder, the same template and limits."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psutil

START_LIMIT = 900.0
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
COMMANDS: dict[str, list[str]] = {
    "strictcall": ["-m", "server.cli", "serve", "--model", "{model}", "--port", "{port}", "--", *_LIMITS],
    "strictcall, jump-forward off": [
        *[
            "-m",
            "server.cli",
            "serve",
            "--model",
            "{model}",
            "--port",
            "{port}",
            "--jump-forward",
            "off",
            "--",
            *_LIMITS,
        ]
    ],
    "vllm": [
        *["-m", "vllm.entrypoints.openai.api_server", "--model", "{model}", "--port", "{port}", "--host", "127.0.0.1"],
        *[
            "--dtype",
            "bfloat16",
            "--enforce-eager",
            "--enable-auto-tool-choice",
            "--tool-call-parser",
            "hermes",
            *_LIMITS,
        ],
    ],
}
PASSES = {"strictcall": "strictcall_forward_passes_total", "vllm": "vllm:iteration_tokens_total_count"}


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers: ``url`` without ``/v1``; ``pid`` is that of the process that speaks HTTP."""

    name: str
    url: str
    model: str
    pid: int

    def api_seconds(self) -> float:
        """Processor time that the API process has taken (its children, the engine, not counted)."""
        times = psutil.Process(self.pid).cpu_times()
        return float(times.user + times.system)

    def forward_passes(self) -> float:
        """The engine's steps since its start, from its metrics."""
        wanted = PASSES["vllm" if self.name == "vllm" else "strictcall"]
        text = httpx2.get(f"{self.url}/metrics", timeout=30).text
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(wanted))


def with_template(model: Path, folder: Path) -> Path:
    """A folder with the model's files (links) and the template that both servers use."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in model.iterdir():
        if file.name != "chat_template.jinja" and not (folder / file.name).exists():
            (folder / file.name).symlink_to(file.resolve())
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    return folder


@contextmanager
def running(name: str, model: Path, log: Path) -> Iterator[Server]:
    """Start one of ``COMMANDS`` and end all its processes afterwards. Raises RuntimeError when it does not come up."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, *(word.format(model=model, port=port) for word in COMMANDS[name])]
    with log.open("ab") as output:
        environment = os.environ | {"VLLM_NO_USAGE_STATS": "1"}
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True, env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(process, url, "/health" if name == "vllm" else "/health/ready", log)
        served = httpx2.get(f"{url}/v1/models", timeout=30).json()["data"][0]["id"]
        yield Server(name, url, served, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)


def _wait(process: subprocess.Popen[bytes], url: str, path: str, log: Path) -> None:
    until = time.monotonic() + START_LIMIT
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        with suppress(httpx2.HTTPError):
            if httpx2.get(url + path, timeout=5).status_code == 200:
                return
        time.sleep(0.5)
    raise RuntimeError(f"the server did not come up; see {log}")
