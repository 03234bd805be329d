"""What the console shows: the server's own lines. What libraries and engine processes print is kept aside.

vLLM, its workers and the libraries under them write to file descriptors 1 and 2 in many ways. ``ConsoleOutput`` puts a
pipe in their place before they start, so that a failed start can be told in one line, and the rest stands in a file.
"""

from __future__ import annotations

import collections
import io
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

LOGGER = logging.getLogger("strictcall")
#: Lines of engine output that are kept for the story of a failure.
KEPT_LINES = 2000

_ENGINE_PROBLEM = re.compile(r"^(\([^)]*\) (WARNING|ERROR|CRITICAL) \d\d-\d\d [\d:]+ \[[^\]]*\]) (.*)$")
_LEVELS = {"WARNING": logging.WARNING, "ERROR": logging.ERROR, "CRITICAL": logging.CRITICAL}
_PROGRESS_BAR = re.compile(r"\d+%\|")


class ConsoleOutput:
    """Takes over file descriptors 1 and 2 for good; ``stream`` is the way to the real stderr."""

    def __init__(self, echo: bool) -> None:
        """With ``echo`` every captured line goes to the console too (``--log-level debug``)."""
        self.stream: TextIO = os.fdopen(os.dup(2), "w", buffering=1, errors="replace")
        self._echo = echo
        self._lines: collections.deque[str] = collections.deque(maxlen=KEPT_LINES)
        self.forward_problems = False
        """Whether vLLM's warnings and errors are logged: not while starting, when they are told in other words."""
        reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        os.close(writing)
        threading.Thread(target=self._read, args=(reading,), daemon=True, name="engine output").start()

    def lines(self) -> list[str]:
        """The last captured lines, oldest first."""
        return list(self._lines)

    def last_line(self) -> str:
        return self._lines[-1] if self._lines else ""

    def save(self, file: Path) -> Path | None:
        """Write the captured lines to ``file``; ``None`` when that cannot be done or there are none."""
        if not self._lines:
            return None
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(self._lines) + "\n")
        except OSError:
            return None
        return file

    def _read(self, descriptor: int) -> None:
        last_head = ""
        with os.fdopen(descriptor, "r", errors="replace", newline=None) as pipe:
            for raw in pipe:
                line = raw.rstrip()
                if not line:
                    continue
                if _PROGRESS_BAR.search(line) and self._lines and _PROGRESS_BAR.search(self._lines[-1]):
                    self._lines.pop()
                self._lines.append(line)
                if self._echo:
                    print(line, file=self.stream)
                elif self.forward_problems and (problem := _ENGINE_PROBLEM.match(line)):
                    # vLLM repeats the head on every line of a record; its first line is enough here.
                    if problem[1] != last_head:
                        LOGGER.log(_LEVELS[problem[2]], "engine: %s", problem[3])
                    last_head = problem[1]


class LineSender(io.TextIOBase):
    """A stream that hands on whole lines."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send

    def write(self, text: str) -> int:
        self._send(text.removesuffix("\n"))
        return len(text)


class _Formatter(logging.Formatter):
    """``12:34:56 message`` for information, with the level's name for anything else; ``12:34:56 [process] …`` where
    there are several."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = f" [{process}]" if process else ""

    def _head(self, record: logging.LogRecord) -> str:
        return time.strftime("%H:%M:%S", time.localtime(record.created)) + self._process

    def format(self, record: logging.LogRecord) -> str:
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        text = f"{self._head(record)} {level}{record.getMessage()}"
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        return text


class _AccessFormatter(_Formatter):
    """One line per request, from uvicorn's access record: address, method, path, protocol version, status."""

    def format(self, record: logging.LogRecord) -> str:
        if isinstance(record.args, tuple) and len(record.args) == 5:
            client, method, path, _, status = record.args
            path = str(path)[:200]
            return f"{self._head(record)} {client} {method} {path} {status}"
        return super().format(record)


class _QuietPaths(logging.Filter):
    """Leaves out what monitoring asks for every few seconds."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not isinstance(record.args, tuple) or len(record.args) != 5:
            return True
        path, status = str(record.args[2]), record.args[4]
        return not (path.startswith(("/health", "/metrics")) and status == 200)


def configure(stream: TextIO | LineSender, level: str, process: str = "") -> None:
    """Send the server's, uvicorn's and asyncio's records of at least ``level`` to ``stream``, with the name of the
    process if there is one.

    What other libraries log goes where they print: to the captured stderr.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Formatter(process))
    for name in ("strictcall", "server", "uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(level.upper())
    access = logging.StreamHandler(stream)
    access.setFormatter(_AccessFormatter(process))
    if level != "debug":
        access.addFilter(_QuietPaths())
    uvicorn_access = logging.getLogger("uvicorn.access")
    uvicorn_access.handlers[:] = [access]
    uvicorn_access.propagate = False
    uvicorn_access.setLevel(logging.INFO if level in ("debug", "info") else logging.WARNING)
    logging.getLogger("uvicorn.error").setLevel(logging.INFO if level == "debug" else logging.WARNING)
