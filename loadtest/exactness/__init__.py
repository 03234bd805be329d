"""Evidence for the exact JSON Schema compiler: ours and llguidance's own, on the same schemas, in one run.

``python -m loadtest.exactness DATA.jsonl.gz``. One idea a file: ``compilers`` (what is measured), ``judge`` (who is
right), ``spellings`` (a value as JSON texts), ``walks`` (random texts of a grammar), ``measure`` (one schema),
``times`` (of compiling) and ``masks`` (passes that take times), ``alone`` (how those run), ``suite``
(JSON-Schema-Test-Suite), ``pool`` (processes that may crash), ``tally``, ``report``, ``document`` (tables).
"""

from loadtest.exactness.compilers import COMPILERS, Grammar, Refusal
from loadtest.exactness.judge import Judge, strict_json
from loadtest.exactness.measure import Options, Outcome, measure
from loadtest.exactness.suite import SuiteOutcome, run_group, suite_groups

__all__ = [
    "COMPILERS",
    "Grammar",
    "Judge",
    "Options",
    "Outcome",
    "Refusal",
    "SuiteOutcome",
    "measure",
    "run_group",
    "strict_json",
    "suite_groups",
]
