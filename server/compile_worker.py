"""The process that compiles schemas: ``python -m server.compile_worker CPU_SECONDS MEGABYTES``.

It reads one job after another from standard input and writes each result to standard output, both as a four-byte
length and a pickle; an empty one first says that it is ready. A job is ``(function's name, arguments)``: ``compile``
of (schema, undeclared, spelling) gives a CompiledSchema, ``try_grammar`` of (grammar,) ``None``, and both give the
SchemaError that they raise, or the traceback of anything else, which is a fault of ours. A job that takes too long or
too much memory kills the process, nothing else: the parent starts another one.
"""

from __future__ import annotations

import contextlib
import pickle
import resource
import signal
import struct
import sys
import time
import traceback
from typing import Any, BinaryIO

HEADER = struct.Struct("!I")
_VALIDATOR_SECONDS = 2.0


def main() -> None:
    """Serve jobs until standard input ends."""
    seconds, megabytes = float(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the parent closes our input
    jobs, results = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a stray print must not break the protocol

    from schemas.resident import settle, warm_up  # before the limit, and before the first job

    limit = megabytes * 1024 * 1024
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    warm_up()
    write(results, b"")  # ready
    while (job := read(jobs)) is not None:
        # No handler: the signal ends the process even inside native code, and even when the parent is gone.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        result = _result(*pickle.loads(job))
        signal.setitimer(signal.ITIMER_PROF, 0)
        write(results, result)
        settle()


def _result(function: str, arguments: tuple[Any, ...]) -> bytes:
    from schemas import SchemaError

    try:
        run = _compile if function == "compile" else _try_grammar
        return pickle.dumps(run(*arguments))
    except SchemaError as error:
        return pickle.dumps(error)
    except (RecursionError, MemoryError) as error:
        return pickle.dumps(SchemaError("", "", f"too complex ({type(error).__name__})"))
    except BaseException:  # a panic of native code is no Exception; whatever it is, this process goes on
        return pickle.dumps(traceback.format_exc())


def _compile(schema: Any, undeclared: Any, spelling: Any) -> Any:
    from schemas import compile_schema

    compiled = compile_schema(schema, undeclared=undeclared, spelling=spelling)
    _rehearse(pickle.dumps(compiled))
    return compiled


def _try_grammar(grammar: str) -> None:
    from schemas import SchemaError
    from schemas.engine import engine_error

    error = engine_error(grammar)
    if error is not None:
        raise SchemaError("", "", f"over a limit of the grammar engine: {error}")


def _rehearse(compiled: bytes) -> None:
    """What the server's own process will do with it: build the validator. Raises SchemaError when that takes long."""
    from schemas import SchemaError

    started = time.process_time()
    pickle.loads(compiled).validate({})
    if time.process_time() - started > _VALIDATOR_SECONDS:
        raise SchemaError("", "", f"too complex: its validator takes over {_VALIDATOR_SECONDS:g} s to build")


def read(stream: BinaryIO) -> bytes | None:
    """One frame: its length in ``HEADER``, then its bytes. ``None`` at the end of the stream."""
    header = stream.read(HEADER.size)
    return stream.read(HEADER.unpack(header)[0]) if len(header) == HEADER.size else None


def write(stream: BinaryIO, data: bytes) -> None:
    """One frame, sent at once."""
    stream.write(HEADER.pack(len(data)) + data)
    stream.flush()


if __name__ == "__main__":
    main()
