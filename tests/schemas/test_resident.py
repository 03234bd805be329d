"""A process that stays: what it does before the first schema and between two."""

from __future__ import annotations

import gc
import subprocess
import sys

_SCRIPT = """
import gc, time
from schemas import compile_schema
from schemas.resident import settle, warm_up
warm_up()
assert not gc.isenabled() and gc.get_freeze_count() > 10_000
known = gc.get_freeze_count()
compiled = compile_schema({"type": "object", "properties": {"mail": {"type": "string", "format": "email"}}})
settle()
assert gc.get_freeze_count() >= known
assert not compiled.validate({"mail": "a@b.example"})
print("well")
"""


def test_a_warm_process_compiles_as_any_other() -> None:
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=False)
    assert done.stdout == "well\n", done.stderr


def test_settling_leaves_the_collector_as_it_was() -> None:
    from schemas.resident import settle

    before = gc.isenabled()
    try:
        settle()
        assert gc.isenabled() == before
    finally:
        gc.unfreeze()
