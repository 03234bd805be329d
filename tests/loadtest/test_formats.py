"""Recorded outputs of real models: read as expected, accepted by the grammar, or explained."""

from __future__ import annotations

import pytest

from loadtest.formats import NOT_WRITTEN, READ_OTHERWISE, judge, recordings, report

pytest.importorskip("canitoolcall", reason="the recordings are canitoolcall's data")


def test_every_mismatch_is_explained() -> None:
    outcomes = [judge(recording, family) for recording, family in recordings()]
    table, unexplained = report(outcomes)
    assert unexplained == []
    assert sum(outcome.format is not None for outcome in outcomes) >= 150
    assert "| qwen3-hermes | `hermes` | 50 |" in table
    # An explanation that nothing needs is out of date.
    assert {outcome.name for outcome in outcomes if outcome.read} == set(READ_OTHERWISE)
    assert {outcome.name for outcome in outcomes if outcome.written} == set(NOT_WRITTEN)
