"""What a server must not leave behind, however it ends: its processes, and the folder where they meet.

Every process inherits a marker in its environment; ``server.reaper``, started first, ends all that carry it when the
server has been killed.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import uuid
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path

from server.reaper import MARKER_VARIABLE, PATIENCE, end_trackers, kill_marked, marked_processes
from server.settings import Settings
from server.start_errors import StartError

#: Connections and files that a process may have open, where the system lets it.
_OPEN_FILES = 65_536


@dataclass(frozen=True, slots=True)
class Belongings:
    """The marker of all processes and the folder of their sockets, which only the user can read."""

    marker: str
    folder: Path
    guard: subprocess.Popen[bytes]

    def end(self) -> None:
        """End all processes, remove the folder."""
        kill_marked(self.marker, quiet=0.2 if marked_processes(self.marker) else 0.0)
        if marked_processes(self.marker):
            # What is left is Python's resource tracker, which ends when its last pipe is closed, and that is ours.
            descriptor = resource_tracker.getfd()
            if descriptor is not None:
                os.close(descriptor)
            end_trackers(self.marker, PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.guard.kill()
        self.guard.wait()


def mark() -> Belongings:
    """Before the first process is started. Raises StartError."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="strictcall-"))
    except OSError as error:
        raise StartError(f"no folder for temporary files can be made ({error}): set TMPDIR to one") from error
    marker = uuid.uuid4().hex
    os.environ[MARKER_VARIABLE] = marker
    # vLLM renames its processes; without this, that overwrites the environment where others can read it.
    os.environ["SPT_NOENV"] = "1"
    # vLLM never removes the sockets between its processes.
    os.environ.setdefault("VLLM_RPC_BASE_PATH", str(folder))
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(__file__).with_name("reaper.py")), str(os.getpid()), marker, str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env={},
    )
    return Belongings(marker, folder, guard)


def allow_many_connections() -> None:
    """Raise the limit of open files, as far as the system lets us: a terminal's is often 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def set_engine_environment(settings: Settings) -> None:
    """Settings that vLLM and its libraries read from the environment; what the user set stays."""
    for name, value in {
        "VLLM_LOGGING_LEVEL": "DEBUG" if settings.log_level == "debug" else "INFO",
        "VLLM_LOGGING_COLOR": "0",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
        "TOKENIZERS_PARALLELISM": "false",
    }.items():
        os.environ.setdefault(name, value)
