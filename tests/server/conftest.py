"""One stubbed server for the tests that need nothing special of it, and hostile schemas."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

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


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A ``sitecustomize`` that puts hooks into the compile process, for schemas that are not really hostile."""
    (tmp_path / "sitecustomize.py").write_text(
        """
import sys
if "server.compile_worker" in sys.orig_argv:
    import os
    import schemas
    import time
    real = schemas.compile_schema
    class Slow:
        def validate(self, value):
            end = time.process_time() + 2.5
            while time.process_time() < end: pass
        def __reduce__(self):
            return Slow, ()
    def compile_schema(schema, *, undeclared, spelling):
        title = schema.get("title") if isinstance(schema, dict) else None
        if title == "crash": os.abort()
        if title == "sleep":
            while True: pass
        if title == "memory": bytearray(10**12)
        if title == "bug": raise KeyError("oops")
        if title == "deep": raise RecursionError
        if title == "slow": return Slow()
        if title == "print": print("a stray line", flush=True)
        return real(schema, undeclared=undeclared, spelling=spelling)
    schemas.compile_schema = compile_schema
"""
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
