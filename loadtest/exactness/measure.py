"""One schema of MaskBench under one compiler: everything the table counts, with every counter-example."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import llguidance

from loadtest.exactness.compilers import COMPILERS, CompilerName, Grammar, Refusal
from loadtest.exactness.judge import Judge, NotStrict, readings, strict_tree
from loadtest.exactness.repeats import repeated_declared_keys, repeated_keys
from loadtest.exactness.spellings import shuffled, spellings, whole_spellings
from loadtest.exactness.vocabulary import engine_vocabulary, smollm2
from loadtest.exactness.walks import vocabulary_walk
from schemas.byte_vocabulary import byte_tokenizer
from schemas.sample import STYLES, Walk, walk
from server.undeclared import declared_names

Json: TypeAlias = Any
Record: TypeAlias = dict[str, Any]
"""A line of the data file: ``id``, ``schema``, ``tests`` (each with ``data`` and ``valid``)."""


@dataclass(frozen=True, slots=True)
class Options:
    """How much is done per schema. Walks are split evenly over the styles of ``schemas.sample``."""

    seed: int = 0
    byte_walks: int = 9
    vocabulary_walks: int = 3


@dataclass(frozen=True, slots=True)
class Counterexample:
    """``test`` is the index of the data file's instance, or -1 for a walk."""

    kind: str
    test: int
    text: str
    why: str


@dataclass(slots=True)
class Outcome:
    """What one compiler did with one schema. Times are of other passes (``CompileTime``, ``MaskTimes``)."""

    id: str
    compiler: CompilerName
    refusal: Refusal | None = None
    residue: list[tuple[str, str, str]] = field(default_factory=list)
    grammar_size: int = 0
    accepted: list[bytes] = field(default_factory=list)
    """Texts of valid instances that the grammar takes."""
    counts: Counter[str] = field(default_factory=Counter)
    found: list[Counterexample] = field(default_factory=list)
    died: str = ""
    """``crash`` or ``hang`` with the stage, when the process did not come back."""

    def note(self, kind: str, test: int, text: bytes, why: str) -> None:
        self.counts[kind] += 1
        self.found.append(Counterexample(kind, test, text.decode("utf-8", "backslashreplace"), why[:600]))


def measure(
    record: Record, name: CompilerName, options: Options, stage: Callable[[str], None] = lambda _: None
) -> Outcome:
    """Everything about one schema. ``stage`` is told what comes next, so that a crash can be placed."""
    outcome = Outcome(record["id"], name)
    stage("compile")
    grammar = _compile(record["schema"], name, outcome)
    if isinstance(grammar, Refusal):
        outcome.refusal = grammar
        if grammar.kind == "unsatisfiable":
            _contradict(record, outcome)
        return outcome
    stage("matcher")
    byte_matcher = llguidance.LLMatcher(byte_tokenizer(), grammar.source, log_level=0)
    vocabulary = engine_vocabulary() if name == "strictcall" else smollm2()
    matcher = llguidance.LLMatcher(vocabulary, grammar.source, log_level=0)
    if byte_matcher.is_error() or matcher.is_error():
        error = (byte_matcher if byte_matcher.is_error() else matcher).get_error()
        outcome.note("grammar not taken", -1, b"", error)
        return outcome
    judge = Judge(record["schema"])
    rng = random.Random(f"{options.seed}:{record['id']}")
    stage("instances")
    outcome.accepted = _instances(record["tests"], grammar, byte_matcher, judge, rng, outcome)
    stage("walks")
    _walks(grammar, byte_matcher, matcher, judge, rng, options, outcome)
    return outcome


def _contradict(record: Record, outcome: Outcome) -> None:
    judge = Judge(record["schema"])
    for index, test in enumerate(record["tests"]):
        if test["valid"] and judge.usable and not judge.faults(test["data"]):
            outcome.note("called unsatisfiable, but valid", index, json.dumps(test["data"]).encode(), "")


def _compile(schema: Json, name: CompilerName, outcome: Outcome) -> Grammar | Refusal:
    result = COMPILERS[name](schema)
    if isinstance(result, Grammar):
        outcome.residue = [(r.path, r.keyword, r.reason) for r in result.residue]
        outcome.grammar_size = result.size
    return result


def accepts(origin: llguidance.LLMatcher, source: str, text: bytes) -> tuple[bool, str]:
    """Whether the grammar takes exactly ``text``, and how far it came where it does not (``error: …`` when the matcher
    broke: a copy of a matcher shares its lexer, so the text is tried again with a new one)."""
    verdict, why = _accepts(origin.deep_copy(), text)
    if why.startswith("error"):
        verdict, why = _accepts(llguidance.LLMatcher(byte_tokenizer(), source, log_level=0), text)
    return verdict, why


def _accepts(matcher: llguidance.LLMatcher, text: bytes) -> tuple[bool, str]:
    taken = matcher.try_consume_tokens(list(text))
    if matcher.is_error():
        return False, f"error: {matcher.get_error()}"
    if taken < len(text):
        context = text[max(0, taken - 40) : taken].decode("utf-8", "backslashreplace")
        return False, f"refused at byte {taken} after …{context}⟂{text[taken : taken + 20].decode('utf-8', 'replace')}"
    return (True, "") if matcher.is_accepting() else (False, "the grammar wants more after the whole text")


