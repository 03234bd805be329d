"""What the documents say of the code must be there: options, variables, files, modules, metrics, names, figures."""

from __future__ import annotations

import ast
import importlib
import io
import re
import sys
from contextlib import redirect_stdout, suppress
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from decoding.formats import names
from server.cli import app
from server.metrics import ENGINE_COUNTERS, Metrics
from server.openai.request import ChatRequest
from server.settings import Settings

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
EVERYTHING = "\n".join(DOCUMENTS.values())
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
#: Programs of ours that take options of their own, by what stands before them in the documents.
PROGRAMS = sorted(set(re.findall(r"python -m (loadtest[\w.]*)", EVERYTHING)))


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_in_the_table(name: str) -> None:
    assert f"`STRICTCALL_{name.upper()}`" in README
    option = {"api_keys": "--api-key", "engine_args": "-- OPTIONS…"}.get(name, f"--{name.replace('_', '-')}")
    assert f"`{option}`" in README
    default = Settings.model_fields[name].default
    if isinstance(default, int | float | str) and not isinstance(default, bool):
        row = next(line for line in README.splitlines() if f"`STRICTCALL_{name.upper()}`" in line)
        shown = f"{default:g}" if isinstance(default, float) else str(default)
        assert shown in row


@cache
def our_options() -> frozenset[str]:
    """Of the command ``strictcall`` and of the load tests' programs."""
    known = {"--help", "--version"}
    for command in get_command(app).commands.values():  # type: ignore[attr-defined]
        known |= {option for parameter in command.params for option in parameter.opts}
    for program in PROGRAMS:
        known |= set(OPTION.findall(_help(program)))
    return frozenset(known)


def _help(program: str) -> str:
    folder = ROOT.joinpath(*program.split(".")).is_dir()
    module = importlib.import_module(f"{program}.__main__" if folder else program)
    said, before = io.StringIO(), sys.argv
    sys.argv = [program, "--help"]
    try:
        with redirect_stdout(said), suppress(SystemExit):
            module.main()
    finally:
        sys.argv = before
    return said.getvalue()


def other_options() -> set[str]:
    """Options in the documents that are none of ours: the engine's tests see that they are vLLM's."""
    # The tables of one hold texts of schemas.
    shown = [text.partition("\n| ")[0] if "EXACTNESS" in name else text for name, text in DOCUMENTS.items()]
    return set(OPTION.findall("\n".join(shown))) - our_options()


def test_options_are_ours_or_the_engine_s() -> None:
    assert other_options() == {
        "--data-parallel-size",
        "--distributed-executor-backend",
        "--ir-op-priority",
        "--speculative-config",
        "--tokenizer-mode",
        "--trust-remote-code",
    }


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_that_are_named_can_be_run(program: str) -> None:
    assert "usage:" in _help(program)


def test_make_targets_that_are_named_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    named = set(" ".join(re.findall(r"`make ([a-z -]+)", EVERYTHING)).split())
    assert {"serve", "test", "lint", "typecheck"} <= named <= targets


def test_variables_that_are_named_exist() -> None:
    known = {f"STRICTCALL_{name.upper()}" for name in Settings.model_fields} | {"STRICTCALL_API_KEY"}
    assert set(re.findall(r"STRICTCALL_[A-Z_]+", EVERYTHING)) == known


def test_metrics_that_are_named_exist() -> None:
    metrics = Metrics()
    metrics.watch_engine(lambda: dict.fromkeys(ENGINE_COUNTERS, 0.0))
    families = list(metrics.registry.collect())
    known = {family.name for family in families} | {f"{f.name}_total" for f in families if f.type == "counter"}
    named = set(re.findall(r"`(strictcall_\w+)`", EVERYTHING))
    assert {f"strictcall_{name}_total" for name in ENGINE_COUNTERS} <= named <= known


def test_fields_that_are_named_exist() -> None:
    spoken = README.partition("## What it speaks\n")[2].partition("\nDeviations")[0].partition("`GET ")[0]
    named = {name.partition(".")[0] for name in re.findall(r"`(\w[\w.]*)`", spoken)}
    values = {"none", "auto", "required", "allowed_tools", "text", "json_object", "json_schema"}
    assert values <= named
    assert len(named) > 25
    assert named - values <= ChatRequest.model_fields.keys()


