"""The measurements of one round: for each figure both servers, one right after the other."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from loadtest.compare.client import Burst, burst
from loadtest.compare.figures import Samples
from loadtest.compare.servers import PEER, Server
from loadtest.compare.workload import Workload, plain


@dataclass(frozen=True, slots=True)
class Size:
    """How much is asked for in a round: calls of one client, and how often they make a sample, tokens of a text,
    answers per client of many, tools."""

    calls: int = 4
    repeats: int = 3
    tokens: int = 64
    per_client: int = 2
    many: tuple[int, ...] = (8, 32)
    benchmark_calls: int = 8


FULL = Size()
QUICK = Size(calls=1, repeats=1, tokens=16, per_client=1, many=(8,), benchmark_calls=2)
Report = Callable[[str], None]


@dataclass(slots=True)
class Bench:
    """Two servers or more, what they are asked, and what was found. ``number`` is the round, from 0."""

    servers: Sequence[Server]
    samples: Samples
    size: Size
    report: Report
    number: int = 0

    def each(self, text: str, measure: Callable[[Server], dict[str, float]]) -> None:
        """Measure every server, the first one first in even rounds and last in odd ones."""
        self.measure(text, measure, self.servers if self.number % 2 == 0 else list(reversed(self.servers)))

    def measure(self, text: str, measure: Callable[[Server], dict[str, float]], order: Sequence[Server]) -> None:
        """Measure the servers in this order."""
        for server in order:
            found = measure(server)
            for key, value in found.items():
                self.samples.add(key, server.name, value)
            shown = ", ".join(f"{key} {value:.4g}" for key, value in found.items())
            self.report(f"round {self.number + 1}, {text}, {server.name}: {shown}")


def real_model(bench: Bench, tools: Workload, small: Workload) -> None:
    """One round with the real model. ``tools`` are the benchmark's."""
    size, number = bench.size, bench.number
    for temperature in (0, 1):
        # Short against the machine's own ups and downs: several pairs a round.
        for _ in range(size.repeats):
            bench.each("one forced call", partial(_named, small=small, size=size, temperature=temperature))
    bench.each("the benchmark tools", lambda s: _required(s, tools, size, number))
    bench.each("a grammar never seen", lambda s: _unseen(s, tools, number))
    bench.each("text beside tools", lambda s: {"auto_text": _token_ms(s, _texts(tools, number, size))})
    bench.each("plain chat", lambda s: {"step_ms": _token_ms(s, _plain(number, 2, size.tokens))})
    _limit(bench)
    bench.each("plain chat, 8 clients", lambda s: {"plain_8": _rate(burst(s, _plain(number, 16, size.tokens), 8))})
    for clients in size.many:
        for temperature in (0, 1):
            measure = partial(_many, small=small, size=size, clients=clients, temperature=temperature)
            bench.each(f"{clients} clients", measure)


def _limit(bench: Bench) -> None:
    """The time that the sampled tokens' passes take, over the measured time of a forced call."""
    for server in bench.servers:
        sampled, step, whole = (
            bench.samples.of(key, server.name)[-1] for key in ("named_sampled_t0", "step_ms", "named_t0")
        )
        bench.samples.add("limit_t0", server.name, sampled * step / 1000 / whole)


def warm_up(bench: Bench, tools: Workload, small: Workload) -> None:
    """Prompts, grammars and code that every server has to have met before anything counts."""
    for server in bench.servers:
        for work in (tools, small):
            took = burst(server, [work.forced(n, 0.0, named=work is small) for n in range(len(small.calls))], 1).seconds
            burst(server, [work.text_beside(0, 4)], 1)
            bench.report(f"warm-up, {work.text}, {server.name}: {took:.1f} s")


