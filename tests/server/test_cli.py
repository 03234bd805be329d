"""The command line, as far as it goes without an engine."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.main import get_command

from server.cli import app
from server.settings import Settings

COMMAND = str(Path(sys.executable).with_name("strictcall"))


def strictcall(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("STRICTCALL_")}
    return subprocess.run(
        [COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        env={**clean, "HF_HUB_OFFLINE": "1", **environment},
    )


def last_line(run: subprocess.CompletedProcess[str]) -> str:
    """The error line; there must be exactly one, and no stack trace."""
    lines = run.stderr.splitlines()
    assert "Traceback" not in run.stderr
    assert sum("error: " in line for line in lines) == 1, run.stderr
    assert "error: " in lines[-1], run.stderr
    return lines[-1]


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield int(other.getsockname()[1])


def test_the_version_is_the_package_s() -> None:
    run = strictcall("--version")
    assert run.returncode == 0
    assert run.stdout == f"strictcall {version('strictcall')}\n"


def test_help_names_the_commands_and_every_option() -> None:
    run = strictcall("--help")
    assert run.returncode == 0
    assert "serve" in run.stdout
    assert "lint" in run.stdout
    serve = strictcall("serve", "--help").stdout
    for option in ("--model", "--host", "--port", "--served-model-name", "--max-model-len", "--tensor-parallel-size"):
        assert option in serve
    assert "STRICTCALL_" in serve


def test_help_and_version_import_nothing_heavy() -> None:
    script = (
        "import sys, server.cli; sys.argv = ['strictcall', 'serve', '--help']\n"
        "try: server.cli.main()\n"
        "except SystemExit: pass\n"
        "heavy = {'vllm', 'torch', 'transformers', 'fastapi', 'llguidance', 'jsonschema_rs'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_every_setting_has_an_option() -> None:
    serve = get_command(app).commands["serve"]  # type: ignore[attr-defined]
    options = {option for parameter in serve.params for option in parameter.opts}
    names = {"api_keys": "api_key"}
    for field in Settings.model_fields:
        if field != "engine_args":
            assert f"--{names.get(field, field).replace('_', '-')}" in options


def test_the_defaults_in_the_help_are_the_settings() -> None:
    serve = get_command(app).commands["serve"]  # type: ignore[attr-defined]
    told = {option.name: re.search(r"\[default: (.+)\]", option.help) for option in serve.params}
    assert all(told.values())
    for name, field in Settings.model_fields.items():
        default = field.default
        if isinstance(default, str | int | float):
            shown = f"{default:g}" if isinstance(default, float) else str(default)
            assert re.match(rf"{re.escape(shown)}\b", told[name][1])  # type: ignore[index]


def test_an_unknown_option_and_a_wrong_value_are_usage_errors() -> None:
    run = strictcall("serve", "--no-such-option")
    assert run.returncode == 2
    assert "--no-such-option" in run.stderr
    run = strictcall("serve", "--port", "99999")
    assert run.returncode == 2
    assert "--port" in last_line(run)
    run = strictcall("serve", STRICTCALL_PORT="99999")
    assert run.returncode == 2
    assert "STRICTCALL_PORT" in last_line(run)


def test_a_taken_port_is_told_before_anything_is_loaded(taken_port: int) -> None:
    run = strictcall("serve", "--port", str(taken_port))
    assert run.returncode == 1
    assert f"127.0.0.1:{taken_port}" in last_line(run)
    assert len(run.stderr.splitlines()) == 1


def test_an_address_of_another_machine_is_told() -> None:
    run = strictcall("serve", "--host", "192.0.2.1", "--port", "0")
    assert run.returncode == 1
    assert "192.0.2.1" in last_line(run)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("/no/such/folder", "no such folder"),
        ("./no-such-folder", "no such folder"),
        ("no-such-name", "no such folder"),
        ("owner/name-that-nobody-has", "cannot be downloaded"),
    ],
)
def test_a_missing_model_is_told(model: str, reason: str) -> None:
    run = strictcall("serve", "--port", "0", "--model", model)
    assert run.returncode == 1
    line = last_line(run)
    assert model in line
    assert reason in line


def test_a_folder_that_is_no_model_is_told(tmp_path: Path) -> None:
    run = strictcall("serve", "--port", "0", "--model", str(tmp_path))
    assert run.returncode == 1
    assert "config.json" in last_line(run)


def test_an_unknown_call_format_is_told_before_the_engine_loads() -> None:
    run = strictcall("serve", "--port", "0", "--tool-format", "no-such-format")
    assert run.returncode == 1
    assert "no-such-format" in last_line(run)
    assert "hermes" in last_line(run)
