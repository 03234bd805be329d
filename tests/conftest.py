"""The real server, once per test session: `strictcall serve` with the embedded model on a free port.

``STRICTCALL_TEST_URL`` (and ``STRICTCALL_TEST_KEY``, if it asks for a key) let the tests use one that runs already.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import settings
from xdist.scheduler.loadscope import LoadScopeScheduling

# Time says nothing here: the tests share two cores with an engine.
settings.register_profile("strictcall", deadline=None)
settings.load_profile("strictcall")

START_LIMIT = 600.0
KEY = "sk-test-of-strictcall"
# The engine shares two cores with its server and the clients. Its threads wait for each other in spin loops: with two
# of them on busy cores one forward pass was measured to take 2.6 s instead of 0.2 s.
ENGINE = {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1"}
#: Files and folders of tests that use the one server, or take long with an engine of their own.
WITH_SERVER = (
    "tests/clients/",
    "tests/decoding/engine/",
    "tests/decoding/test_outlines.py",
    "tests/loadtest/test_prefix.py",
    "tests/server/test_checked_tools_on_the_engine.py",
)


class ServerInOne(LoadScopeScheduling):  # type: ignore[misc]
    """Where tests run in two processes, those that use the server run in one of them and take about half of the time.
    The others stay together by file, which share what the file prepares; a few start an engine of their own."""

    def _split_scope(self, nodeid: str) -> str:
        file = str(nodeid.partition("::")[0])
        return "server" if file.startswith(WITH_SERVER) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ServerInOne:
    return ServerInOne(config, log)


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server to test: ``url`` without ``/v1``, the key that it asks for, its log (None: it was there before)."""

    url: str
    key: str
    log: Path | None

    def log_tail(self, lines: int = 80) -> str:
        if self.log is None:
            return "(the log is the other server's)"
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The server with its key and log."""
    if url := os.environ.get("STRICTCALL_TEST_URL"):
        yield RunningServer(url.rstrip("/"), os.environ.get("STRICTCALL_TEST_KEY", "none"), None)
        return
    log = tmp_path_factory.mktemp("server") / "server.log"
    port = _free_port()
    server = RunningServer(f"http://127.0.0.1:{port}", KEY, log)
    command = [str(Path(sys.executable).with_name("strictcall")), "serve", "--port", str(port), "--api-key", KEY]
    environment = ENGINE | os.environ
    with log.open("wb") as output:
        # Its own process group: whatever it starts can be ended with it.
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
    try:
        _wait_until_ready(server, process)
        yield server
    finally:
        _stop(process)


@pytest.fixture(scope="session")
def server(running_server: RunningServer) -> str:
    """The server's URL without ``/v1``."""
    return running_server.url


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(server: RunningServer, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_LIMIT
    while time.monotonic() < until:
        if process.poll() is not None:
            pytest.fail(f"the server ended with {process.returncode} before it was ready:\n{server.log_tail()}")
        try:
            if httpx2.get(f"{server.url}/health/ready", timeout=5.0).status_code == 200:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.5)
    pytest.fail(f"the server was not ready within {START_LIMIT:.0f} s:\n{server.log_tail()}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(20)
    with suppress(ProcessLookupError):  # all of it is gone, as it should be
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(20)
