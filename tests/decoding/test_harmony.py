"""Harmony: messages with channels, in the real vocabulary where its package is installed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import llguidance
import pytest

from decoding import AnswerReader, Event, Finished, Reader, Reasoning, Text, tool_grammar
from decoding.formats import get
from tests.decoding.support import TOOLS, accepts, call, merged, read

HARMONY = get("harmony")
MARKS = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>")
THOUGHT = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
FIND = '{"q":"x"}'


def header(name: str) -> str:
    return f" to=functions.{name}<|channel|>commentary <|constrain|>json<|message|>"


ANSWERS: dict[str, tuple[str, Sequence[Event]]] = {
    "recipient before the channel": (f"{THOUGHT}{header('find')}{FIND}", [Reasoning("Hm."), *call(0, "find", FIND)]),
    "recipient behind the channel": (
        f"<|channel|>commentary to=functions.find <|constrain|>json<|message|>{FIND}<|call|>",
        call(0, "find", FIND),
    ),
    "no type": (f" to=functions.find<|channel|>commentary<|message|>{FIND}", call(0, "find", FIND)),
    "a call on the channel of reasoning (c6)": (
        f"<|channel|>analysis to=functions.find json<|message|>{FIND}",
        call(0, "find", FIND),
    ),
    "two calls (d9)": (
        f"{header('find')}{FIND}<|end|><|start|>assistant{header('ping')}{{}}<|call|>",
        [*call(0, "find", FIND), *call(1, "ping", "{}")],
    ),
    "text before and behind": (
        f"<|channel|>commentary<|message|>First.<|end|><|start|>assistant{header('ping')}{{}}<|call|><|start|>assistant"
        "<|channel|>final<|message|>Then.",
        [Text("First."), *call(0, "ping", "{}"), Text("\n\nThen.")],
    ),
    "marks in reasoning are data": (
        "<|channel|>analysis<|message|>Not <|call|> or <|channel|>final.<|end|><|start|>assistant<|channel|>final"
        "<|message|>So <|end|> it is",
        [Reasoning("Not <|call|> or <|channel|>final."), Text("So <|end|> it is")],
    ),
    "a header without a body is shown": (
        "<|channel|>??<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
        [Text("<|channel|>??<|end|>Yes.")],
    ),
    "a tool that is not offered is shown": (
        f"{header('pong')}{{}}",
        [Text(" to=functions.pong<|channel|>commentary <|constrain|>json<|message|>{}")],
    ),
    "plain text": ("Hello.", [Text("Hello.")]),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_reading(name: str) -> None:
    text, expected = ANSWERS[name]
    made = any(each in expected for n in range(2) for each in (call(n, "find", FIND)[-1], call(n, "ping", "{}")[-1]))
    wanted = [*expected, Finished("tool_calls" if made else "stop")]
    for cut in range(len(text) + 1):
        assert merged(read(HARMONY, [text[:cut], text[cut:]])) == wanted, cut
    assert merged(read(HARMONY, list(text))) == wanted


def test_the_reader_that_a_format_needs() -> None:
    assert type(Reader("harmony", TOOLS)) is type(Reader(HARMONY, TOOLS))
    assert type(Reader("harmony", TOOLS)) is not type(Reader("hermes", TOOLS))
    assert isinstance(Reader("harmony", TOOLS), AnswerReader)


def test_a_cut_header_is_no_text() -> None:
    for cut in range(len(THOUGHT), len(THOUGHT + header("find")) + 1):
        reader = Reader(HARMONY, TOOLS)
        events = merged([*reader.feed((THOUGHT + header("find"))[:cut]), *reader.finish("length")])
        assert events == [Reasoning("Hm."), Finished("length")]
        assert cut < len(THOUGHT) + 4 or reader.incomplete


@pytest.fixture(scope="module")
def encoding() -> Any:
    harmony = pytest.importorskip("openai_harmony", reason="install oss-harmony for gpt-oss's own vocabulary")
    return harmony.load_harmony_encoding(harmony.HarmonyEncodingName.HARMONY_GPT_OSS)


def ids_of(encoding: Any, text: str) -> list[int]:
    return list(encoding.encode(text, allowed_special="all"))


class OfTheseTokens:
    """The special tokens and those of the texts at hand, numbered anew: the whole vocabulary has 200,000."""

    bos_token_id = None

    def __init__(self, encoding: Any, texts: Sequence[str]) -> None:
        ids = [ids_of(encoding, mark)[0] for mark in MARKS]
        found = {token for text in texts for token in ids_of(encoding, text)} - set(ids)
        ids += sorted(found)
        self.number = {token: n for n, token in enumerate(ids)}
        self.tokens = [encoding.decode_utf8([token]).encode() for token in ids]
        self.special_token_ids = list(range(len(MARKS)))
        self.eos_token_id = MARKS.index("<|return|>")

    def __call__(self, text: bytes | str) -> list[int]:
        raise NotImplementedError


def test_real_tokens(encoding: Any) -> None:
    """What openai-harmony renders for a call, and every answer above that holds no fault, in gpt-oss's own tokens."""
    from openai_harmony import Conversation, Message, Role

    said = Message.from_role_and_content(Role.ASSISTANT, FIND).with_channel("commentary")
    said = said.with_recipient("functions.find").with_content_type("<|constrain|>json")
    rendered = encoding.decode_utf8(encoding.render_conversation(Conversation.from_messages([said])))
    own = rendered.removeprefix("<|start|>assistant")
    assert merged(read(HARMONY, own)) == [*call(0, "find", FIND), Finished("tool_calls")]
    faulty = ("shown", "plain", "marks")
    texts = [own, *(text for name, (text, _) in ANSWERS.items() if not any(word in name for word in faulty))]
    vocabulary = OfTheseTokens(encoding, texts)
    fmt = replace(HARMONY, special=tuple((mark, n) for n, mark in enumerate(MARKS)))
    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(vocabulary), slices=[])
    definition = tool_grammar(TOOLS, "auto", True, fmt, "optional").cfg.definition
    start = llguidance.LLMatcher(tokenizer, llguidance.grammar_from("grammar", definition), log_level=0)
    for text in texts:
        machine = start.deep_copy()
        ids = [*(vocabulary.number[token] for token in ids_of(encoding, text)), vocabulary.eos_token_id]
        assert machine.validate_tokens(ids) == len(ids), text


@pytest.mark.parametrize("mark", ["<|call|><|start|>", "<|return|><|start|>user", "<|end|><|start|>assis"])
def test_messages_that_others_follow_hold_no_other_end(mark: str) -> None:
    """Where marks are text a message ends for the reader where any other begins, so the grammar lets none begin."""
    for mode in ("auto", "required"):
        grammar = tool_grammar(TOOLS, mode, True, HARMONY, True)
        for thought, good in (("Hm. <|call|> <|start|>", True), (f"Hm. {mark} So.", False)):
            text = f"<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant{header('ping')}{{}}<|call|>"
            assert accepts(grammar, text) is good
