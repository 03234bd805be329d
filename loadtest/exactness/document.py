"""A run of the evidence as a Markdown document: the tables, how they were counted, and what was found."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version

from loadtest.exactness.report import counterexamples, markdown
from loadtest.exactness.tally import Tally


def document(tallies: Sequence[Tally], command: str, remark: str = "") -> str:
    """A whole Markdown document about one run of ``command``; ``remark`` stands behind it."""
    ours = [t for t in tallies if t.compiler == "strictcall"]
    parts = [
        "# How exact the schema compiler is",
        "Made by one run, from the repository's root, of",
        f"    {command}{remark}",
        f"on {os.cpu_count()} CPUs, Python {platform.python_version()}, llguidance {version('llguidance')}, "
        f"jsonschema-rs {version('jsonschema_rs')}. Nothing below is edited by hand.",
        markdown(tallies),
        "## How it is counted",
        _METHOD,
    ]
    for tally in ours:
        parts += ["## Refused schemas", *_refusals(tally), "## Residue", *_residues(tally)]
    parts += ["## Counter-examples", "All of ours (at most 25 of a kind here), three of a kind of llguidance's."]
    for tally in tallies:
        lines = list(counterexamples(tally, 25 if tally.compiler == "strictcall" else 3))
        parts.append("\n".join(f"- `{_inline(line)}`" for line in lines) or f"None of {tally.compiler}.")
    return "\n\n".join(parts) + "\n"


_METHOD = """\
- *Accepted* means by the grammar alone, byte by byte, in some usual spelling of the value: compact or with one space
  after `,` and `:`, non-ASCII raw or escaped; for a valid instance also with `2` for `2.0`.
- Instances are the data file's. Where jsonschema-rs (formats asserted, the draft that `$schema` names) contradicts an
  instance's label, it is set aside and counted in the last row.
- *Checked* schemas have a grammar wider than the schema by a named residue; what it lets through is validated before it
  leaves the server. *Caught* is what that check finds, *passed* what it does not.
- *Shuffled*: the members of every object in another order, for valid instances that have another order.
- *Random walks* go through the masks of a byte vocabulary (three styles: short, uniform, and one that looks for long
  numbers, exponents and escapes) and of SmolLM2's 49,152 tokens, seeded. A text must be strict JSON (UTF-8, no lone
  surrogate, no raw control character, no number that overflows a double, no declared key twice) and valid. A key that
  no schema declares may come twice: then the text must be valid whichever of the two counts.
- Times are CPU times of one thread, taken in passes of their own: each compiler in a process that is warm, does nothing
  else, waits for nobody between two schemas, and has the machine to itself (whatever runs beside it empties its caches
  or shares its core, which costs up to half of CPU time again). *Cold* is the first call with a schema that the process
  has never seen, *cached* the second with an equal document. Two such processes, one after the other, time how long
  every schema takes to compile, and the smaller times count. Masks are over SmolLM2's vocabulary, along up to three
  valid instances a schema, with a copy of one matcher each; also twice, from new matchers, and the smaller times count,
  less what reading the clock takes. Ours has the limits and vocabulary slices that the engine sets, llguidance's column
  its own slices. llguidance has no cache.
- A suite case of a schema that is refused as unsatisfiable counts as a verdict (no value is valid), not as refused.
  `annotation`: cases which say that a format is no assertion by default; ours asserts those that it knows exactly."""


def _refusals(tally: Tally) -> list[str]:
    if not tally.refusals:
        return ["None."]
    rows = [
        f"| {i} | {kind} | `{path or '/'}` | {word} | {_cell(why)} |" for i, kind, path, word, why in tally.refusals
    ]
    return ["\n".join(["| schema | kind | path | keyword | reason |", "|---|---|---|---|---|", *rows])]


def _residues(tally: Tally) -> list[str]:
    if not tally.residues:
        return ["None: every schema that compiles is exact."]
    reasons = Counter((keyword, reason) for _, _, keyword, reason in tally.residues)
    rows = [f"| {keyword} | {_cell(reason)} | {count} |" for (keyword, reason), count in reasons.most_common(40)]
    return ["\n".join(["| keyword | reason | times |", "|---|---|---:|", *rows])]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")[:300]


def _inline(text: str) -> str:
    return text.replace("`", "'").replace("\n", " ")[:600]
