"""``strictcall formats``."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from decoding.formats import get, names
from server import loading
from server.formats_command import formats_command
from server.logs import LOGGER
from tests.decoding import templates

app = typer.Typer()
app.command()(formats_command)


def test_every_format_is_listed_with_a_sample() -> None:
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 0
    lines = [line.strip() for line in result.output.splitlines()]
    for name in names():
        assert f"{name}: {get(name).models}" in lines
        assert any(line.startswith(get(name).opening.strip().splitlines()[0]) for line in lines), name


def test_what_a_model_gets(tmp_path: Path) -> None:
    templates.tokenizer(templates.HERMES).save_pretrained(tmp_path)
    result = CliRunner().invoke(app, [str(tmp_path)])
    assert result.exit_code == 0
    assert ": hermes (the chat template writes calls as JSON in <tool_call>)" in result.output


def test_what_gemma_3_and_command_r_get(tmp_path: Path) -> None:
    for name, template, reason in (
        ("prompted", templates.GEMMA_3, "up to Gemma 3: it knows no tools"),
        ("command_r", templates.COMMAND_R, "Command R's, with a JSON list behind Action:"),
    ):
        templates.tokenizer(template).save_pretrained(tmp_path / name)
        result = CliRunner().invoke(app, [str(tmp_path / name)])
        assert result.exit_code == 0
        assert f": {name} (the chat template is" in result.output
        assert reason in result.output


@pytest.mark.parametrize(
    ("name", "template", "level", "line"),
    [
        ("auto", templates.HERMES, "INFO", "format hermes: the chat template writes calls as JSON in <tool_call>"),
        (
            "auto",
            "{{ tools }} <|somehow|>",
            "WARNING",
            "format prompted: the chat template has tools in a form that is not",
        ),
        ("kimi", templates.HERMES, "INFO", "format kimi: set by --tool-format"),
    ],
)
def test_the_start_up_log_says_why(
    name: str, template: str, level: str, line: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LOGGER, "propagate", True)
    with caplog.at_level("INFO", logger=LOGGER.name):
        loading._log_format(name, templates.tokenizer(template))
    assert [record.levelname for record in caplog.records] == [level]
    assert caplog.records[0].getMessage().startswith(line)


def test_no_model(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [str(tmp_path)])
    assert result.exit_code == 1
    assert "no tokenizer" in result.output
