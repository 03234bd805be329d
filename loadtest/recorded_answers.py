"""Recorded outputs of real models, through reader and grammar (``python -m loadtest.formats --recorded``).

The recordings are those of the installed package canitoolcall: raw text, tools offered, expected parse. For each one
whose format is declared here, the reader has to give the expected calls, content and reasoning, fed whole, character
by character and cut in two at every place (at 200 places of long ones), and the grammar of that request has to accept
the text when its calls are valid against their schemas. A mismatch is explained below or makes the exit status 1.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from decoding import (
    CallFinished,
    CallStarted,
    Event,
    Format,
    Reader,
    Reasoning,
    Text,
    Tool,
    tool_from_wire,
    tool_grammar,
)
from decoding.formats import get
from decoding.reasoning import ReasoningMode, mode_of
from schemas.byte_vocabulary import EOS
from schemas.sample import matcher

#: Family and a part of the model's name → our format. The first that fits counts.
FORMATS = (
    ("qwen3-hermes", "", "hermes"),
    ("qwen3-xml", "", "qwen_xml"),
    ("glm", "GLM-4.5", "glm"),
    ("glm", "", "glm_47"),
    ("mistral", "Mistral-7B", "mistral_list"),
    ("mistral", "", "mistral"),
    ("deepseek", "DeepSeek-V3-0324", "deepseek"),
    ("deepseek", "DeepSeek-V3.1", "deepseek_v31"),
    ("deepseek", "DeepSeek-V3.2", "deepseek_v32"),
    ("deepseek", "DeepSeek-V4.1", "deepseek_v41"),
    ("deepseek", "DeepSeek-V4", "deepseek_v4"),
    ("kimi", "Kimi-K2", "kimi"),
    ("kimi", "Kimi-K3", "kimi_k3"),
    ("llama", "Llama-3", "llama_json"),
    ("llama", "Llama-4", "llama_pythonic"),
    ("gemma4", "", "gemma"),
    ("gpt-oss", "", "harmony"),
)

#: Recordings that our reader reads differently, and why.
READ_OTHERWISE = {
    "kimi/k2i-vllm-noise-between-markers": "text between markers is no call; it is shown, not dropped",
    "kimi/k2i-vllm-content-after-tool-section": "white space around calls is no content: one space, not two",
    "kimi/k3-control-marker-text-in-value": "a value ends at its closing tag: all else is data",
    "gpt-oss/llamacpp-builtin-python-recipient": "python is not on offer: the message is shown, not dropped",
    "deepseek/sglang-v4-self-closing-invoke": "a call without arguments is closed by a tag of its own",
    "gemma4/sglang-text-around-call": "white space around calls is no content: one space, not two",
    "llama/l4-truncated-missing-close-bracket": "the first call is whole, and delivered",
    "mistral/vllm-v3-arguments-before-name": "the name comes first in this format; the text is shown",
    "mistral/vllm-v3-name-inside-arguments": "the name comes first in this format; the text is shown",
    "mistral/vllm-v11-think-text": "this family's reasoning marks are [THINK] and [/THINK]",
    "glm/glm47-missing-last-close-arg-value": "a value ends at its closing tag: all else is data",
    "qwen3-xml/llamacpp-q35-call-inside-think": "reasoning that is not closed is reasoning to its end",
    "qwen3-xml/vllm-coder-missing-close-parameter": "a value ends at its closing tag: all else is data",
    "qwen3-xml/bug-missing-close-parameter-before-function": "a parameter that is not closed: the call is not complete",
    "qwen3-hermes/vllm-invalid-json-missing-brace": "the arguments are whole, only the object around them is not",
}
#: Recordings whose calls are valid and whose text our grammar would not have let through, and why.
NOT_WRITTEN = {
    "deepseek/sglang-v4-self-closing-invoke": "a call without arguments is closed by a tag of its own",
    "deepseek/sglang-v32-text-before-empty-invoke": "an empty line stands for no arguments",
    "gpt-oss/llamacpp-builtin-python-recipient": "python is not on offer",
    "kimi/k2i-vllm-multiline-json": "arguments are compact: no line breaks between members",
    "kimi/k2i-vllm-noise-between-markers": "nothing stands between markers",
    "kimi/k2i-vllm-empty-tool-section": "a section has calls",
    "kimi/k3-control-marker-text-in-value": "no value holds its closing tag, spelled or not",
    "kimi/k3-bug-response-only-completion": "reasoning that the prompt has opened is closed",
    "llama/l4-vllm-pythonic-parallel-no-spaces": "a space stands behind the comma between calls",
    "llama/l3-meta-python-tag-type-function": "JSON is compact: no line breaks between members",
    "mistral/vllm-v3-arguments-before-name": "the name comes first",
    "mistral/vllm-v3-name-inside-arguments": "the name comes first",
    "glm/glm45-vllm-newline-format-two-calls": "key and value stand on lines of their own",
    "glm/glm45-vllm-coerces-schema-types": "key and value stand on lines of their own",
    "glm/glm45-ollama-content-after-call": "a line break stands behind the name",
    "glm/glm47-vllm-args-with-newlines": "no line breaks between tags",
    "glm/glm47-missing-last-close-arg-value": "a value has its closing tag",
    "qwen3-xml/llamacpp-q35-call-inside-think": "reasoning is closed",
    "qwen3-xml/vllm-coder-missing-close-parameter": "a parameter has its closing tag",
    "qwen3-xml/bug-missing-close-parameter-before-function": "a parameter has its closing tag",
    "qwen3-xml/bug-coder-text-after-call": "tags stand on lines of their own, as the models' template has it",
    "qwen3-xml/bug-coder-number-outside-int64": "tags stand on lines of their own",
}

_PLACES = 200


@dataclass(frozen=True, slots=True)
class Parse:
    """What an answer came to. Arguments are parsed: spelling does not count."""

    calls: tuple[tuple[str, str], ...]
    content: str
    reasoning: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """One recording's verdicts; ``None`` where there was nothing to judge."""

    name: str
    family: str
    format: str | None
    read: str | None = None
    """Empty when it was read as expected, else the difference."""
    unsteady: bool = False
    """What was read depends on how the text was cut: nothing explains that."""
    written: str | None = None
    """Empty when the grammar accepts it, else where it does not."""


