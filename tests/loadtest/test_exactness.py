"""The evidence's own evidence: each kind of fault is found when it is put there on purpose."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from loadtest.exactness import compilers
from loadtest.exactness.alone import one_after_the_other
from loadtest.exactness.judge import Judge, NotStrict, readings, strict_json, strict_tree
from loadtest.exactness.masks import INSTANCES, timed_masks
from loadtest.exactness.measure import Options, Outcome, measure
from loadtest.exactness.pool import Died, run_all
from loadtest.exactness.repeats import repeated_declared_keys, repeated_keys
from loadtest.exactness.report import as_json, counterexamples, markdown
from loadtest.exactness.spellings import shuffled, spellings, whole_spellings
from loadtest.exactness.suite import Group, run_group
from loadtest.exactness.tally import Tally, quantile
from loadtest.exactness.times import CompileTime, compile_times
from schemas import Residue, compile_schema
from schemas.compiled import CompiledSchema
from schemas.engine import grammar_of
from schemas.sample import matcher, sample, walk


@pytest.mark.parametrize(
    "text",
    [
        b'"\\ud800"',
        b'"\\udc00\\ud800"',
        b'{"\\ud800":1}',
        b"1e999",
        b"-1e400",
        b"1" * 400,
        b"1" * 5000,
        b"NaN",
        b"Infinity",
    ],
)
def test_strict_json_refuses(text: bytes) -> None:
    with pytest.raises(NotStrict):
        strict_json(text)


@pytest.mark.parametrize("text", [b'"\t"', b'"\xff"', b"[1,]", b"01", b"", b"[" * 100_000, b'"a\nb"', b"1 1"])
def test_strict_json_refuses_what_is_no_json(text: bytes) -> None:
    with pytest.raises(NotStrict):
        strict_json(text)


def test_repeated_keys_are_told() -> None:
    tree = strict_tree(b'{"a":1,"b":[{"c":1,"c":2}],"a":3}')
    assert repeated_keys(tree) == ["a", "c"]
    assert list(readings(tree)) == [{"a": 3, "b": [{"c": 2}]}, {"a": 1, "b": [{"c": 1}]}]
    assert repeated_keys(strict_tree(b'[{"a":1},{"a":1}]')) == []
    assert strict_json(b'{"a":[{"a":1}]}') == {"a": [{"a": 1}]}
    with pytest.raises(NotStrict, match="repeated"):
        strict_json(b'{"a":1,"a":1}')


def test_a_repeated_key_is_declared_where_its_object_is() -> None:
    schema = {
        "properties": {"a": {}, "b": {"items": {"$ref": "#/$defs/c"}}},
        "allOf": [{"properties": {"d": {}}}],
        "anyOf": [{"properties": {"y": {}}}, {}],
        "additionalProperties": {"properties": {"e": {}}},
        "$defs": {"c": {"properties": {"c": {}}}},
    }
    tree = strict_tree(b'{"c":1,"c":1,"b":[{"c":1,"a":1,"a":2,"c":2}],"d":1,"d":2,"y":1,"y":1,"x":{"e":1,"e":2}}')
    assert repeated_declared_keys(tree, schema) == ["c", "d", "e"]
    assert repeated_declared_keys(strict_tree(b'{"c":1,"c":1,"b":[{"a":1,"a":2}]}'), schema) == []


def test_spellings_are_the_same_value() -> None:
    value = {"é": [1.0, "😀\n"], "b": {}}
    texts = list(whole_spellings(value))
    assert len(texts) == len(set(texts)) == 8
    assert all(json.loads(text) == value for text in texts)
    assert set(spellings(value)) < set(texts)
    assert list(spellings(["\ud800"])) == []


def test_shuffled_is_another_order_of_the_same() -> None:
    value = {"a": 1, "b": [{"c": 1, "d": 2}], "e": {"f": 1}}
    other = shuffled(value, random.Random(3))
    assert other == value
    assert json.dumps(other) != json.dumps(value)
    assert json.dumps(shuffled({"a": [1, 2]}, random.Random(3))) == '{"a": [1, 2]}'


def test_judge_follows_the_draft_and_asserts_formats() -> None:
    four = Judge({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True})
    assert four.faults(1)
    assert not four.faults(2)
    dated = Judge({"format": "date"})
    assert dated.faults("2025-02-31")
    assert dated.only_format("2025-02-31")
    assert not Judge({"$ref": "https://example.org/elsewhere.json"}).usable


RECORD: dict[str, Any] = {
    "id": "r",
    "schema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    },
    "tests": [
        {"data": {"a": 1, "b": "x"}, "valid": True},
        {"data": {"a": "1"}, "valid": False},
        {"data": {"a": 1, "c": 2}, "valid": True},
    ],
}


def outcome(monkeypatch: pytest.MonkeyPatch, lark: str, residue: bool = False, record: Any = RECORD) -> Outcome:
    left = [Residue("", "type", "left to the check")] if residue else []
    compiled = CompiledSchema(schema=record["schema"], grammar=lark, residue=left)
    made = compilers.Grammar(lark, len(lark), left, compiled)
    monkeypatch.setitem(compilers.COMPILERS, "strictcall", lambda _: made)
    return measure(record, "strictcall", Options(byte_walks=24, vocabulary_walks=6))


GOOD = r"""start: "{\"a\":" N (",\"b\":" S)? "}" | "{\"b\":" S ",\"a\":" N "}"
N: /[1-9]{1,9}/
S: /"[a-z]{0,9}"/
"""


def test_a_right_grammar_has_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    found = outcome(monkeypatch, GOOD)
    assert {e.kind for e in found.found} == {"bad data"}
    assert found.counts == {"valid": 1, "invalid": 1, "shuffled": 1, "walks": 30, "bad data": 1}
    assert found.accepted == [b'{"a":1,"b":"x"}']


def test_masks_are_timed_along_accepted_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = outcome(monkeypatch, GOOD).accepted
    (taken,) = timed_masks(([(RECORD, [*texts, b'{"a":1}', b'{"a":2}', b'{"a":3}'])], "strictcall"), lambda _: None)
    assert (taken.id, taken.denied) == ("r", [])
    assert taken.matcher_us > 0
    assert taken.first_us > 0
    assert 2 * INSTANCES < len(taken.later_ns) < 30
    (denied,) = timed_masks(([(RECORD, [b'{"a":1}', b'{"a":x}'])], "strictcall"), lambda _: None)
    assert [text for text, _ in denied.denied] == [b'{"a":']
    tally = Tally("strictcall")
    for times in (taken, denied):
        tally.add_masks(times)
    assert tally.counts == {"mask denies an accepted text": 1}
    assert "mask denies an accepted text: r" in "\n".join(counterexamples(tally, 0))
    assert len(tally.mask_us) == len(taken.later_ns) + len(denied.later_ns)


def test_what_dies_in_a_batch_is_done_alone() -> None:
    found = list(one_after_the_other(["a", "crash", "b"], "strictcall", jobs, 5, "letters"))
    assert sorted(r for r in found if isinstance(r, str)) == ["a", "b"]
    assert [(r.job, r.how) for r in found if isinstance(r, Died)] == [("crash", "crash")]


@pytest.mark.parametrize(
    ("lark", "kinds"),
    [
        (
            'start: "{\\"a\\":" /"?[0-9]"?/ "}"\n',
            {"invalid accepted", "valid refused", "shuffled refused", "walk invalid", "walk not JSON"},
        ),
        ('start: "{\\"a\\":1,\\"b\\":\\"x\\"}"\n', {"shuffled refused"}),
        (GOOD + 'X: "x"\n', set()),
        ('start: "{\\"a\\":1,\\"a\\":2}"\n', {"valid refused", "shuffled refused", "walk repeats a declared key"}),
        ('start: "{\\"a\\":1e999}"\n', {"valid refused", "shuffled refused", "walk not JSON"}),
        ("start: nothing\n", {"grammar not taken"}),
    ],
)  # fmt: skip
def test_a_wrong_grammar_is_found_out(monkeypatch: pytest.MonkeyPatch, lark: str, kinds: set[str]) -> None:
    assert {e.kind for e in outcome(monkeypatch, lark).found} - {"bad data"} == kinds


def test_a_checked_grammar_may_be_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = 'start: "{\\"a\\":" /[0-9]|"1"/ "}" | "{\\"a\\":1,\\"b\\":\\"x\\"}" | "{\\"b\\":\\"x\\",\\"a\\":1}"\n'
    found = outcome(monkeypatch, wide, residue=True)
    assert {e.kind for e in found.found} == {"bad data", "invalid accepted, checked"}
    assert found.counts["walks"] > found.counts["walk caught by the check"] > 0


def test_a_refusal_is_counted_by_kind() -> None:
    record = {"id": "r", "schema": {"$ref": "https://example.org/elsewhere.json"}, "tests": []}
    found = measure(record, "strictcall", Options())
    assert found.refusal is not None
    assert found.refusal.kind == "reference"
    tally = Tally("strictcall")
    tally.add(found)
    assert "refused (reference): r" in "\n".join(counterexamples(tally, 0))
    assert "| refused at compile | 1 of 1 (100.00 %) |" in markdown([tally])


def test_tables_and_json_carry_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Tally("strictcall")
    tally.add(outcome(monkeypatch, 'start: "{\\"a\\":\\"1\\"}"\n'))
    table = markdown([tally])
    assert "| invalid instances accepted by an exact grammar | 1 of 1 (100.00 %) |" in table
    assert "| valid instances refused | 1 of 1 (100.00 %) |" in table
    lines = "\n".join(counterexamples(tally, 0))
    assert "invalid accepted: r test 1" in lines
    assert json.loads(json.dumps(as_json(tally)))["counts"]["invalid accepted"] == 1


def test_compile_times_are_of_the_first_call_and_of_the_second() -> None:
    refused = {"id": "no", "schema": False, "tests": []}
    names: list[compilers.CompilerName] = ["strictcall", "llguidance"]
    pairs = [((RECORD, refused), name) for name in names]
    batches = [batch for batch in run_all(pairs, compile_times, workers=1, time_limit=60) if isinstance(batch, list)]
    found = [taken for batch in batches for taken in batch]
    assert [(t.id, t.compiler) for t in found] == [(r["id"], name) for name in names for r in (RECORD, refused)]
    tally = Tally("strictcall")
    for taken in found:
        assert taken.cold_us > 0
        assert (taken.cached_us is None) == (taken.id == "no")
        tally.add_time(taken)
    assert len(tally.compile_us) == 4
    assert len(tally.cached_us) == 2
    assert "| schema → grammar, cold, ms (p50 / p99 / max) | 0.0 / 0.0 / 0.0 |" not in markdown([tally])


def test_of_two_processes_the_smaller_times_count() -> None:
    one, two = CompileTime("a", "strictcall", 3.0, 2.0), CompileTime("a", "strictcall", 1.0, 4.0)
    assert one.smaller(two) == two.smaller(one) == CompileTime("a", "strictcall", 1.0, 2.0)
    assert one.smaller(CompileTime("a", "strictcall", 5.0, None)) == CompileTime("a", "strictcall", 3.0, None)


def test_quantiles() -> None:
    assert quantile([], 0.5) == 0
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.5) == 3.0
    assert quantile([float(n) for n in range(1000)], 0.999) == 999.0


def test_a_suite_group_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    tests = (("one", 1, True), ("text", "x", False), ("two", 2, False))
    group = Group("draft2020-12", "required", "f.json", "g", {"type": "integer"}, tests)
    made = compilers.Grammar(grammar_of("start: /[12]/\n"), 1)
    monkeypatch.setitem(compilers.COMPILERS, "strictcall", lambda _: made)
    assert [case for case, _, _ in run_group(group, "strictcall").wrong] == ["two"]


def job(name: str, stage: Callable[[str], None]) -> str:
    stage(f"at {name}")
    if name == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if name == "hang":
        time.sleep(600)
    if name == "raise":
        raise RuntimeError("no")
    return name


def jobs(batch: tuple[Sequence[str], str], stage: Callable[[str], None]) -> list[str]:
    return [job(name, stage) for name in batch[0]]


def test_crashes_and_hangs_do_not_end_a_run() -> None:
    results = list(run_all(["a", "crash", "b", "hang", "raise", "c"], job, workers=2, time_limit=5))
    assert sorted(r for r in results if isinstance(r, str)) == ["a", "b", "c"]
    died = {r.job: (r.how, r.stage) for r in results if isinstance(r, Died)}
    assert died == {"crash": ("crash", "at crash"), "hang": ("hang", "at hang"), "raise": ("crash", "at raise")}


def test_samples_are_seeded_and_different() -> None:
    grammar = compile_schema({"type": "object", "properties": {"a": {"type": "integer"}}}).grammar
    assert sample(grammar, 3, seed=1) == sample(grammar, 3, seed=1)
    assert len(set(sample(grammar, 3))) == 3
    with pytest.raises(ValueError, match="nowhere"):
        sample("start: nowhere\n", 1)


def test_a_walk_says_how_it_ended() -> None:
    assert walk(matcher('start: "ab"\n'), random.Random(0)).text == b"ab"
    assert walk(matcher('start: "ab"\n'), random.Random(0)).ending == "done"
    assert walk(matcher("start: /[ab]{9999}/\n"), random.Random(0), budget=5).ending == "unfinished"
    assert walk(matcher("start: nowhere\n"), random.Random(0)).ending == "error"
