"""Chat Completions chunks as bytes (PROTOCOL rules S1–S16).

Every chunk of a choice is a fixed head, a delta and a fixed tail, so a token costs one escaped string and one
concatenation; nothing is modelled on the way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from decoding.deltas import TokenLogprob
from decoding.events import ArgumentsDelta, CallFinished, CallStarted, Event, Finished, Reasoning, Text
from server.event_stream import LastFrame, WriteNow
from server.generation import Choice, Step
from server.one_line_json import one_line_json
from server.openai.logprobs import logprobs_object
from server.openai.usage import usage_object
from server.outbox import Outbox, Steps

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
_EMPTY = b"{}"
_ROLE = b'{"role":"assistant"}'
_TEXT = b'{"content":%b}'
_ARGUMENTS = b'{"tool_calls":[{"index":%d,"function":{"arguments":%b}}]}'


class ChunkWriter:
    """The chunks of one answer. ``with_usage``: every chunk has ``usage``, null but in the last."""

    def __init__(self, answer_id: str, created: int, model: str, *, choices: int, with_usage: bool) -> None:
        common = one_line_json({"id": answer_id, "object": "chat.completion.chunk", "created": created, "model": model})
        self._common = b"data: " + common[:-1] + b',"choices":['
        self._heads = [self._common + b'{"index":%d,"delta":' % n for n in range(choices)]
        end = b'],"usage":null}\n\n' if with_usage else b"]}\n\n"
        self._tail = b',"logprobs":null,"finish_reason":null}' + end
        self._end = end
        self._with_usage = with_usage

    def roles(self) -> bytes:
        """The first chunk of every choice, choice 0 in front. It has no ``content``: some clients take an empty one for
        the answer (b14)."""
        return b"".join(head + _ROLE + self._tail for head in self._heads)

    def step(self, choice: int, step: Step) -> bytes:
        """The chunks of one step. Its log probabilities stand in the first of them."""
        head = self._heads[choice]
        logprobs = step.logprobs
        if len(step.events) == 1 and not logprobs:
            (event,) = step.events  # nearly all are one of these two
            if type(event) is Text:
                return b"%b%b%b" % (head, _TEXT % one_line_json(event.text), self._tail)
            if type(event) is ArgumentsDelta:
                return b"%b%b%b" % (head, _ARGUMENTS % (event.index, one_line_json(event.fragment)), self._tail)
        out: list[bytes] = []
        for event in step.events:
            delta = _delta(event)
            if delta is None:
                continue
            if logprobs or isinstance(event, Finished):
                out.append(head + delta + self._long_tail(event, logprobs))
                logprobs = []
            else:
                out.append(head + delta + self._tail)
        return b"".join(out)

    def usage(self, choices: Sequence[Choice]) -> bytes:
        """The last chunk when usage was asked for; nothing otherwise."""
        if not self._with_usage:
            return b""
        usage = one_line_json(usage_object([choice.usage for choice in choices]))
        return self._common + b'],"usage":' + usage + b"}\n\n"

    def _long_tail(self, event: Event, logprobs: Sequence[TokenLogprob]) -> bytes:
        probabilities = one_line_json(logprobs_object(logprobs)) if logprobs else b"null"
        reason = b'"' + event.reason.encode() + b'"' if isinstance(event, Finished) else b"null"
        return b',"logprobs":' + probabilities + b',"finish_reason":' + reason + b"}" + self._end


def _delta(event: Event) -> bytes | None:
    match event:
        case ArgumentsDelta(index, fragment):
            return _ARGUMENTS % (index, one_line_json(fragment))
        case Text(text):
            return _TEXT % one_line_json(text)
        case Reasoning(text):
            # Clients know it by the one name or the other.
            return b'{"reasoning_content":%b,"reasoning":%b}' % ((one_line_json(text),) * 2)
        case CallStarted(index, call_id, name):
            return b'{"tool_calls":[{"index":%d,"id":%b,"type":"function","function":{"name":%b,"arguments":""}}]}' % (
                index,
                one_line_json(call_id),
                one_line_json(name),
            )
        case CallFinished():
            return None
        case Finished():
            return _EMPTY


async def chat_frames(
    outbox: Outbox, writer: ChunkWriter, choices: Sequence[Choice], write_now: WriteNow, *, keepalive: float
) -> AsyncIterator[bytes]:
    """The whole stream, one byte string per write: what arrived together leaves together. What ``write_now`` takes
    is not yielded any more."""

    def chunks(steps: Steps) -> bytes:
        return b"".join([writer.step(choice, step) for choice, step in steps])

    def shortcut(steps: Steps) -> bool:
        data = writer.step(*steps[0]) if len(steps) == 1 else chunks(steps)
        return not data or write_now(data)

    try:
        while (steps := await outbox.take(keepalive)) is not None:
            if not steps:
                yield KEEP_ALIVE
                continue
            data = chunks(steps)
            if outbox.shortcut is None:
                outbox.shortcut = shortcut
                data = writer.roles() + data
            if data:
                yield data
    finally:
        await outbox.close()
    yield LastFrame(writer.usage(choices) + DONE)