def recordings() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every recording with its family's description. Raises SystemExit when the package is not installed."""
    spec = find_spec("canitoolcall")
    if spec is None or spec.origin is None:
        raise SystemExit(
            "loadtest.recorded_answers: install canitoolcall (pip install canitoolcall): the recordings are its data"
        )
    for family in sorted((Path(spec.origin).parent / "_data" / "fixtures").glob("*/family.json")):
        described = json.loads(family.read_text(encoding="utf-8"))
        for file in sorted(family.parent.glob("*.jsonl")):
            for line in file.read_text(encoding="utf-8").splitlines():
                if line.strip():
                    yield json.loads(line), described


def format_of(recording: dict[str, Any]) -> Format | None:
    """The format that is declared for the recording's model."""
    for family, model, name in FORMATS:
        if recording["family"] == family and model in recording["models"][0]:
            return get(name)
    return None


def judge(recording: dict[str, Any], family: dict[str, Any]) -> Outcome:
    """Reads one recording and tries its grammar."""
    name, fmt = recording["id"], format_of(recording)
    if fmt is None:
        return Outcome(name, recording["family"], None)
    raw = recording["raw_output"]
    tools = [tool_from_wire(tool, undeclared="allow") for tool in recording["tools"]]
    reasons = _reasons(recording, family, fmt)
    cut = "truncated" in recording["tags"]
    whole = _parse(fmt, tools, [raw], reasons, cut)
    difference = _difference(recording, whole)
    splits = [list(raw), *([raw[:at], raw[at:]] for at in range(0, len(raw) + 1, max(1, len(raw) // _PLACES)))]
    unsteady = any(_parse(fmt, tools, pieces, reasons, cut) != whole for pieces in splits)
    written = _written(fmt, recording, tools, reasons) if _obeys(recording, tools) else None
    return Outcome(name, recording["family"], fmt.name, difference, unsteady, written)


def _reasons(recording: dict[str, Any], family: dict[str, Any], fmt: Format) -> ReasoningMode:
    """The mode by the prompt's end, where the recording's model has reasoning at all."""
    if fmt.reasoning is None:
        return "none"
    prompts = {model["repo"]: model.get("default_generation_prompt") for model in family["reference_models"]}
    prompt = recording.get("generation_prompt") or prompts.get(recording["models"][0]) or ""
    mode = mode_of(fmt, prompt, fmt.reasoning.open, {})
    # Recordings whose prompt is not known begin inside reasoning.
    begun = mode == "optional" and fmt.reasoning.open not in recording["raw_output"]
    return "open" if begun and fmt.reasoning.close in recording["raw_output"] else mode


def _parse(fmt: Format, tools: Sequence[Tool], pieces: Sequence[str], reasons: ReasoningMode, cut: bool) -> Parse:
    reader = Reader(fmt, tools, reasoning=reasons)
    events: list[Event] = [event for piece in pieces for event in reader.feed(piece)]
    events += reader.finish("length" if cut else "stop")
    names = {event.index: event.name for event in events if isinstance(event, CallStarted)}
    return Parse(
        tuple((names[e.index], _canonical(e.arguments)) for e in events if isinstance(e, CallFinished)),
        "".join(event.text for event in events if isinstance(event, Text)).strip(),
        "".join(event.text for event in events if isinstance(event, Reasoning)).strip(),
    )


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        return f"no JSON: {arguments}"


def _difference(recording: dict[str, Any], parse: Parse) -> str:
    if "expected_error" in recording:
        # No whole call may come out; raw text as content is fine.
        return f"calls {parse.calls} out of broken text" if parse.calls else ""
    expected = recording["expected"]
    calls = tuple((c["name"], json.dumps(c["arguments"], sort_keys=True)) for c in expected["tool_calls"] or ())
    if parse.calls != calls:
        return f"calls {parse.calls}, expected {calls}"
    for part in ("content", "reasoning"):
        wanted = (expected[part if part == "content" else "reasoning_content"] or "").strip()
        if getattr(parse, part) != wanted:
            return f"{part} {getattr(parse, part)!r}, expected {wanted!r}"
    return ""


def _obeys(recording: dict[str, Any], tools: Sequence[Tool]) -> bool:
    """Whether the recording is a whole answer whose calls are of offered tools and valid."""
    if "expected_error" in recording or "truncated" in recording["tags"]:
        return False
    schemas = {tool.name: tool.compiled for tool in tools}
    return all(
        call["name"] in schemas and not schemas[call["name"]].validate(call["arguments"])
        for call in recording["expected"]["tool_calls"] or ()
    )


def _written(fmt: Format, recording: dict[str, Any], tools: Sequence[Tool], reasons: ReasoningMode) -> str:
    machine = matcher(tool_grammar(tools, "auto", True, fmt, reasons).cfg.definition)
    data = list(recording["raw_output"].encode())
    taken = machine.validate_tokens([*data, EOS])
    return (
        "" if taken == len(data) + 1 else f"stops before {bytes(data[taken : taken + 30]).decode(errors='replace')!r}"
    )


def report(outcomes: Sequence[Outcome]) -> tuple[str, list[str]]:
    """The table by family and format in Markdown, and the mismatches that nothing explains."""
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    unexplained = []
    for outcome in outcomes:
        row = rows[outcome.family, outcome.format or "(not declared)"]
        row["all"] += 1
        if outcome.format is None:
            unexplained.append(f"{outcome.name}: no format is declared for its model")
        if outcome.unsteady:
            unexplained.append(f"{outcome.name}: what is read depends on how the text is cut")
        if outcome.read is not None:
            row["read"] += not outcome.read
        if outcome.written is not None:
            row["judged"] += 1
            row["written"] += not outcome.written
        for fault, known in ((outcome.read, READ_OTHERWISE), (outcome.written, NOT_WRITTEN)):
            if fault and outcome.name not in known:
                unexplained.append(f"{outcome.name}: {fault}")
            elif fault == "" and outcome.name in known:
                unexplained.append(f"{outcome.name}: explained as a mismatch, and is none")
    lines = [
        "| family | format | recordings | read as expected | valid answers | accepted by the grammar |",
        "|---|---|---|---|---|---|",
    ]
    for (family, name), row in sorted(rows.items()):
        figures = (
            [row["all"], row["read"], row["judged"], row["written"]] if row["read"] else [row["all"], "–", "–", "–"]
        )
        lines.append(f"| {family} | `{name}` | {' | '.join(map(str, figures))} |")
    return "\n".join(lines), unexplained


def run() -> int:
    """Runs every recording, prints the table and the explanations; 1 when something is unexplained."""
    outcomes = [judge(recording, family) for recording, family in recordings()]
    if not outcomes:
        raise SystemExit("loadtest.recorded_answers: canitoolcall has no recordings where they are expected")
    table, unexplained = report(outcomes)
    print(table)
    for known, title in ((READ_OTHERWISE, "read otherwise"), (NOT_WRITTEN, "not written by the grammar")):
        print(f"\n{title}:", *(f"{name}: {reason}" for name, reason in known.items()), sep="\n  ")
    print(f"\nunexplained: {len(unexplained)}", *unexplained, sep="\n  ")
    return 1 if unexplained else 0
