"""Whatever breaks in one request ends that request, and no other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.decoding.engine.core import JUMP_FORWARD, Answer, Core
from tests.decoding.engine.test_jump_forward import AUTO, ONE_CALL, PARIS, arguments

pytestmark = pytest.mark.engine


class PanicException(BaseException):
    """What a Rust panic looks like: no ``Exception``, known by its name."""


class Broken:
    """A matcher all of whose methods panic."""

    def __getattr__(self, name: str) -> Any:
        raise PanicException(name)


def one_that_breaks(core: Core, damage: Any, *, grammar: str = ONE_CALL) -> tuple[Answer, Answer]:
    """The answers of a request whose grammar is damaged once it has begun its answer, and of another beside it."""
    victim = core.add(PARIS, core.params(grammar, max_tokens=80))
    other = core.add(PARIS, core.params(grammar, max_tokens=80))
    damaged = []

    def after(step: int) -> None:
        for request in core.scheduler.running:
            # The engine adds something to the names.
            if request.request_id.startswith(f"{victim}-") and request.num_output_tokens and not damaged:
                damaged.append(request.request_id)
                damage(request.structured_output_request.grammar)

    answers = core.run([victim, other], after_step=after)
    assert damaged
    assert core.is_idle()
    assert core.ask(PARIS, ONE_CALL).reason == "stop"
    return answers[victim][0], answers[other][0]


def explode(grammar: Any) -> None:
    """Bring the matcher, and with it the lexer it shares, into its error state for good."""
    grammar.matcher.consume_tokens([0] * 3)
    assert grammar.matcher.is_error()


@pytest.mark.parametrize("grammar", [ONE_CALL, AUTO])
def test_a_matcher_that_fails_is_replaced(core: Core, grammar: str) -> None:
    whole = core.ask(PARIS, grammar, max_tokens=80)
    victim, other = one_that_breaks(core, explode, grammar=grammar)
    assert victim.text == other.text == whole.text


def test_a_matcher_that_fails_for_good(core: Core) -> None:
    def damage(grammar: Any) -> None:
        explode(grammar)
        grammar.compile_again = lambda: Broken().anything

    victim, other = one_that_breaks(core, damage)
    assert victim.reason == "error"
    assert arguments(other)


def test_a_panic(core: Core) -> None:
    def damage(grammar: Any) -> None:
        grammar.matcher = Broken()
        grammar.compile_again = lambda: Broken().anything

    victim, other = one_that_breaks(core, damage)
    assert victim.reason == "error"
    assert arguments(other)


@pytest.mark.skipif(JUMP_FORWARD == "off", reason="nobody looks for forced tokens without jump-forward")
def test_an_error_while_looking_for_forced_tokens(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    def damage(grammar: Any) -> None:
        monkeypatch.setattr(grammar, "run_ahead", lambda tokens: [][1], raising=False)

    victim, other = one_that_breaks(core, damage)
    assert victim.reason == "error"
    assert arguments(other)


@pytest.mark.parametrize("grammar", ["start: nothing", 'start: "a', "start: /(/"])
def test_a_grammar_that_does_not_compile(core: Core, grammar: str) -> None:
    """a18, g1: it ends its request with an error, never without a grammar, and no other request with it."""
    bad = core.add(PARIS, core.params(grammar))
    good = core.add(PARIS, core.params(ONE_CALL))
    answers = core.run([bad, good])
    assert answers[bad][0].reason == "error"
    assert arguments(answers[good][0])
    assert core.is_idle()


def test_a_grammar_is_compiled_once(core: Core) -> None:
    core.ask(PARIS, ONE_CALL, max_tokens=2)
    cache = core.scheduler._backend.cache
    hits, misses = cache.hits, cache.misses
    core.ask(PARIS, ONE_CALL, max_tokens=2)
    core.ask(PARIS, ONE_CALL, max_tokens=2)
    assert (cache.hits, cache.misses) == (hits + 2, misses)
