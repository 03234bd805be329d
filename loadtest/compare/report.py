"""The comparison as JSON, Markdown and a picture."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadtest.compare.estimate import estimate
from loadtest.compare.figures import FIGURES, Figure, Samples, spread
from loadtest.compare.servers import OURS, PEER


@dataclass(frozen=True, slots=True)
class Row:
    """One figure as it came out. ``value`` is what the goal is about: ours / peer, or our own."""

    figure: Figure
    value: float | None
    ratios: Sequence[float]

    @property
    def held(self) -> bool | None:
        return None if self.value is None else self.figure.held(self.value)


def rows(samples: Samples) -> list[Row]:
    found = []
    for figure in FIGURES:
        ratios = samples.ratios(figure.key, OURS, PEER) if figure.paired else []
        value = statistics.median(ratios) if ratios else None
        found.append(Row(figure, value if figure.paired else samples.median(figure.key, OURS), ratios))
    return found


def markdown(samples: Samples, servers: Sequence[str], notes: Sequence[str]) -> str:
    """One table: median and range over the rounds for each server, the ratio, the goal, whether it was met."""
    lines = [
        "# Performance",
        "",
        "Made by `python -m loadtest.compare`.",
        "",
        *(f"* {note}" for note in notes),
        "",
        f"| figure | {' | '.join(servers)} | ours / peer | goal | |",
        "|---|" + "---|" * (len(servers) + 3),
    ]
    for row in rows(samples):
        figure = row.figure
        if figure.key not in samples.values:
            continue
        cells = [spread(samples.of(figure.key, server)) for server in servers]
        sign = "≤" if figure.bound == "at most" else "≥"
        goal = "" if figure.goal is None else f"{sign} {figure.goal:g}"
        verdict = {None: "", True: "met", False: "**missed**"}[row.held]
        lines.append(f"| {figure.text} | {' | '.join(cells)} | {spread(row.ratios)} | {goal} | {verdict} |")
    picture = "![times better than the peer, figure by figure](compare.png)"
    return "\n".join([*lines, "", picture, "", *estimate(samples)]) + "\n"


def save(folder: Path, samples: Samples, servers: Sequence[str], notes: Sequence[str]) -> None:
    """Write ``compare.json``, ``compare.md`` and ``compare.png``."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {
        row.figure.key: {
            "text": row.figure.text,
            "goal": row.figure.goal,
            "bound": row.figure.bound,
            "value": row.value,
            "met": row.held,
        }
        for row in rows(samples)
    }
    whole = {"notes": list(notes), "servers": list(servers), "figures": found, "samples": samples.values}
    (folder / "compare.json").write_text(json.dumps(whole, indent=1), encoding="utf-8")
    (folder / "compare.md").write_text(markdown(samples, servers, notes), encoding="utf-8")
    _picture(folder / "compare.png", rows(samples))


def _picture(path: Path, found: Sequence[Row]) -> None:
    """How many times better than the peer each paired figure is, round by round, with the goal beside it."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    shown = [row for row in found if row.ratios and row.figure.goal is not None]
    if not shown:
        return
    chart, axes = pyplot.subplots(figsize=(10, 0.5 * len(shown) + 1.5))
    for place, row in enumerate(shown):
        less = row.figure.bound == "at most"
        gains = [1 / ratio if less else ratio for ratio in row.ratios if ratio]
        goal = row.figure.goal or 1.0
        axes.barh(place, statistics.median(gains), color="#4477aa" if row.held else "#ddaa33", height=0.6)
        axes.plot(gains, [place] * len(gains), ".", color="#222222", markersize=4)
        axes.plot(1 / goal if less else goal, place, "d", color="#cc6677", label=None if place else "goal")
    axes.axvline(1.0, color="#888888", linewidth=1)
    axes.set_yticks(range(len(shown)), [row.figure.text for row in shown], fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 4, 8], ["½", "1", "2", "4", "8"])
    axes.minorticks_off()
    axes.set_xlabel("times better than vLLM's own server (bar: median; points: rounds)")
    axes.legend(loc="lower right")
    chart.tight_layout()
    chart.savefig(path, dpi=120)
    pyplot.close(chart)