def _prose(document: str) -> str:
    return re.sub(r"```.*?```", "", DOCUMENTS[document], flags=re.S)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_that_are_named_exist(document: str) -> None:
    text = _prose(document)
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.(?:py|yaml|yml|md|toml))`", text)
    folders = [folder for folder in re.findall(r"`((?:[a-z_]+/)+)`", text) if not folder.startswith("vllm")]
    for path in [*named, *folders]:
        places = [ROOT / path, *(ROOT / near / path for near in ("server", "decoding/engine", "decoding/formats"))]
        assert any(place.exists() for place in (*places, ROOT / "tests/decoding" / path)), path
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((ROOT / document).parent / link).exists(), link


@cache
def _words_of_the_code() -> frozenset[str]:
    folders = ("schemas", "decoding", "server", "loadtest", "tests")
    files = (file for folder in folders for file in (ROOT / folder).rglob("*.py") if file != Path(__file__))
    return frozenset(word for file in files for word in re.findall(r"\w+", file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("document", ["README.md", "docs/ARCHITECTURE.md", "docs/ENGINE.md", "docs/FORMATS.md"])
def test_names_that_are_named_exist(document: str) -> None:
    """Of classes, functions and fields, of ours or of a library that the code uses."""
    named = re.findall(r"`([A-Za-z_][\w.]*?)(?:\(\))?`", _prose(document))
    words = {word for name in named if not name.endswith((".py", ".json")) for word in name.split(".") if word}
    words -= {f"STRICTCALL_{field.upper()}" for field in Settings.model_fields}
    # vLLM's, in what is not built; an argument of Kimi K3's template.
    assert words - _words_of_the_code() <= {"_prepare_input_ids", "thinking_effort"}


def test_every_format_has_a_row() -> None:
    table = DOCUMENTS["docs/FORMATS.md"].partition("## ")[0]
    rows = [name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)`", row)]
    assert sorted(rows) == sorted(names())
    answered = re.findall(r"^\| `(\w+)` \| 2000 \|", DOCUMENTS["docs/FORMATS.md"], re.M)
    assert sorted(answered) == sorted(names())


def _exactness(row: str) -> tuple[str, str]:
    """Both cells of this row of the run that is shown."""
    found = re.search(rf"^\| (?:– )?{re.escape(row)} \| (.*?) \| (.*?) \|$", DOCUMENTS["docs/EXACTNESS.md"], re.M)
    assert found, row
    return found[1], found[2]


def test_the_readme_s_figures_of_exactness_are_those_of_the_run() -> None:
    said = " ".join(README.split())

    def share(cell: str, digits: int) -> str:
        found = re.search(r"\(([\d.]+) %\)", cell)
        assert found
        return f"{float(found[1]):.{digits}f} %"

    assert f"over {_exactness('schemas')[0]} real schemas" in said
    ours, others = _exactness("refused at compile")
    assert f"{share(ours, 1)} were refused" in said
    assert f"own JSON Schema compiler: {share(others, 0)})" in said
    refused = re.fullmatch(r"(\d+) of ([\d,]+) .*", _exactness("valid instances refused")[0])
    assert refused
    assert refused[1] == "0"
    assert f"of {refused[2]} valid instances none was refused" in said
    shuffled = re.fullmatch(r"([\d,]+) of ([\d,]+) .*", _exactness("same instance, keys shuffled, accepted")[0])
    assert shuffled
    assert shuffled[1] == shuffled[2]
    assert f"of {shuffled[2]} with their keys in another order none" in said
    taken = re.search(r"\(([\d.]+) %\)", _exactness("same instance, keys shuffled, accepted")[1])
    assert taken
    assert f"(llguidance: {100 - float(taken[1]):.0f} %)" in said
    wrong = re.fullmatch(r"0 of ([\d,]+) .*", _exactness("invalid instances accepted by an exact grammar")[0])
    assert wrong
    assert f"of {wrong[1]} invalid ones none was accepted" in said
    median, late = _exactness("mask, µs (p50 / p99 / p99.9 / max)")[0].split(" / ")[:2]
    assert f"A mask costs {float(median):.0f} µs at the median and {float(late):.0f} µs at p99" in said


def _imports(folder: str) -> dict[str, set[str]]:
    """Modules that each file of a folder imports, wherever in it."""
    found: dict[str, set[str]] = {}
    for file in (ROOT / folder).rglob("*.py"):
        nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        named |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        found[str(file.relative_to(ROOT))] = named
    return found


def test_imports_go_one_way_and_vllm_is_where_it_is_said_to_be() -> None:
    order = ["schemas", "decoding", "server", "loadtest"]
    with_vllm = set()
    for place, folder in enumerate(order):
        for file, modules in _imports(folder).items():
            tops = {module.partition(".")[0] for module in modules}
            assert not tops & set(order[place + 1 :]), file
            with_vllm |= {file} if "vllm" in tops else set()
    allowed = ("decoding/engine/", "server/engine.py", "server/engine_listener.py", "loadtest/compare/")
    assert with_vllm
    assert all(file.startswith(allowed) for file in with_vllm), with_vllm