def tiny_model(bench: Bench, closed: Workload, alone: Callable[[], float]) -> None:
    """One round with a model that costs nothing: 32 clients, the server is what takes time. ``alone`` measures vLLM's
    AsyncLLM by itself, with as many answers of as many tokens as a text of theirs, in between."""
    number, count = bench.number, 32 * bench.size.per_client
    tokens = 2 * bench.size.tokens

    def text(server: Server) -> dict[str, float]:
        found = burst(server, _plain(number, count, tokens), 32)
        return {
            "tiny_text_us": _token_us(found),
            "tiny_text_deltas": found.deltas / found.tokens,
            "tiny_plain_tokens": _rate(found),
        }

    def arguments(server: Server) -> dict[str, float]:
        body = closed.forced(1, 0.0, named=True) | {"max_tokens": tokens}
        return {"tiny_call_us": _token_us(burst(server, [body] * count, 32))}

    def calls(server: Server) -> dict[str, float]:
        return {"tiny_calls": _calls(burst(server, [closed.forced(0, 0.0, named=True)] * count, 32))}

    first, *others = bench.servers
    for _ in range(bench.size.repeats):
        # The processor's own pace changes within seconds. So what is held against each other stands side by side.
        bench.measure("tiny model, text", text, [*others, first])
        beside = alone()
        bench.report(f"round {number + 1}, AsyncLLM alone: {beside:.1f} µs per delta")
        bench.samples.add("async_llm_us", PEER, beside)
        bench.measure("tiny model, arguments", arguments, [first, *others])
        for server in bench.servers:
            for kind in ("text", "call"):
                found = bench.samples.of(f"tiny_{kind}_us", server.name)[-1]
                bench.samples.add(f"tiny_{kind}_beside_async_llm", server.name, found / beside)
    bench.each("tiny model, calls", calls)


def _named(server: Server, small: Workload, size: Size, temperature: int) -> dict[str, float]:
    # One tool of them, the first (get_weather), again and again.
    bodies = [small.forced(n * len(small.calls), float(temperature), named=True) for n in range(size.calls)]
    forced = _forced(server)
    found = burst(server, bodies, 1)
    forced = _forced(server) - forced
    key = f"t{temperature}"
    return {
        f"named_{key}": found.seconds / len(bodies),
        f"named_tokens_{key}": found.tokens / len(bodies),
        f"named_sampled_{key}": (found.tokens - forced) / len(bodies),
    }


def _forced(server: Server) -> float:
    """Tokens that were never sampled, so far."""
    return 0.0 if server.name == PEER else server.metric("strictcall_forced_tokens_total")


def _required(server: Server, tools: Workload, size: Size, number: int) -> dict[str, float]:
    bodies = [tools.forced(number * size.benchmark_calls + n, 0.0, named=False) for n in range(size.benchmark_calls)]
    # Once before it counts: the prompts' own ends are new to nobody then, and neither is a grammar.
    burst(server, bodies[:1], 1)
    compiled = _compiled(server)
    found = burst(server, bodies, 1)
    values = {
        "required_s": found.seconds / len(bodies),
        "passes": found.passes / len(bodies),
        "required_tokens": found.tokens / len(bodies),
        "first_seen": statistics.median(answer.first for answer in found.answers),
    }
    if server.name != PEER:
        values["compiles_seen"] = _compiled(server) - compiled
    return values


def _compiled(server: Server) -> float:
    if server.name == PEER:
        return 0.0
    engine = server.metric("strictcall_engine_grammar_cache_misses_total")
    return engine + server.metric("strictcall_grammar_cache_misses_total")


def _unseen(server: Server, tools: Workload, number: int) -> dict[str, float]:
    found = burst(server, [tools.unseen(2 * number), tools.unseen(2 * number + 1)], 1)
    return {"first_unseen": statistics.median(answer.first for answer in found.answers)}


def _texts(tools: Workload, number: int, size: Size) -> list[dict[str, object]]:
    return [tools.text_beside(10 * number + n, size.tokens) for n in range(2)]


def _plain(number: int, count: int, tokens: int) -> list[dict[str, object]]:
    return [plain(100 * number + n, tokens) for n in range(count)]


def _token_ms(server: Server, bodies: list[dict[str, object]]) -> float:
    """Milliseconds from token to token, the first one left out."""
    answers = burst(server, bodies, 1).answers
    return 1000 * sum(a.whole - a.first for a in answers) / max(1, sum(a.tokens - 1 for a in answers))


def _many(server: Server, small: Workload, size: Size, clients: int, temperature: int) -> dict[str, float]:
    count = clients * size.per_client
    found = burst(server, [small.forced(n, float(temperature), named=True) for n in range(count)], clients)
    return {f"calls_{clients}_t{temperature}": _calls(found)}


def _calls(found: Burst) -> float:
    return len(found.answers) / found.seconds


def _rate(found: Burst) -> float:
    return found.tokens / found.seconds


def _token_us(found: Burst) -> float:
    """By token, not by delta: each is a delta of its own, but a server that falls behind joins them, and would seem to
    do worse the more it does so."""
    return 1e6 * found.api_seconds / max(1, found.tokens)