def _any_spelling(
    origin: llguidance.LLMatcher, source: str, texts: Iterator[bytes]
) -> tuple[bytes | None, int, bytes, str]:
    """The first accepted spelling and its rank; and the plainest spelling with why it was refused."""
    plainest, why = b"", "no spelling: a lone surrogate"
    for rank, text in enumerate(texts):
        verdict, reason = accepts(origin, source, text)
        if rank == 0:
            plainest, why = text, reason
        if verdict:
            return text, rank, plainest, why
    return None, -1, plainest, why


def _instances(
    tests: list[dict[str, Any]],
    grammar: Grammar,
    origin: llguidance.LLMatcher,
    judge: Judge,
    rng: random.Random,
    outcome: Outcome,
) -> list[bytes]:
    accepted: list[bytes] = []
    for index, test in enumerate(tests):
        value, valid = test["data"], bool(test["valid"])
        faults = judge.faults(value)
        if judge.usable and valid == bool(faults):
            outcome.note(
                "bad data", index, json.dumps(value).encode()[:400], f"labelled valid={valid}; judge: {faults[:1]}"
            )
            continue
        texts = whole_spellings(value) if valid else spellings(value)
        text, rank, plainest, why = _any_spelling(origin, grammar.source, texts)
        broken = why.startswith("error") and text is None
        if broken:
            outcome.note("matcher broke", index, plainest, why)
        if valid:
            outcome.counts["valid"] += 1
            if text is None:
                outcome.note("valid refused", index, plainest, why)
            else:
                accepted.append(text)
                if rank > 0:
                    outcome.note("plain spelling refused", index, plainest, why)
            _shuffle(value, index, grammar, origin, rng, outcome)
        else:
            outcome.counts["invalid"] += 1
            if text is not None:
                kind = "invalid accepted, format" if judge.only_format(value) else "invalid accepted"
                outcome.note(kind if not grammar.residue else f"{kind}, checked", index, text, "; ".join(faults[:2]))
                if grammar.residue and grammar.passes(value):
                    outcome.note("invalid passed the check", index, text, "; ".join(faults[:2]))
    return accepted


def _shuffle(
    value: Json, index: int, grammar: Grammar, origin: llguidance.LLMatcher, rng: random.Random, outcome: Outcome
) -> None:
    other = shuffled(value, rng)
    if json.dumps(other) == json.dumps(value):
        return
    outcome.counts["shuffled"] += 1
    text, _, plainest, why = _any_spelling(origin, grammar.source, whole_spellings(other))
    if text is None:
        outcome.note("shuffled refused", index, plainest, why)


def _walks(
    grammar: Grammar,
    byte_matcher: llguidance.LLMatcher,
    matcher: llguidance.LLMatcher,
    judge: Judge,
    rng: random.Random,
    options: Options,
    outcome: Outcome,
) -> None:
    for number in range(options.byte_walks):
        if (
            taken := walk(byte_matcher.deep_copy(), rng, STYLES[number % len(STYLES)], hints=judge.hints)
        ).ending == "error":
            outcome.note("matcher broke", -1, taken.text, taken.error)
            byte_matcher = llguidance.LLMatcher(byte_tokenizer(), grammar.source, log_level=0)
        else:
            judge_walk(taken, grammar, judge, outcome)
    for _ in range(options.vocabulary_walks):
        if (taken := vocabulary_walk(matcher.deep_copy(), smollm2(), rng, hints=judge.hints)).ending == "error":
            outcome.note("matcher broke", -1, taken.text, taken.error)
            matcher = llguidance.LLMatcher(smollm2(), grammar.source, log_level=0)
        else:
            judge_walk(taken, grammar, judge, outcome)


def judge_walk(taken: Walk, grammar: Grammar, judge: Judge, outcome: Outcome) -> None:
    """Counts one walk: ``walks`` when it came to an end, and what is wrong with its text."""
    if taken.ending != "done":
        outcome.note(f"walk: {taken.ending}", -1, taken.text, taken.error)
        return
    outcome.counts["walks"] += 1
    try:
        tree = strict_tree(taken.text)
    except NotStrict as error:
        outcome.note("walk not JSON", -1, taken.text, str(error))
        return
    repeated = repeated_keys(tree)
    if declared := repeated and repeated_declared_keys(tree, judge.schema):
        if grammar.residue and set(declared) <= declared_names(judge.schema):  # the server takes no such text
            outcome.counts["walk repeats a declared key, caught"] += 1
        else:
            outcome.note("walk repeats a declared key", -1, taken.text, f"{declared}")
        return
    values = list(readings(tree))[: 2 if repeated else 1]
    value = values[0]
    faults = [fault for reading in values for fault in judge.faults(reading)]
    if repeated:
        outcome.counts["walk repeats a free key"] += 1
    if not faults:
        return
    kind = "walk invalid, format" if judge.only_format(value) else "walk invalid"
    if not grammar.residue:
        outcome.note(f"{kind}, free key repeated" if repeated else kind, -1, taken.text, "; ".join(faults[:2]))
    elif grammar.passes(value):
        outcome.note("walk invalid and passed the check", -1, taken.text, "; ".join(faults[:2]))
    else:
        outcome.counts["walk caught by the check"] += 1
