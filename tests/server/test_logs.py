"""What reaches the console, and how a failed start becomes one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from server.start_errors import explain, without_prefix

# In a process of its own: ConsoleOutput takes over the file descriptors for good.
SCRIPT = """
import os, sys, time, logging
from pathlib import Path
from server.logs import LOGGER, ConsoleOutput, configure
output = ConsoleOutput(echo=sys.argv[1] == "echo")
configure(output.stream, "info")
output.forward_problems = True
LOGGER.info("ours")
print("noise on stdout", flush=True)
os.write(2, b"noise on stderr\\n")
head = "(EngineCore pid=7) ERROR 11-29 12:00:00 [core.py:5]"
os.write(2, f"{head} it broke\\n{head} Traceback (most recent call last):\\n{head}   File x\\n".encode())
os.write(2, b"(EngineCore pid=7) INFO 11-29 12:00:00 [core.py:5] all is well\\n")
os.write(2, b"loading:  10%|#   | 1/9\\rloading:  90%|### | 8/9\\n")
access = logging.getLogger("uvicorn.access")
for path, status in (("/v1/models", 200), ("/health/live", 200), ("/health/ready", 503)):
    access.info('%s - "%s %s HTTP/%s" %d', "1.2.3.4:5", "GET", path, "1.1", status)
time.sleep(0.5)
print(len([line for line in output.lines() if "loading" in line]), file=output.stream)
print(output.save(Path(sys.argv[2])).read_text().count("noise"), file=output.stream)
"""


def console(mode: str, file: str) -> list[str]:
    run = subprocess.run([sys.executable, "-c", SCRIPT, mode, file], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    return run.stderr.splitlines()


def test_the_console_shows_our_lines_and_the_first_line_of_an_engine_s_problem(tmp_path: object) -> None:
    lines = console("quiet", f"{tmp_path}/engine.log")
    # The engine's lines come through a thread: their place among the others is not fixed.
    assert sorted(line[9:] for line in lines[:-2]) == [
        "1.2.3.4:5 GET /health/ready 503",
        "1.2.3.4:5 GET /v1/models 200",
        "error: engine: it broke",
        "ours",
    ]
    assert lines[-2:] == ["1", "2"]


def test_debug_shows_everything(tmp_path: object) -> None:
    lines = console("echo", f"{tmp_path}/engine.log")
    assert "noise on stdout" in lines
    assert "noise on stderr" in lines
    assert any("Traceback" in line for line in lines)


@pytest.mark.parametrize(
    ("error", "output", "words"),
    [
        ("Engine core initialization failed. See root cause above.", ["x", "ValueError: the cause"], "the cause"),
        (
            "Engine core initialization failed.",
            ["(EngineCore pid=1) ERROR 11-29 22:00:00 [core.py:1] torch.OutOfMemoryError: CUDA out of memory"],
            "out of memory: give a smaller",
        ),
        ("Engine core initialization failed.", ["ValueError: No available memory for the cache blocks."], "KV cache"),
        ("max_model_len is too large", ["ValueError: something earlier"], "max_model_len is too large"),
    ],
)
def test_a_failed_start_is_explained_in_one_line(error: str, output: list[str], words: str) -> None:
    line = explain(error, output)
    assert words in line
    assert "\n" not in line


def test_the_head_of_vllm_s_lines_goes() -> None:
    assert without_prefix("(EngineCore pid=1) INFO 11-29 22:07:41 [a.py:1] Loading weights") == "Loading weights"
    assert without_prefix("plain") == "plain"
