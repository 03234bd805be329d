"""Between the reader and the client: nothing of a call passes as complete before it has been checked."""

from __future__ import annotations

from dataclasses import dataclass, field

from decoding.events import ArgumentsDelta, CallFinished, CallStarted, Event, Finished, Reasoning, Text
from server.guarantee import arguments_fault, text_fault
from server.plan import Plan


@dataclass(eq=False)
class Violation(Exception):
    """A check failed. ``passed`` are the events before the fault, which may still go out.

    ``name`` is the tool whose call can be sampled again because none of its arguments were let through; ``None`` when
    the answer can only begin anew. ``expected``: the grammar was known to be wider than the schema.
    """

    fault: str
    passed: list[Event]
    name: str | None = None
    expected: bool = False


@dataclass(slots=True)
class _Call:
    index: int
    name: str
    hold: bool
    expected: bool
    held: list[str] = field(default_factory=list)
    sent: bool = False


class Gate:
    """One choice's gate. Events go in, events that may be shown come out, over all the times that it is sampled.

    With ``hold`` every call's arguments wait for their check. Without it only those do whose tool's grammar is wider
    than its schema; the others pass as they come and are checked at their end.
    """

    def __init__(self, plan: Plan, *, hold: bool) -> None:
        self._plan = plan
        self._hold = hold
        self._hold_text = plan.answer is not None and (hold or bool(plan.answer.residue))
        self._text: list[str] = []
        self._call: _Call | None = None
        self._started: dict[int, str] = {}  # calls whose start was let through, by index, with their names
        self.complete = 0
        """How many calls are complete: the index of the next one, and of one that is sampled again."""
        self.silent = True
        """Nothing at all has been let through yet."""

    def feed(self, events: list[Event], *, cut: bool = False) -> list[Event]:
        """What may be shown of ``events``. ``cut``: a stop string ended the text here. Raises Violation."""
        if len(events) == 1:
            # A piece of text that nothing is known of, or of arguments that are not held, passes: nearly all do.
            (event,) = events
            call = self._call
            if call is None:
                if type(event) is Text and self._plan.answer is None:
                    self.silent = False
                    return events
            elif type(event) is ArgumentsDelta and not call.hold:
                call.held.append(event.fragment)
                call.sent = True
                self.silent = False
                return events
        out: list[Event] = []
        for event in events:
            match event:
                case Text():
                    self._on_text(event, out)
                case Reasoning():
                    out.append(event)
                case CallStarted():
                    self._on_start(event, out)
                case ArgumentsDelta():
                    self._on_arguments(event, out)
                case CallFinished():
                    self._on_finish(event, out)
                case Finished():
                    self._on_end(event, out, cut)
        if out:
            self.silent = False
        if self._call is not None:
            self._call.sent = bool(self._call.held) and not self._call.hold
        return out

    def _on_text(self, event: Text, out: list[Event]) -> None:
        if self._plan.answer is not None:
            self._text.append(event.text)
            if self._hold_text:
                return
        out.append(event)

    def _on_start(self, event: CallStarted, out: list[Event]) -> None:
        tool = self._plan.tools.get(event.name)
        if tool is None:
            raise Violation(f"the model called {event.name!r}, which is not on offer", out)
        if event.index > 0 and not self._plan.many_calls:
            raise Violation("the model made a second call where one was allowed", out)
        expected = bool(tool.compiled.residue)
        self._call = _Call(event.index, event.name, self._hold or expected, expected)
        if event.index not in self._started:
            self._started[event.index] = event.name
            out.append(event)
        elif self._started[event.index] != event.name:
            raise Violation(f"the model called {event.name!r} instead of the call it had begun", out)

    def _on_arguments(self, event: ArgumentsDelta, out: list[Event]) -> None:
        call = self._call
        assert call is not None, "arguments without a call"
        call.held.append(event.fragment)
        if not call.hold:
            out.append(event)

    def _on_finish(self, event: CallFinished, out: list[Event]) -> None:
        call = self._call
        assert call is not None, "a call ended that was not open"
        tool = self._plan.tools[call.name]
        fault = arguments_fault(tool, event.arguments, declared_only=self._plan.declared_only)
        if fault is None and "".join(call.held) != event.arguments:
            fault = f"the fragments of {call.name!r} do not add up to its arguments"
        if fault is not None:
            raise self._reject(call, fault, out, call.expected)
        if call.hold:
            out += _fragments(call)
        out.append(event)
        self.complete += 1
        self._call = None

    def _reject(self, call: _Call, fault: str, out: list[Event], expected: bool) -> Violation:
        self._call = None
        passed = [e for e in out if not (isinstance(e, ArgumentsDelta) and e.index == call.index)]
        return Violation(fault, passed, None if call.sent else call.name, expected)

    def _on_end(self, event: Finished, out: list[Event], cut: bool) -> None:
        call = self._call
        if event.reason == "length" or cut:
            if call is not None and call.hold:
                out += _fragments(call)
            if self._hold_text and self._text:
                out.append(Text("".join(self._text)))
        elif call is not None:
            raise self._reject(call, f"the model stopped inside the arguments of {call.name!r}", out, False)
        elif self.complete == 0:
            self._check_answer(out)
        out.append(event)

    def _check_answer(self, out: list[Event]) -> None:
        if self._plan.call_required:
            raise Violation("the model made no call where one is required", out)
        if self._plan.answer is None:
            return
        text = "".join(self._text)
        fault = text_fault(self._plan.answer, text)
        if fault is not None:
            self._text.clear()
            raise Violation(fault, out if self._hold_text else [], None, bool(self._plan.answer.residue))
        if self._hold_text:
            out.append(Text(text))


def _fragments(call: _Call) -> list[Event]:
    return [ArgumentsDelta(call.index, fragment) for fragment in call.held]
