"""The soak, short: 32 clients at once with everything mixed. `python -m loadtest.soak` runs two minutes."""

from __future__ import annotations

import argparse
import asyncio

import pytest

from loadtest.soak import soak
from loadtest.tools import corpus_folder
from tests.conftest import RunningServer


def test_thirty_two_clients_for_a_short_while(running_server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRICTCALL_API_KEY", running_server.key)
    options = argparse.Namespace(
        base_url=f"{running_server.url}/v1/",
        clients=32,
        duration=20.0,
        seed=2,
        schemas=corpus_folder(),
        hang=120.0,
        vocabulary=49_000,
        prompt_words=2_000,
    )
    tally = asyncio.run(soak(options))
    assert tally.faults == [], running_server.log_tail()
    assert tally.alive
    assert tally.calls > 0
    assert tally.answers > 20
