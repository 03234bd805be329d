"""``python -m loadtest.exactness DATA.jsonl.gz``: the exactness table for our compiler and, beside it, llguidance's."""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from loadtest.exactness.alone import one_after_the_other
from loadtest.exactness.compilers import COMPILERS, CompilerName
from loadtest.exactness.document import document
from loadtest.exactness.masks import MasksItem, timed_masks
from loadtest.exactness.measure import Options, Outcome, Record
from loadtest.exactness.pool import Died, run_all
from loadtest.exactness.report import as_json, counterexamples, markdown
from loadtest.exactness.suite import Group, SuiteOutcome, suite_groups
from loadtest.exactness.tally import Tally
from loadtest.exactness.times import CompileTime, compile_times
from loadtest.exactness.vocabulary import tokenizer_file
from loadtest.exactness.work import Job, work


def main() -> int:
    """Exit code 0 when a run came to its end, 130 when it was interrupted (with the table all the same)."""
    arguments = _parser().parse_args()
    compilers: list[CompilerName] = [name for name in COMPILERS if name in arguments.compilers.split(",")]
    options = Options(seed=arguments.seed, byte_walks=arguments.walks, vocabulary_walks=(arguments.walks + 2) // 3)
    tokenizer_file()
    subjects = list(_subjects(arguments))
    # In random order an interrupted run is a fair sample.
    random.Random(arguments.seed).shuffle(subjects)
    records = [subject for subject in subjects if not isinstance(subject, Group)]
    jobs = [(subject, name, options) for subject in subjects for name in compilers]
    tallies = {name: Tally(name) for name in compilers}
    interrupted = False
    try:
        for name in compilers:
            _time(records, tallies[name], arguments)
        _run(jobs, tallies, arguments)
        for name in compilers:
            _time_masks(records, tallies[name], arguments)
    except KeyboardInterrupt:
        interrupted = True
        print("\ninterrupted: what follows covers the schemas done so far", file=sys.stderr)
    for tally in tallies.values():
        most = arguments.examples if tally.compiler == "strictcall" else min(arguments.examples or 3, 3)
        for line in counterexamples(tally, most):
            print(line)
    table = markdown(list(tallies.values()))
    print(f"\n{table}")
    if arguments.markdown:
        command = shlex.join(["python", "-m", "loadtest.exactness", *sys.argv[1:]])
        remark = " (interrupted: a random part of all)" if interrupted else ""
        Path(arguments.markdown).write_text(document(list(tallies.values()), command, remark))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps([as_json(t) for t in tallies.values()], indent=1))
    return 130 if interrupted else 0


def _time(records: list[Record], tally: Tally, arguments: argparse.Namespace) -> None:
    """Compile times: each schema in two processes, one after the other and each alone; the smaller times count, since
    what else the machine does only adds."""
    taken: dict[str, CompileTime] = {}
    try:
        for number in (1, 2):
            what = f"compile times, pass {number}"
            for time_of in one_after_the_other(records, tally.compiler, compile_times, arguments.time_limit, what):
                if isinstance(time_of, Died):  # it dies again, and is counted, when it is judged
                    continue
                taken[time_of.id] = time_of.smaller(taken.get(time_of.id, time_of))
    finally:
        for time_of in taken.values():
            tally.add_time(time_of)


def _time_masks(records: list[Record], tally: Tally, arguments: argparse.Namespace) -> None:
    """Mask times of what compiled, along texts that its grammar was seen to take."""
    items: list[MasksItem] = [(record, tally.texts[record["id"]]) for record in records if record["id"] in tally.texts]
    for times in one_after_the_other(items, tally.compiler, timed_masks, arguments.time_limit, "mask times"):
        if isinstance(times, Died):
            tally.died.append((times.job[0]["id"], f"{times.how} at {times.stage} ({times.detail})"))
        else:
            tally.add_masks(times)


def _run(jobs: list[Job], tallies: dict[CompilerName, Tally], arguments: argparse.Namespace) -> None:
    started = time.monotonic()
    results = run_all(jobs, work, arguments.workers, arguments.time_limit)
    try:
        for done, result in enumerate(results, 1):
            _add(result, tallies)
            if done % 50 == 0 or done == len(jobs):
                rate = done / (time.monotonic() - started)
                print(f"\r{done}/{len(jobs)}, {rate:.0f}/s, {_headline(tallies)}  ", end="", file=sys.stderr)
    finally:
        results.close()
        print(file=sys.stderr)


def _add(result: Outcome | SuiteOutcome | Died[Job], tallies: dict[CompilerName, Tally]) -> None:
    if isinstance(result, Outcome):
        tallies[result.compiler].add(result)
    elif isinstance(result, SuiteOutcome):
        tallies[result.compiler].suite.append(result)
    else:
        subject, name, _ = result.job
        how = f"{result.how} at {result.stage} ({result.detail})"
        if isinstance(subject, Group):
            where = f"{subject.draft}/{subject.file}: {subject.description}"
            wrong = [(case, valid, how) for case, _, valid in subject.tests]
            tallies[name].suite.append(SuiteOutcome(subject.draft, subject.part, where, name, len(wrong), wrong=wrong))
        else:
            tallies[name].add(Outcome(subject["id"], name, died=how))


def _headline(tallies: dict[CompilerName, Tally]) -> str:
    return "; ".join(
        f"{t.compiler}: {len(t.refusals)} refused, {t.counts['valid refused']} valid refused, "
        f"{t.counts['invalid accepted']} invalid accepted, {len(t.died)} died"
        for t in tallies.values()
    )


def _subjects(arguments: argparse.Namespace) -> Iterator[Record | Group]:
    if arguments.data:
        with gzip.open(arguments.data, "rt") as lines:
            wanted = set(arguments.only or ())
            records = (record for record in map(json.loads, lines) if not wanted or record["id"] in wanted)
            stop = None if arguments.limit is None else arguments.offset + arguments.limit * arguments.every
            yield from itertools.islice(records, arguments.offset, stop, arguments.every)
    if arguments.suite:
        yield from suite_groups(Path(arguments.suite))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m loadtest.exactness", description=__doc__)
    parser.add_argument("data", nargs="?", help="MaskBench as gzipped JSON lines: id, schema, tests")
    parser.add_argument("--limit", type=int, help="at most this many schemas")
    parser.add_argument("--offset", type=int, default=0, help="schemas to pass over first")
    parser.add_argument("--every", type=int, default=1, help="only every Nth schema from there")
    parser.add_argument("--only", action="append", metavar="ID", help="only the schema with this id (can be repeated)")
    parser.add_argument("--suite", metavar="DIR", help="JSON-Schema-Test-Suite, beside the data")
    parser.add_argument("--compilers", default=",".join(COMPILERS), help="default: %(default)s")
    parser.add_argument("--walks", type=int, default=9, help="byte walks a schema; a third of it with the vocabulary")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, choices=(1, 2))
    parser.add_argument("--time-limit", type=float, default=60, help="seconds a schema may take before it is a hang")
    parser.add_argument("--examples", type=int, default=0, metavar="N", help="print N of a kind (default: all of ours)")
    parser.add_argument("--json", metavar="FILE", help="everything, with every counter-example")
    parser.add_argument("--markdown", metavar="FILE", help="the tables and what they mean, as a document")
    return parser


if __name__ == "__main__":
    sys.exit(main())
