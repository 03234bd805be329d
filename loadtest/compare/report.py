"""The comparison as JSON, Markdown and a picture."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from pathlib import Path

Samples = dict[str, dict[str, list[float]]]
"""Figure → server → one value per round."""


@dataclass(frozen=True, slots=True)
class Figure:
    """``goal`` is about ours / peer: at most (``less``), or at least."""

    key: str
    text: str
    less: bool
    goal: float


FIGURES = (
    Figure("one_call_t0", "one client, forced call, temperature 0: seconds", True, 0.25),
    Figure("one_call_t1", "one client, forced call, temperature 1: seconds", True, 0.25),
    Figure("auto_text", "one client, text beside the tools: ms per token", True, 1.0),
    Figure("calls_8_t0", "8 clients, temperature 0: calls per second", False, 1.8),
    Figure("calls_8_t1", "8 clients, temperature 1: calls per second", False, 1.8),
    Figure("calls_32_t0", "32 clients, temperature 0: calls per second", False, 1.3),
    Figure("calls_32_t1", "32 clients, temperature 1: calls per second", False, 1.3),
    Figure("plain_8", "8 clients, plain chat: tokens per second", False, 1.0),
    Figure("passes", "forward passes per call, one client", True, 0.45),
    Figure("api_us", "API process, 32 clients: µs of processor time per delta", True, 0.60),
    Figure("first_unseen", "first delta with a grammar never seen: seconds", True, 0.7),
)


def ratio(samples: Samples, key: str, ours: str, peer: str) -> float | None:
    """Median of the rounds' ratios ours / peer."""
    mine, theirs = samples.get(key, {}).get(ours, []), samples.get(key, {}).get(peer, [])
    pairs = [a / b for a, b in zip(mine, theirs, strict=False) if b]
    return statistics.median(pairs) if pairs else None


def markdown(samples: Samples, servers: list[str], notes: list[str]) -> str:
    """One table: median and range per server, our ratio to the peer, the goal."""
    peer = "vllm"
    lines = [
        "# Performance",
        "",
        *(f"* {note}" for note in notes),
        "",
        f"| figure | {' | '.join(servers)} | ours / peer | goal |",
        "|---|" + "---|" * (len(servers) + 2),
    ]
    for figure in FIGURES:
        cells = [_spread(samples.get(figure.key, {}).get(server, [])) for server in servers]
        found = ratio(samples, figure.key, servers[0], peer)
        goal = f"{'≤' if figure.less else '≥'} {figure.goal}"
        shown = "not measured"
        if found is not None:
            held = found <= figure.goal if figure.less else found >= figure.goal
            shown = f"{found:.2f}{'' if held else ' (missed)'}"
        lines.append(f"| {figure.text} | {' | '.join(cells)} | {shown} | {goal} |")
    return "\n".join(lines) + "\n"


def _spread(values: list[float]) -> str:
    if not values:
        return "–"
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def save(folder: Path, samples: Samples, servers: list[str], notes: list[str]) -> None:
    """Write ``compare.json``, ``compare.md`` and ``compare.png``."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"notes": notes, "servers": servers, "samples": samples}, indent=1)
    (folder / "compare.json").write_text(text, encoding="utf-8")
    (folder / "compare.md").write_text(markdown(samples, servers, notes), encoding="utf-8")
    picture(folder / "compare.png", samples, servers)


def picture(path: Path, samples: Samples, servers: list[str]) -> None:
    """Ours / peer per figure, with the goal beside it; better is to the right."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    rows = [(f, r) for f in FIGURES if (r := ratio(samples, f.key, servers[0], "vllm")) is not None]
    if not rows:
        return
    gains = [1 / r if f.less else r for f, r in rows]
    goals = [1 / f.goal if f.less else f.goal for f, _ in rows]
    places = range(len(rows))
    figure, axes = pyplot.subplots(figsize=(9, 0.5 * len(rows) + 1.5))
    axes.barh(list(places), gains, color="#4477aa", label="measured")
    axes.plot(goals, list(places), "d", color="#cc6677", label="goal")
    axes.axvline(1.0, color="#888888", linewidth=1)
    axes.set_yticks(list(places), [f.text for f, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel("times better than vLLM's own server")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
