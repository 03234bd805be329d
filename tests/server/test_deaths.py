"""Whichever process of a server dies, and whenever: all others go, the port is free, one line says why, and no answer
looks complete that is not. Real processes, an engine that costs nothing (``fake_serve``); with one API process and a
real engine it is ``test_lifecycle`` that says the same."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.server.test_lifecycle import STOP_LIMIT, Serve, Stream, alive, descendants, engine_core, serve

FAKE = str(Path(__file__).with_name("fake_serve.py"))
ENDLESS = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
ROOT = str(Path(__file__).parents[2])


@contextmanager
def fake(folder: Path, **environment: str) -> Iterator[Serve]:
    model, temporary = folder / "model", folder / "tmp"
    model.mkdir()
    temporary.mkdir()
    (model / "config.json").write_text("{}")
    path = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))
    with serve(
        *("--port", "0", "--model", str(model), "--api-processes", "2", "--shutdown-grace", "0.5"),
        *("--cache-dir", str(folder / "cache")),
        command=(sys.executable, FAKE),
        environment={"TMPDIR": str(temporary), "PYTHONPATH": path, **environment},
    ) as server:
        yield server
        server.leaves_nothing()
        server.wait_for(lambda: not list(temporary.iterdir()), STOP_LIMIT, f"empty {temporary}")


def streams(server: Serve, url: str) -> list[Stream]:
    """Streams under way, at least one at every process."""
    found: list[Stream] = []
    for _ in range(40):
        found.append(Stream(url, ENDLESS))
        server.wait_for(lambda: len(found[-1].data) > 2, 60, "a stream")
        if all(f"[api {n}] 127.0.0.1" in server.log for n in (0, 1)):
            break
    server.remember()
    return found


def api_process(server: Serve) -> int:
    """The second process that speaks HTTP: the child that listens, or is about to."""
    for pid in server.remember():
        try:
            if b"multiprocessing.spawn" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
        except OSError:
            continue
    pytest.fail(f"no second process\n{server.log}")


def sockets(pid: int) -> set[str]:
    links = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    return {link for link in links if link.startswith("socket:")}


def nobody_listens(url: str) -> bool:
    host, _, port = url.removeprefix("http://").rpartition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) != 0


def none_looks_complete(found: list[Stream]) -> None:
    for stream in found:
        stream.join(10)
        assert not stream.is_alive()
        assert stream.fault is not None or stream.ended_with_an_error_frame(), stream.data[-3:]
        assert not any('finish_reason":"' in data or data == "[DONE]" for data in stream.data)


def test_the_engine_dies(tmp_path: Path) -> None:
    with fake(tmp_path) as server:
        url = server.wait_until_ready()
        found = streams(server, url)
        core = engine_core(server)
        assert core is not None
        os.kill(core, signal.SIGKILL)
        assert server.exit_code() == 1
        none_looks_complete(found)
        assert all(stream.ended_with_an_error_frame() for stream in found)
        assert nobody_listens(url)
    assert "error: the engine died: its process was ended by SIGKILL" in server.lines[-1]
    assert "Traceback" not in server.log


def test_the_first_process_dies(tmp_path: Path) -> None:
    with fake(tmp_path) as server:
        url = server.wait_until_ready()
        found = streams(server, url)
        server.process.kill()
        server.leaves_nothing()
        none_looks_complete(found)
        assert nobody_listens(url)


def test_another_process_dies(tmp_path: Path) -> None:
    with fake(tmp_path) as server:
        url = server.wait_until_ready()
        found = streams(server, url)
        other = api_process(server)
        helpers = [pid for pid in descendants(other) if alive(pid)]
        assert helpers, "its compile processes"
        assert not any(sockets(pid) & sockets(other) for pid in helpers), "they would hold the port beyond its end"
        os.kill(other, signal.SIGKILL)
        assert server.exit_code() == 1
        none_looks_complete(found)
        assert nobody_listens(url)
    assert "error: API process 1 was ended by SIGKILL; the server stops" in server.lines[-1]
    assert "Traceback" not in server.log


@pytest.mark.parametrize("victim", ["nobody", "engine", "other"])
def test_while_the_others_start(tmp_path: Path, victim: str) -> None:
    with fake(tmp_path, FAKE_JOIN="never") as server:
        server.wait_for(lambda: "starting 1 more API process" in server.log, 120, "the second process")
        other = api_process(server)
        if victim == "nobody":
            os.killpg(server.process.pid, signal.SIGINT)  # as Ctrl-C in a terminal does
        else:
            core = engine_core(server)
            assert core is not None
            os.kill(other if victim == "other" else core, signal.SIGKILL)
        assert server.exit_code() == (0 if victim == "nobody" else 1), server.log
    words = {"engine": "error: the engine died: its process was", "other": "error: API process 1 was ended by SIGKILL"}
    assert words.get(victim, "stopped") in server.lines[-1]
    assert "Traceback" not in server.log
    assert " ready: " not in server.log
