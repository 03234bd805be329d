"""The wildest model there is: tokens of a real vocabulary drawn evenly from what the grammar allows.

Whatever comes out, in every format and mode: each call is of an offered tool and valid, and the reader, fed in random
pieces, agrees with the grammar on what is a call.
"""

from __future__ import annotations

import json
import random
from typing import Any

import llguidance.hf
import numpy as np
import pytest

from decoding import (
    CallFinished,
    CallStarted,
    Event,
    Finished,
    Format,
    Reader,
    Text,
    Tool,
    ToolGrammar,
    tool_from_wire,
    tool_grammar,
)
from schemas.engine import grammar_of
from tests.decoding.support import ALL_FORMATS, PING, wire

ANSWERS = 8
LONGEST = 150
Q = {"type": "string", "maxLength": 12}
TAGS = {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 3}
TOOLS = [
    tool_from_wire(tool)
    for tool in (PING, wire("find", {"q": Q, "u": {"enum": ["a", "b"]}}), wire("set", {"on": {}, "tags": TAGS}))
]


@pytest.fixture(scope="module")
def vocabulary(tokenizer: Any) -> Any:
    return llguidance.hf.from_tokenizer(tokenizer, len(tokenizer))


def drawn(vocabulary: Any, grammar: ToolGrammar, begin: str, rng: random.Random) -> tuple[str, bool]:
    """A random answer that begins with ``begin``, and whether it came to its end."""
    machine = llguidance.LLMatcher(vocabulary, grammar_of(grammar.cfg.definition), log_level=0)
    tokens = list(vocabulary.tokenize_str(begin))
    assert machine.consume_tokens(tokens), machine.get_error()
    while len(tokens) < LONGEST and not machine.is_stopped():
        bits = np.unpackbits(np.frombuffer(machine.compute_bitmask(), np.uint8), bitorder="little")
        allowed = np.flatnonzero(bits[: vocabulary.vocab_size])
        assert len(allowed), machine.get_error()
        token = int(allowed[rng.randrange(len(allowed))])
        if bits[vocabulary.eos_token] and rng.random() < 0.3:
            token = vocabulary.eos_token
        if token == vocabulary.eos_token:
            return vocabulary.decode_bytes(tokens).decode(), True
        assert machine.consume_token(token), machine.get_error()
        tokens.append(token)
    return vocabulary.decode_bytes(tokens).decode(errors="ignore"), machine.is_stopped()


def read_in_pieces(fmt: Format, tools: list[Tool], text: str, whole: bool, rng: random.Random) -> list[Event]:
    reader = Reader(fmt, tools)
    events: list[Event] = []
    at = 0
    while at < len(text):
        size = rng.randrange(1, 8)
        events += reader.feed(text[at : at + size])
        at += size
    return [*events, *reader.finish("stop" if whole else "length")]


@pytest.mark.parametrize("mode", ["auto", "required"])
@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda fmt: fmt.name)
def test_random_answers(fmt: Format, mode: str, vocabulary: Any) -> None:
    compiled = {tool.name: tool.compiled for tool in TOOLS}
    rng = random.Random(f"{fmt.name} {mode}")
    made = 0
    for number in range(ANSWERS):
        parallel = number % 2 == 0
        grammar = tool_grammar(TOOLS, mode, parallel, fmt)
        begin = fmt.marker if mode == "auto" and number % 3 else ""
        text, whole = drawn(vocabulary, grammar, begin, rng)
        events = read_in_pieces(fmt, TOOLS, text, whole, rng)
        names = {event.index: event.name for event in events if isinstance(event, CallStarted)}
        finished = [event for event in events if isinstance(event, CallFinished)]
        for call in finished:
            assert compiled[names[call.index]].validate(json.loads(call.arguments)) == [], text
        assert not any(fmt.opening in event.text for event in events if isinstance(event, Text)), text
        assert parallel or len(finished) <= 1
        if whole:
            assert len(names) == len(finished), text
            assert events[-1] == Finished("tool_calls" if finished else "stop")
            assert finished or mode == "auto"
        made += len(finished)
    assert made
