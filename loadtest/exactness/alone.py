"""Passes that take times: a process that is alone on the machine gets many pieces of work at a time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from typing import TypeVar

from loadtest.exactness.compilers import CompilerName
from loadtest.exactness.pool import Died, run_all

BATCH = 64
"""Pieces of work that are done one after the other without waiting for anybody."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def one_after_the_other(
    items: Sequence[Item],
    name: CompilerName,
    work: Callable[[tuple[Sequence[Item], CompilerName], Callable[[str], None]], list[Result]],
    time_limit: float,
    what: str,
) -> Generator[Result | Died[Item], None, None]:
    """The results of ``work``, which is picklable by name, with progress on standard error under the name ``what``.

    Items of a batch that dies are done one by one; one that dies alone comes back as `Died`.
    ``time_limit``: seconds for one item alone; a batch has four times as long.
    """
    done, again = 0, list[Item]()
    for size, left, limit in ((BATCH, items, 4 * time_limit), (1, again, time_limit)):
        jobs = [(left[start : start + size], name) for start in range(0, len(left), size)]
        results = run_all(jobs, work, 1, limit)
        try:
            for result in results:
                if not isinstance(result, Died):
                    yield from result
                    done += size
                elif size > 1:
                    again += result.job[0]
                else:
                    yield Died(result.job[0][0], result.how, result.stage, result.detail)
                print(f"\r{name}: {what}: {min(done, len(items))}/{len(items)}  ", end="", file=sys.stderr)
        finally:
            results.close()
    print(file=sys.stderr)
