"""One choice's life: engine deltas → reader → stop strings → gate → steps that a protocol's writer can show.

A delta goes all the way in one call, from the engine's output to whoever shows the steps; the choice's task only begins
and ends its runs in the engine.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from decoding.deltas import EngineDelta, TokenLogprob
from decoding.events import ArgumentsDelta, CallFinished, CallStarted, Event, Finished, Reasoning, Text
from decoding.reader import Reader
from decoding.stops import StopScanner
from server.engine_client import EngineClient, EngineRequestError, Sampling
from server.errors import GuaranteeError
from server.gate import Gate, Violation
from server.metrics import Metrics
from server.plan import Plan, sample_again

_PIECES = (ArgumentsDelta, Text)
_NO_LOGPROBS: Sequence[TokenLogprob] = ()


class Step(msgspec.Struct, gc=False):
    """Events that came together, with the log probabilities of the tokens since the step before.

    ``restart``: the choice begins anew, and what it gave before does not count. Only where everything is held.
    """

    events: list[Event]
    logprobs: Sequence[TokenLogprob]
    restart: bool = False


@dataclass(slots=True)
class Usage:
    """Tokens so far. What was sampled and thrown away counts as generated: it was paid for."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0


class Choice:
    """One choice of an answer. ``usage`` is complete when ``steps`` has ended."""

    def __init__(
        self,
        engine: EngineClient,
        plan: Plan,
        number: int,
        metrics: Metrics,
        *,
        hold: bool,
        max_retries: int,
        asked_at: float,
    ) -> None:
        self.number = number
        self.usage = Usage(prompt=len(plan.prompt))
        self.cut_opening: str | None = None
        """What there was of a call that the budget cut before its name was known."""
        self._engine = engine
        self._plan = plan
        self._metrics = metrics
        self._max_retries = max_retries
        self._asked_at = asked_at
        self._sampling = plan.sampling_of(number)
        self._hold = hold
        self._gate = Gate(plan, hold=hold)
        self._logprobs: list[TokenLogprob] = []
        self._started = 0

    async def run(self, show: Callable[[Step], None]) -> None:
        """Generate the choice and ``show`` it step by step; the last step ends with ``Finished``. Cancelling this
        aborts the generation.

        Raises GuaranteeError when a check failed and sampling again did not help (or was too late), the engine's errors
        and what ``show`` raises.
        """
        try:
            await self._run(show)
        except BaseException as fault:
            # A panic of native code is a BaseException of its own, which nobody on the way out would catch.
            if isinstance(fault, Exception | asyncio.CancelledError | KeyboardInterrupt | SystemExit):
                raise
            raise EngineRequestError(f"native code panicked: {fault}") from fault

    async def _run(self, show: Callable[[Step], None]) -> None:
        run = _Run(self._plan, self._plan.prompt, self._plan.grammar, self._sampling, 0, "")
        for attempt in range(self._max_retries + 1):
            try:
                await self._generate(run, show)
                return
            except Violation as found:
                violation = found
            passed = violation.passed
            self._logprobs.clear()  # of tokens that nobody will see
            run = self._again(run, violation, attempt + 1)
            if violation.name is None:
                show(Step([], [], restart=True))
            elif passed:
                show(self._step(passed))
            if run.sampling.max_tokens <= 0:
                show(self._step(self._gate.feed([Finished("length")])))
                return
        raise AssertionError("the last attempt either returns or raises")

    async def _generate(self, run: _Run, show: Callable[[Step], None]) -> None:
        """One run in the engine. Raises Violation besides what ``run`` raises."""
        request_id = f"{self._plan.request_id}-{self.number}" + (f"-{run.attempt}" if run.attempt else "")
        metrics, gate = self._metrics, self._gate
        first = self.number == 0 and run.attempt == 0
        before = 0.0
        fault: BaseException | None = None

        def deliver(delta: EngineDelta) -> bool:
            nonlocal before, fault
            now = time.perf_counter()
            if before:
                metrics.inter_delta.observe(now - before)
            elif first:
                metrics.ttft.observe(now - self._asked_at)
            before = now
            try:
                events = run.read(delta)
                self._count(delta, events)
                if events and (shown := gate.feed(events, cut=run.cut)):
                    if len(shown) == 1 and type(shown[0]) in _PIECES and not self._logprobs:
                        show(Step(shown, _NO_LOGPROBS))  # nearly all are
                    else:
                        show(self._step(shown))
            except BaseException as found:
                fault = found
                return False
            return not run.over

        await self._engine.generate(
            run.prompt, run.sampling, grammar=run.grammar, request_id=request_id, deliver=deliver
        )
        self.cut_opening = run.cut_opening
        if fault is not None:
            raise fault
        if not run.over:
            raise EngineRequestError("the engine ended the answer without saying why")

    def _step(self, events: list[Event]) -> Step:
        logprobs, self._logprobs = self._logprobs, []
        for event in events:
            if isinstance(event, CallStarted):
                self._started += 1
            elif isinstance(event, CallFinished):
                self._metrics.tool_calls.labels("complete").inc()
            elif isinstance(event, Finished) and self._started > self._gate.complete:
                self._metrics.tool_calls.labels("incomplete").inc()
        return Step(events, logprobs)

    def _count(self, delta: EngineDelta, events: Sequence[Event]) -> None:
        usage = self.usage
        tokens = len(delta.token_ids)
        usage.completion += tokens
        self._metrics.completion_tokens.value += tokens
        if delta.cached_tokens > usage.cached:
            usage.cached = min(delta.cached_tokens, usage.prompt)
        for event in events:
            if type(event) is Reasoning:
                usage.reasoning += tokens
                break
        if delta.logprobs:
            self._logprobs += delta.logprobs

    def _again(self, run: _Run, violation: Violation, attempt: int) -> _Run:
        """The run that replaces a failed one. Raises GuaranteeError when there is none."""
        if not violation.expected:
            self._metrics.violations.inc()
        resumable = violation.name is not None or self._hold or (self._gate.silent and not violation.passed)
        if not resumable or attempt > self._max_retries:
            raise GuaranteeError(violation.fault)
        self._metrics.resampled.inc()
        left = self._sampling.max_tokens - self.usage.completion
        if violation.name is None:
            self._gate = Gate(self._plan, hold=self._hold)
            self._started = 0
            sampling = sample_again(self._sampling, attempt, left)
            return _Run(self._plan, self._plan.prompt, self._plan.grammar, sampling, attempt, "")
        before = run.text_before_call()
        section = self._plan.fmt.section
        # The new call opens a section of its own, so the one that earlier calls stand in is closed first.
        context = before + section.close if section is not None and self._gate.complete else before
        kept = self._engine.tokenizer.encode(context, add_special_tokens=False) if context else []
        prompt = (*self._plan.prompt, *kept)
        sampling = sample_again(self._sampling, attempt, min(left, self._engine.max_model_len - len(prompt)))
        grammar = self._plan.grammar_from_call(violation.name)
        return _Run(self._plan, prompt, grammar, sampling, attempt, before, self._gate.complete)


