"""``strictcall lint``: the forms it reads, what it says, its exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import typer
from typer.testing import CliRunner

from server.lint import Unreadable, lint_command, lint_file, subjects_of

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["city"],
}
FORMS: dict[str, Any] = {
    "chat": {"type": "function", "function": {"name": "f", "parameters": PARAMETERS}},
    "responses": {"type": "function", "name": "f", "parameters": PARAMETERS, "strict": True},
    "anthropic": {"name": "f", "description": "x", "input_schema": PARAMETERS},
    "mcp": {"name": "f", "inputSchema": PARAMETERS},
}


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()
    made.command()(lint_command)
    return made


def run(app: typer.Typer, *arguments: str, text: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments), input=text)
    return result.exit_code, result.output


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wrap", ["one", "list", "tools", "result"])
def test_every_form_of_tools_is_read(form: str, wrap: str) -> None:
    tool = FORMS[form]
    wraps: dict[str, Any] = {
        "one": tool,
        "list": [tool],
        "tools": {"model": "m", "tools": [tool]},
        "result": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool]}},
    }
    document = wraps[wrap]
    [subject] = subjects_of(document)
    assert (subject.name, subject.schema, subject.is_tool) == ("f", PARAMETERS, True)
    target = document
    for step in subject.pointer.split("/")[1:]:
        target = target[int(step)] if isinstance(target, list) else target[step]
    assert target is PARAMETERS


@pytest.mark.parametrize("schema", [PARAMETERS, True, {"title": "T", "enum": [1]}, {}])
def test_a_bare_schema_is_read(schema: Any) -> None:
    [subject] = subjects_of(schema)
    assert subject.schema == schema
    assert not subject.is_tool


@pytest.mark.parametrize("document", [[], [1], "x", 3, None, [{"inputSchema": {}}]])
def test_what_is_neither_is_unreadable(document: Any) -> None:
    with pytest.raises(Unreadable):
        list(subjects_of(document))


def test_a_tool_without_parameters_takes_no_arguments(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"type": "function", "function": {"name": "ping"}}))
    report = lint_file(str(file), "forbid")
    assert report.tools[0].guarantee == "exact"
    assert report.tools[0].samples == [{}]


def test_json_report_has_valid_samples(app: typer.Typer, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps(list(FORMS.values())))
    code, out = run(app, "--json", str(file))
    assert code == 0
    [report] = json.loads(out)["files"]
    assert [tool["guarantee"] for tool in report["tools"]] == ["exact"] * 4
    for tool in report["tools"]:
        assert len(tool["samples"]) == 3
        assert all(jsonschema_rs.is_valid(PARAMETERS, value) for value in tool["samples"])
        assert all(set(value) <= {"city", "days"} for value in tool["samples"])
        assert tool["grammar_bytes"] > 0
        assert tool["compile_ms"] >= 0


def test_undeclared_members_are_an_option(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"name": "f", "inputSchema": {"type": "object", "properties": {"a": {"const": 1}}}}))
    closed = [value for seed in range(5) for value in lint_file(str(file), "forbid", seed).tools[0].samples]
    opened = [value for seed in range(5) for value in lint_file(str(file), "allow", seed).tools[0].samples]
    assert all(set(value) <= {"a"} for value in closed)
    assert any(set(value) - {"a"} for value in opened)


def test_a_refusal_names_the_place_and_exits_1(app: typer.Typer, tmp_path: Path) -> None:
    bad = {"name": "bad", "input_schema": {"type": "object", "properties": {"p": {"$ref": "#/$defs/Missing"}}}}
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"tools": [FORMS["mcp"], bad]}))
    code, out = run(app, "--json", str(file))
    assert code == 1
    good, refused = json.loads(out)["files"][0]["tools"]
    assert good["guarantee"] == "exact"
    assert refused["guarantee"] == "refused"
    assert refused["refusal"]["path"] == "/tools/1/input_schema/properties/p"
    assert refused["refusal"]["keyword"] == "$ref"
    code, out = run(app, str(file))
    assert code == 1
    assert "/tools/1/input_schema/properties/p" in out
    assert "1 exact, 1 refused" in out


def test_a_residue_is_shown_and_exits_0(app: typer.Typer, tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"type": "array", "items": {"type": "string"}, "uniqueItems": True}))
    code, out = run(app, "--json", str(file))
    assert code == 0
    [tool] = json.loads(out)["files"][0]["tools"]
    assert tool["guarantee"] == "checked"
    assert tool["residue"][0]["keyword"] == "uniqueItems"
    assert all(len(value) == len(set(value)) for value in tool["samples"])


@pytest.mark.parametrize("text", ["", "{", "nonsense", "[" * 100_000, "3"])
def test_unreadable_input_exits_2(app: typer.Typer, text: str) -> None:
    code, out = run(app, "-", text=text)
    assert code == 2
    assert "cannot be read" in out


def test_a_missing_file_exits_2_and_the_rest_is_linted(app: typer.Typer, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps(FORMS["chat"]))
    code, out = run(app, "--json", str(tmp_path / "absent.json"), str(file))
    assert code == 2
    absent, present = json.loads(out)["files"]
    assert absent["error"]
    assert present["tools"][0]["guarantee"] == "exact"


def test_standard_input_is_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(json.dumps(FORMS["chat"], ensure_ascii=False).encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert lint_file("-", "forbid").tools[0].name == "f"
