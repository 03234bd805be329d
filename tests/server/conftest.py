"""One stubbed server for the tests that need nothing special of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.stub import Stub, StubEngine, say, serve


@pytest.fixture(scope="session")
def shared_stub() -> Iterator[Stub]:
    with serve(StubEngine()) as stub:
        yield stub


@pytest.fixture
def stub(shared_stub: Stub) -> Stub:
    """The shared server with an engine that says hello."""
    shared_stub.engine.script = say("Hel", "lo")
    shared_stub.engine.asked.clear()
    shared_stub.engine.aborted = 0
    return shared_stub
