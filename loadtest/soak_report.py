"""What a soak has seen, and the table that shows it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from loadtest.scenarios import Scenario
from loadtest.stream_answer import StreamedChoice


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that must not happen, with the request that it happened to."""

    kind: str
    text: str
    request: dict[str, Any]


@dataclass(slots=True)
class Tally:
    """Counts and times (seconds) of one soak."""

    requests: int = 0
    answers: int = 0
    calls: int = 0
    cut: int = 0
    tokens: int = 0
    dropped: int = 0
    expected_errors: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    modes: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    ttft: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    alive: bool = False

    @property
    def good(self) -> bool:
        """Nothing was wrong, calls were made, and more was answered than refused."""
        return self.alive and not self.faults and self.calls > 0 and self.answers > self.refused.total()

    def fault(self, kind: str, text: str, scenario: Scenario) -> None:
        self.faults.append(Fault(kind, text, scenario.body))

    def choice(self, choice: StreamedChoice, calls: int) -> None:
        self.calls += calls
        self.cut += choice.finish_reason == "length"

    def answer(self, scenario: Scenario, faults: list[str], tokens: int) -> None:
        """Count a whole answer; ``tokens`` is 0 where the client did not ask for usage."""
        if scenario.expect == "client error":
            faults = [*faults, f"should have been refused: {scenario.labels}"]
        self.answers += 1
        self.tokens += tokens
        self.modes.update(scenario.labels)
        if faults:
            self.fault("invalid", "; ".join(faults), scenario)


def print_report(tally: Tally, duration: float) -> None:
    """Print the tables, then every kind of fault with its first requests."""
    console = Console(width=130)
    kinds = Counter(fault.kind for fault in tally.faults)
    table = Table("", "", title=f"Soak, {duration:.0f} s", show_header=False)
    rows = {
        "requests": tally.requests,
        "whole answers": tally.answers,
        "calls presented as complete": tally.calls,
        "choices cut by max_tokens": tally.cut,
        "bad requests refused as they should be": tally.expected_errors,
        "refused with a reason (schema, context)": sum(tally.refused.values()),
        "answers the client left": tally.dropped,
        "engine well at the end": tally.alive,
    }
    for kind in ("invalid", "5xx", "hang", "error frame", "connection", "unexpected refusal"):
        rows[f"faults: {kind}"] = kinds.pop(kind, 0)
    rows |= {f"faults: {kind}": count for kind, count in kinds.items()}
    for name, value in rows.items():
        table.add_row(name, str(value))
    console.print(table)
    times = Table("ms", "n", "p50", "p90", "p99", "max", title="Times as the clients saw them")
    for name, values in {"TTFT": tally.ttft, "ITL": tally.gaps, "whole answer": tally.took}.items():
        times.add_row(name, *_percentiles(values))
    console.print(times)
    console.print("answers by feature:", dict(tally.modes.most_common()))
    for reason, count in tally.refused.most_common(30):
        console.print(f"refused {count}×: {reason}", markup=False, highlight=False)
    for line in tally.metrics:
        console.print(line, markup=False, highlight=False)
    shown: Counter[str] = Counter()
    for fault in tally.faults:
        shown[fault.kind] += 1
        if shown[fault.kind] <= 5:
            request = json.dumps(_shortened(fault.request))
            console.print(f"\n[{fault.kind}] {fault.text[:600]}\n  {request[:1600]}", markup=False, highlight=False)


def _shortened(value: Any) -> Any:
    """The request without its long texts, to be read; ``--faults`` has it whole."""
    if isinstance(value, str) and len(value) > 160:
        return f"{value[:80]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {key: _shortened(member) for key, member in value.items()}
    return [_shortened(item) for item in value] if isinstance(value, list) else value


def _percentiles(values: list[float]) -> list[str]:
    if not values:
        return ["0", "", "", "", ""]
    ordered = sorted(values)
    places = [ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.9, 0.99)]
    return [str(len(ordered)), *(f"{value * 1000:.0f}" for value in (*places, ordered[-1]))]
