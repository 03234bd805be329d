"""The table in Markdown, the counter-examples as lines, and everything as JSON."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from loadtest.exactness.suite import DRAFTS
from loadtest.exactness.tally import Tally, quantile, suite_summary

# Faults first; the rest is information.
FAULTS = (
    "called unsatisfiable, but valid",
    "invalid accepted",
    "invalid accepted, format",
    "invalid passed the check",
    "valid refused",
    "walk invalid",
    "walk not JSON",
    "walk repeats a declared key",
    "walk invalid, format",
    "walk invalid, free key repeated",
    "walk invalid and passed the check",
    "walk: dead end",
    "matcher broke",
    "grammar not taken",
    "mask denies an accepted text",
    "shuffled refused",
)
REMARKS = (
    "plain spelling refused",
    "invalid accepted, checked",
    "invalid accepted, format, checked",
    "walk: unfinished",
    "bad data",
)


def markdown(tallies: Sequence[Tally]) -> str:
    """One table for MaskBench, one for the test suite; a column for each compiler."""
    rows = [_row(t) for t in tallies if t.schemas]
    lines: list[str] = []
    if rows:
        lines += ["| | " + " | ".join(t.compiler for t in tallies) + " |", "|---|" + "---:|" * len(rows)]
        lines += [f"| {name} | " + " | ".join(row[name] for row in rows) + " |" for name in rows[0]]
    if any(t.suite for t in tallies):
        lines += ["", *_suite_table(tallies)]
    return "\n".join(lines) + "\n"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" + (f" ({100 * part / whole:.2f} %)" if whole else "")


def _times(values: Sequence[float], unit: float, shares: Sequence[float] = (0.5, 0.99)) -> str:
    if not values:
        return "–"
    ordered = sorted(values)
    cells = [quantile(ordered, share) / unit for share in shares] + [ordered[-1] / unit]
    return " / ".join(f"{cell:,.1f}" if cell < 100 else f"{cell:,.0f}" for cell in cells)


def _row(t: Tally) -> dict[str, str]:
    counts = t.counts
    kinds = Counter(kind for _, kind, _, _, _ in t.refusals)
    exact = t.compiled - t.checked
    return {
        "schemas": f"{t.schemas:,}",
        "refused at compile": _share(len(t.refusals), t.schemas),
        "– unsatisfiable / reference / limits / other": " / ".join(
            str(kinds[kind]) for kind in ("unsatisfiable", "reference", "limits", "other")
        ),
        "– called unsatisfiable with a valid instance": str(counts["called unsatisfiable, but valid"]),
        "guarantee exact / checked": f"{exact:,} / {t.checked:,}" if t.compiler == "strictcall" else "–",
        "residue keywords (schemas)": ", ".join(f"{k} {n}" for k, n in t.residue.most_common()) or "–",
        "crashes and hangs": str(len(t.died)),
        "invalid instances accepted by an exact grammar": _share(
            counts["invalid accepted"] + counts["invalid accepted, format"], counts["invalid"]
        ),
        "invalid instances accepted by a checked grammar, caught / passed": (
            f"{_checked(counts) - counts['invalid passed the check']} / {counts['invalid passed the check']}"
        ),
        "valid instances refused": _share(counts["valid refused"], counts["valid"]),
        "same instance, keys shuffled, accepted": _share(
            counts["shuffled"] - counts["shuffled refused"], counts["shuffled"]
        ),
        "random walks that ended": f"{counts['walks']:,} ({counts['walk: unfinished']:,} did not)",
        "– not strict JSON": str(counts["walk not JSON"]),
        "– a declared key twice, passed / caught (checked grammar)": (
            f"{counts['walk repeats a declared key']} / {counts['walk repeats a declared key, caught']}"
        ),
        "– invalid (exact grammar), of these by format alone": (
            f"{_invalid_walks(counts)}, {counts['walk invalid, format']}"
        ),
        "– invalid (checked grammar), caught / passed": (
            f"{counts['walk caught by the check']} / {counts['walk invalid and passed the check']}"
        ),
        "– dead ends": str(counts["walk: dead end"]),
        "matcher errors in mid-text": str(
            counts["matcher broke"] + counts["grammar not taken"] + counts["mask denies an accepted text"]
        ),
        "schema → grammar, cold, ms (p50 / p99 / max)": _times(t.compile_us, 1000),
        "schema → grammar, cached, µs (p50 / p99 / max)": _times(t.cached_us, 1),
        "grammar → matcher, ms (p50 / p99 / max)": _times(t.matcher_us, 1000),
        "first mask, ms (p50 / p99 / max)": _times(t.first_mask_us, 1000),
        "mask, µs (p50 / p99 / p99.9 / max)": _times(t.mask_us, 1, (0.5, 0.99, 0.999)),
        "masks timed": f"{len(t.mask_us):,}",
        "instances set aside: the judge contradicts their label": str(counts["bad data"]),
    }


def _checked(counts: Counter[str]) -> int:
    return counts["invalid accepted, checked"] + counts["invalid accepted, format, checked"]


def _invalid_walks(counts: Counter[str]) -> int:
    return counts["walk invalid"] + counts["walk invalid, format"] + counts["walk invalid, free key repeated"]


def _suite_table(tallies: Sequence[Tally]) -> Iterator[str]:
    yield "| JSON-Schema-Test-Suite | cases | " + " | ".join(f"{t.compiler}: refused, wrong" for t in tallies) + " |"
    yield "|---|---:|" + "---:|" * len(tallies)
    for part in ("required", "annotation", "optional", "format"):
        for draft in DRAFTS:
            cells = [suite_summary(t.suite, draft, part) for t in tallies]
            if not cells[0][0]:
                continue
            shown = " | ".join(f"{refused}, {wrong} of {tried}" for _, refused, tried, wrong in cells)
            yield f"| {draft}, {part} | {cells[0][0]:,} | {shown} |"


def counterexamples(tally: Tally, most: int) -> Iterator[str]:
    """A line for each counter-example, at most ``most`` of a kind (0: all), faults before remarks."""
    for schema, how in tally.died:
        yield f"[{tally.compiler}] {how}: {schema}"
    for schema, kind, path, keyword, reason in _few(tally.refusals, most):
        yield f"[{tally.compiler}] refused ({kind}): {schema} {path or '/'} {keyword}: {reason}"
    for kind in (*FAULTS, *REMARKS):
        found = tally.examples.get(kind, [])
        for schema, example in _few(found, most):
            test = f" test {example.test}" if example.test >= 0 else ""
            yield f"[{tally.compiler}] {kind}: {schema}{test}: {example.text[:300]!r}: {example.why}"
        if most and len(found) > most:
            yield f"[{tally.compiler}] {kind}: {len(found) - most} more"
    for outcome in tally.suite:
        for case, wanted, why in outcome.wrong:
            verdict = "refused" if wanted else "accepted"
            yield f"[{tally.compiler}] suite ({outcome.part}): wrongly {verdict}: {outcome.where}: {case}: {why}"


def _few(items: Sequence[Any], most: int) -> Sequence[Any]:
    return items[:most] if most else items


def as_json(tally: Tally) -> dict[str, Any]:
    """Everything but the single mask times."""
    times = {
        name: _quantiles(getattr(tally, name))
        for name in ("compile_us", "cached_us", "matcher_us", "first_mask_us", "mask_us")
    }
    return {
        "compiler": tally.compiler,
        "schemas": tally.schemas,
        "compiled": tally.compiled,
        "checked": tally.checked,
        "counts": dict(tally.counts),
        "times": times,
        "refusals": tally.refusals,
        "residues": tally.residues,
        "died": tally.died,
        "slowest": sorted(tally.slowest, reverse=True)[:50],
        "examples": {
            kind: [{"id": schema, **dataclasses.asdict(example)} for schema, example in found]
            for kind, found in tally.examples.items()
        },
        "suite": [dataclasses.asdict(outcome) for outcome in tally.suite],
    }


def _quantiles(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
    found = {name: quantile(ordered, share) for name, share in shares.items()}
    return found | {"max": ordered[-1] if ordered else 0.0, "n": float(len(ordered))}
