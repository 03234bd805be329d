"""Recorded outputs of real models: read as expected, accepted by the grammar, or explained."""

from __future__ import annotations

import pytest

from loadtest import formats, recorded_answers
from loadtest.recorded_answers import NOT_WRITTEN, READ_OTHERWISE, Outcome, judge, recordings, report

pytest.importorskip("canitoolcall", reason="the recordings are canitoolcall's data")


def test_every_mismatch_is_explained() -> None:
    outcomes = [judge(recording, family) for recording, family in recordings()]
    table, unexplained = report(outcomes)
    assert unexplained == []
    assert len(outcomes) >= 469
    assert "| qwen3-hermes | `hermes` | 50 |" in table
    # An explanation that nothing needs is out of date.
    assert {outcome.name for outcome in outcomes if outcome.read} == set(READ_OTHERWISE)
    assert {outcome.name for outcome in outcomes if outcome.written} == set(NOT_WRITTEN)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Outcome("new", "qwen3-hermes", "hermes", read="calls (), expected 1"), "expected 1"),
        (Outcome("new", "qwen3-hermes", "hermes", read="", written="stops before '}'"), "stops before"),
        (Outcome("new", "qwen3-hermes", "hermes", read="", unsteady=True), "how the text is cut"),
        (Outcome("new", "step3", None), "no format"),
        (Outcome(next(iter(READ_OTHERWISE)), "kimi", "kimi", read=""), "and is none"),
        (Outcome(next(iter(READ_OTHERWISE)), "kimi", "kimi", read="calls ()", unsteady=True), "how the text is cut"),
    ],
)
def test_what_is_not_explained_is_a_failure(
    fault: Outcome, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recorded_answers, "recordings", lambda: iter([({}, {})]))
    monkeypatch.setattr(recorded_answers, "judge", lambda recording, family: fault)
    assert formats.main(["--recorded"]) == 1
    assert said in capsys.readouterr().out.partition("unexplained: 1")[2]


def test_no_recordings_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_answers, "recordings", lambda: iter(()))
    with pytest.raises(SystemExit, match="no recordings"):
        formats.main(["--recorded"])


def test_the_judge_sees_a_wrong_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that loses a call, one that depends on the cut, and a grammar that stops short."""
    recording, family = next(
        (r, f) for r, f in recordings() if r["family"] == "qwen3-hermes" and r["expected"]["tool_calls"]
    )
    fine = judge(recording, family)
    assert (fine.read, fine.unsteady, fine.written) == ("", False, "")
    honest = recorded_answers._parse
    monkeypatch.setattr(
        recorded_answers, "_parse", lambda *given: recorded_answers.Parse((), honest(*given).content, "")
    )
    assert "expected" in (judge(recording, family).read or "")
    monkeypatch.setattr(
        recorded_answers,
        "_parse",
        lambda f, t, pieces, *more: honest(f, t, pieces[:1] if len(pieces) == 2 else pieces, *more),
    )
    assert judge(recording, family).unsteady
    monkeypatch.setattr(recorded_answers, "_parse", honest)
    changed = recording | {"raw_output": recording["raw_output"].replace('"arguments"', '"arguments" ')}
    assert judge(changed, family).written
