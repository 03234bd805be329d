"""``strictcall lint``: what a tool's schema will be held to, before a model ever sees it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from decoding.tools import argument_schema
from schemas import CompiledSchema, SchemaError, compile_schema
from schemas.sample import hints_of, sample

Json: TypeAlias = Any
Undeclared: TypeAlias = Literal["forbid", "allow"]

SAMPLES = 3
_ARGUMENT_KEYS = ("parameters", "input_schema", "inputSchema")
"""Where OpenAI, Anthropic and MCP keep a tool's schema."""


class Unreadable(Exception):
    """Input that is no JSON, or JSON that is neither tools nor a schema. The message says what was found."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A schema to lint: a tool's arguments (the server's rules for arguments apply) or a bare schema."""

    name: str
    schema: Json
    is_tool: bool
    pointer: str
    """Where the schema stands in its file."""


@dataclass(frozen=True, slots=True)
class Finding:
    """``path`` is a JSON pointer into the file. ``keyword`` is empty when the subschema as a whole is meant."""

    path: str
    keyword: str
    reason: str


@dataclass(slots=True)
class Verdict:
    """What became of one subject. Sizes in bytes; times in milliseconds."""

    name: str
    guarantee: Literal["exact", "checked", "refused"]
    schema_bytes: int
    compile_ms: float
    grammar_bytes: int = 0
    residue: list[Finding] = field(default_factory=list)
    refusal: Finding | None = None
    samples: list[Json] = field(default_factory=list)


@dataclass(slots=True)
class FileReport:
    file: str
    error: str | None = None
    tools: list[Verdict] = field(default_factory=list)


def lint_command(
    files: Annotated[list[str], typer.Argument(help="JSON files with tools or a schema; - for standard input.")],
    undeclared: Annotated[
        Literal["forbid", "allow"],
        typer.Option(help="May arguments have members that the schema does not declare, where it does not say?"),
    ] = "forbid",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    seed: Annotated[int, typer.Option(help="Of the sample values.")] = 0,
) -> None:
    """Say for each tool whether its schema is held exactly, checked afterwards, or refused, and why.

    Takes tools as OpenAI (Chat or Responses), Anthropic or MCP write them, one or many, or a bare JSON Schema. Exit
    code 1 when anything is refused, 2 when an input cannot be read.
    """
    reports = [lint_file(name, undeclared, seed) for name in files]
    if as_json:
        print(json.dumps({"files": [asdict(report) for report in reports]}, indent=2, ensure_ascii=False))
    else:
        _show(reports, Console(soft_wrap=True))
    raise typer.Exit(exit_code(reports))


def exit_code(reports: list[FileReport]) -> int:
    """2 when an input could not be read, else 1 when a schema was refused, else 0."""
    if any(report.error is not None for report in reports):
        return 2
    return int(any(verdict.guarantee == "refused" for report in reports for verdict in report.tools))


def lint_file(name: str, undeclared: Undeclared, seed: int = 0) -> FileReport:
    """The report on one file, or on standard input when ``name`` is ``-``."""
    report = FileReport("standard input" if name == "-" else name)
    try:
        text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        subjects = list(subjects_of(json.loads(text)))
    except OSError as error:
        report.error = error.strerror or str(error)
    except (ValueError, RecursionError) as error:
        report.error = f"not JSON: {error}"
    except Unreadable as error:
        report.error = str(error)
    else:
        report.tools = [lint(subject, undeclared, seed) for subject in subjects]
    return report


def subjects_of(document: Json, pointer: str = "") -> Iterator[Subject]:
    """The tools of a document in any of the usual forms, or the document itself as a schema. Raises Unreadable."""
    if isinstance(document, bool):
        yield Subject("schema", document, False, pointer)
    elif isinstance(document, list):
        if not document:
            raise Unreadable("an empty list: expected tools")
        for index, item in enumerate(document):
            yield _tool(item, f"{pointer}/{index}")
    elif not isinstance(document, dict):
        raise Unreadable(f"expected tools or a JSON Schema, found {type(document).__name__}")
    elif isinstance(document.get("tools"), list):
        yield from subjects_of(document["tools"], f"{pointer}/tools")
    elif isinstance(document.get("result"), dict) and isinstance(document["result"].get("tools"), list):
        # MCP's answer to tools/list, as it comes over the wire
        yield from subjects_of(document["result"]["tools"], f"{pointer}/result/tools")
    elif _is_tool(document):
        yield _tool(document, pointer)
    else:
        yield Subject(str(document.get("title", "schema")), document, False, pointer)


def _is_tool(item: dict[str, Json]) -> bool:
    if isinstance(item.get("function"), dict) or item.get("type") in ("function", "custom"):
        return True
    return isinstance(item.get("name"), str) and any(key in item for key in (*_ARGUMENT_KEYS, "schema"))


