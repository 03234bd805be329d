"""The call formats on recorded outputs (``--recorded``) and random ones (``--random N``), and how their prompts keep
their beginning (``--prefix``)."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from decoding.formats import get, names
from loadtest import recorded_answers


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m loadtest.formats", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--recorded", action="store_true", help="run canitoolcall's recordings")
    what.add_argument(
        "--random", type=int, metavar="N", help="N answers in every format from a model of random weights, real engine"
    )
    what.add_argument("--prefix", action="store_true", help="cached tokens over a tool loop on the embedded model")
    parser.add_argument("--formats", metavar="A,B", help="with --random: only these formats")
    parser.add_argument("--results", type=Path, metavar="FILE", help="with --random: keep results, go on from them")
    chosen = parser.parse_args(arguments)
    if chosen.recorded:
        return recorded_answers.run()
    from loadtest import prefix, random_answers  # they import the server

    if chosen.prefix:
        return asyncio.run(prefix.run())
    formats = [get(name).name for name in chosen.formats.split(",")] if chosen.formats else names()
    return asyncio.run(random_answers.run(chosen.random, formats, chosen.results))


if __name__ == "__main__":
    raise SystemExit(main())
