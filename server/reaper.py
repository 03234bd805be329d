"""Ends what a server leaves behind when it dies without a chance to clean up (SIGKILL, out of memory).

Run as a script of its own, with nothing but the standard library: ``python -I -S reaper.py PARENT_PID MARKER FOLDER``.
Every process that the server starts inherits the marker in its environment; when the parent is gone, all that carry it
are killed and the folder is removed. A process group would not do: the server must stay in its terminal's group to get
Ctrl-C.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time

MARKER_VARIABLE = "STRICTCALL_RUN"
#: How often the parent is looked at, and how long nothing marked must be seen before the work is done (seconds).
POLL, QUIET = 0.25, 1.0
#: How long resource trackers get to remove what is left in shared memory (seconds).
PATIENCE = 5.0


def marked_processes(marker: str) -> dict[int, bytes]:
    """Process ids, other than the caller's, whose environment at their start held the marker, with command lines."""
    needle = f"{MARKER_VARIABLE}={marker}".encode()
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                environment = file.read()
            with open(f"/proc/{name}/stat", "rb") as file:
                state = file.read().rpartition(b")")[2].split()[0]
            with open(f"/proc/{name}/cmdline", "rb") as file:
                command = file.read()
        except OSError:
            continue
        if state != b"Z" and needle in environment.split(b"\0"):
            found[int(name)] = command
    return found


def kill_marked(marker: str, quiet: float) -> int:
    """Kill marked processes until none has been seen for ``quiet`` seconds; returns how many there were.

    Python's resource trackers are spared: they end by themselves with their last user, after they have removed the
    shared memory that those who were killed could not.
    """
    killed: set[int] = set()
    clean_since = time.monotonic()
    while True:
        pids = [pid for pid, command in marked_processes(marker).items() if b"resource_tracker" not in command]
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        if pids:
            killed.update(pids)
            clean_since = time.monotonic()
        if time.monotonic() - clean_since >= quiet:
            return len(killed)
        time.sleep(0.05)


def end_trackers(marker: str, patience: float) -> None:
    """Wait ``patience`` seconds for marked resource trackers to end, then kill them."""
    deadline = time.monotonic() + patience
    while (left := marked_processes(marker)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def main(parent: int, marker: str, folder: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.getppid() == parent:
        time.sleep(POLL)
    kill_marked(marker, QUIET)
    end_trackers(marker, PATIENCE)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