def _tool(item: Json, pointer: str) -> Subject:
    if not isinstance(item, dict):
        raise Unreadable(f"{pointer}: expected a tool (an object), found {type(item).__name__}")
    if isinstance(item.get("function"), dict):
        item, pointer = item["function"], f"{pointer}/function"
    name = item.get("name")
    if not isinstance(name, str):
        raise Unreadable(f"{pointer or '/'}: a tool needs a name")
    for key in _ARGUMENT_KEYS:
        if key in item:
            return Subject(name, item[key], True, f"{pointer}/{key}")
    if "schema" in item:  # response_format's json_schema
        return Subject(name, item["schema"], False, f"{pointer}/schema")
    return Subject(name, None, True, pointer)


def lint(subject: Subject, undeclared: Undeclared, seed: int = 0) -> Verdict:
    """Compiles one subject as the server would. Never raises for a faulty schema: that is a ``refused`` verdict."""
    size = len(json.dumps(subject.schema, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass"))
    started = time.perf_counter()
    try:
        compiled = compile_schema(_effective(subject), undeclared=undeclared)
    except SchemaError as error:
        elapsed = 1000 * (time.perf_counter() - started)
        refusal = Finding(subject.pointer + error.path, error.keyword, error.reason)
        return Verdict(subject.name, "refused", size, elapsed, refusal=refusal)
    elapsed = 1000 * (time.perf_counter() - started)
    return Verdict(
        name=subject.name,
        guarantee=compiled.guarantee,
        schema_bytes=size,
        compile_ms=elapsed,
        grammar_bytes=len(compiled.grammar.encode()),
        residue=[Finding(subject.pointer + r.path, r.keyword, r.reason) for r in compiled.residue],
        samples=sample_values(compiled, seed),
    )


def _effective(subject: Subject) -> dict[str, Json] | bool:
    if subject.is_tool and subject.schema is None:
        return argument_schema(None)
    if not isinstance(subject.schema, dict | bool):
        raise SchemaError("", "", f"a schema is an object or a boolean, not {type(subject.schema).__name__}")
    return argument_schema(subject.schema) if subject.is_tool else subject.schema


def sample_values(compiled: CompiledSchema, seed: int) -> list[Json]:
    """Up to three values that the grammar gives and the schema allows. Raises AssertionError when an exact grammar
    gives an invalid value: that would be a fault of this program, and must not be hidden."""
    found: list[Json] = []
    for text in sample(
        compiled.grammar, SAMPLES if not compiled.residue else 4 * SAMPLES, seed, hints_of(compiled.schema)
    ):
        value = json.loads(text)
        faults = compiled.validate(value)
        if not faults:
            found.append(value)
        elif not compiled.residue:
            raise AssertionError(f"the grammar gave {text}, which is not valid: {faults[0]}; please report this")
    return found[:SAMPLES]


_COLOURS = {"exact": "green", "checked": "yellow", "refused": "bold red"}


def _show(reports: list[FileReport], console: Console) -> None:
    for report in reports:
        console.print(f"[bold]{escape(report.file)}[/]")
        if report.error is not None:
            console.print(f"  [bold red]cannot be read[/]: {escape(report.error)}")
            continue
        table = Table(box=None, pad_edge=False, padding=(0, 2), header_style="dim")
        for heading in ("tool", "guarantee"):
            table.add_column(heading)
        for heading in ("schema B", "grammar B", "compile ms"):
            table.add_column(heading, justify="right")
        for verdict in report.tools:
            table.add_row(
                escape(verdict.name),
                f"[{_COLOURS[verdict.guarantee]}]{verdict.guarantee}[/]",
                f"{verdict.schema_bytes:,}",
                f"{verdict.grammar_bytes:,}" if verdict.grammar_bytes else "–",
                f"{verdict.compile_ms:.1f}",
            )
        console.print(table)
        for verdict in report.tools:
            _show_details(verdict, console)
    _show_sum([verdict for report in reports for verdict in report.tools], console)


def _show_details(verdict: Verdict, console: Console) -> None:
    console.print(f"\n[bold]{escape(verdict.name)}[/]")
    if verdict.refusal is not None:
        console.print(f"  [bold red]refused[/] {_sentence(verdict.refusal)}")
    for finding in verdict.residue:
        console.print(f"  [yellow]checked[/] {_sentence(finding)}")
    for value in verdict.samples:
        text = json.dumps(value, ensure_ascii=False)
        console.print(f"  [dim]{escape(text if len(text) <= 200 else text[:199] + '…')}[/]", highlight=False)


def _sentence(finding: Finding) -> str:
    keyword = f" {finding.keyword}" if finding.keyword else ""
    return escape(f"{finding.path or '/'}{keyword}: {finding.reason}")


def _show_sum(verdicts: list[Verdict], console: Console) -> None:
    counts = {kind: sum(verdict.guarantee == kind for verdict in verdicts) for kind in _COLOURS}
    console.print("\n" + ", ".join(f"[{_COLOURS[kind]}]{n} {kind}[/]" for kind, n in counts.items() if n))