class _Run:
    """One pass through the engine: it reads the text, and cuts it at a stop string."""

    def __init__(
        self,
        plan: Plan,
        prompt: tuple[int, ...],
        grammar: str | None,
        sampling: Sampling,
        attempt: int,
        before: str,
        first_index: int = 0,
    ) -> None:
        self.prompt = prompt
        self.grammar = grammar
        self.sampling = sampling
        self.attempt = attempt
        self.over = False
        self.cut = False
        """A stop string ended the text."""
        self._before = before
        reasoning = "none" if before else plan.reasoning
        self._reader = Reader(plan.fmt, list(plan.tools.values()), first_index=first_index, reasoning=reasoning)
        # Where a call is required there is no text that a stop string could end.
        self._stops = StopScanner(plan.stops) if plan.stops and not plan.call_required else None
        self._calls = first_index

    def text_before_call(self) -> str:
        """All text of the answer up to the opening of the call that was read last."""
        return self._before + self._reader.text_before_call

    @property
    def cut_opening(self) -> str | None:
        return self._reader.incomplete if self.over and not self.cut else None

    def read(self, delta: EngineDelta) -> list[Event]:
        events = self._reader.feed(delta.text, delta.token_ids)
        if delta.finish_reason is not None:
            events = [*events, *self._reader.finish(delta.finish_reason)]
        elif self._stops is None:
            return events  # which are not the last ones
        return self._cut(events)

    def _cut(self, events: list[Event]) -> list[Event]:
        """The events up to a stop string in the visible text, if there is one."""
        if self._stops is None:
            self.over = bool(events) and isinstance(events[-1], Finished)
            return events
        out: list[Event] = []
        for event in events:
            if isinstance(event, Text):
                visible, hit = self._stops.feed(event.text)
                if visible:
                    out.append(Text(visible))
                if hit:
                    self.over = self.cut = True
                    return [*out, Finished("tool_calls" if self._calls else "stop")]
                continue
            if isinstance(event, CallStarted | Finished):
                held = self._stops.flush()
                if held:
                    out.append(Text(held))
            if isinstance(event, CallFinished):
                self._calls += 1
            self.over = self.over or isinstance(event, Finished)
            out.append(event)
        return out
