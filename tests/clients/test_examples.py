"""The examples run as they stand, and the README shows them as they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import RunningServer

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run(path: Path, server: RunningServer, *arguments: str) -> str:
    environment = os.environ | {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": server.key}
    command = [sys.executable, str(path), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_quickstart(running_server: RunningServer, tmp_path: Path) -> None:
    text = (EXAMPLES / "quickstart.py").read_text(encoding="utf-8")
    moved = text.replace("http://127.0.0.1:8000", running_server.url).replace('"none"', f'"{running_server.key}"')
    copy = tmp_path / "quickstart.py"
    copy.write_text(moved, encoding="utf-8")
    assert run(copy, running_server).startswith("tool_calls [ChatCompletionMessageFunctionToolCall(")


@pytest.mark.parametrize(
    ("question", "result"),
    [("What is the weather in Paris right now?", '"temperature": 18'), ("What is the weather in London?", "→ Error:")],
)
def test_tool_loop(running_server: RunningServer, question: str, result: str) -> None:
    calls, answer = run(EXAMPLES / "tool_loop.py", running_server, question).strip().rsplit("\n", 1)
    assert calls.startswith("get_weather({")
    assert result in calls
    assert answer


@pytest.mark.parametrize("name", ["quickstart.py", "tool_loop.py"])
def test_the_readme_shows_them(name: str) -> None:
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    code = (EXAMPLES / name).read_text(encoding="utf-8").strip()
    start = code.index("from openai") if name == "quickstart.py" else code.index("STEPS = 5")
    end = len(code) if name == "quickstart.py" else code.index('\n\n\nif __name__ == "__main__"')
    assert code[start:end] in shown
