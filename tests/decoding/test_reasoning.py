"""Whether an answer reasons: by the prompt and the template, in grammar and reader alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from decoding import Event, Finished, Format, Reasoning, Text, tool_grammar
from decoding.formats import get
from decoding.reasoning import ReasoningMode, has_unseen_marks, mode_of
from schemas import compile_schema
from tests.decoding.support import ALL_FORMATS, TOOLS, accepts, call, merged, read

REASONING = [fmt for fmt in ALL_FORMATS if fmt.reasoning]
every_format = pytest.mark.parametrize("fmt", REASONING, ids=lambda fmt: fmt.name)


@pytest.mark.parametrize("fmt", [fmt for fmt in REASONING if not fmt.channels], ids=lambda fmt: fmt.name)
@pytest.mark.parametrize(
    ("end", "template", "kwargs", "mode"),
    [
        ("<assistant>OPEN\n", "OPEN", {}, "open"),
        ("<assistant>OPEN\n", "OPEN", {"enable_thinking": True}, "open"),
        ("<assistant>OPEN\n\nCLOSE\n\n", "OPEN", {}, "none"),
        ("<assistant>\n", "OPEN", {}, "optional"),
        ("<assistant>\n", "OPEN", {"enable_thinking": True}, "optional"),
        ("<assistant>\n", "OPEN", {"enable_thinking": False}, "none"),
        ("<assistant>\n", "OPEN", {"thinking": False}, "none"),
        ("<assistant>\n", "no marks", {}, "none"),
    ],
)
def test_the_mode(fmt: Format, end: str, template: str, kwargs: dict[str, bool], mode: ReasoningMode) -> None:
    assert fmt.reasoning is not None
    end = end.replace("OPEN", fmt.reasoning.open).replace("CLOSE", fmt.reasoning.close)
    assert mode_of(fmt, end, template.replace("OPEN", fmt.reasoning.open), kwargs) == mode


def test_no_reasoning_without_marks() -> None:
    assert mode_of(get("prompted"), "<think>", "<think>", {}) == "none"


@every_format
def test_optional(fmt: Format) -> None:
    """The model may reason or not; what it opens it closes; calls are held either way; grammar and reader agree."""
    assert fmt.reasoning is not None
    reasoned = f"{fmt.reasoning.open}Hm.\n{fmt.reasoning.close}"
    calls = fmt.write_calls([("ping", "{}")])
    made = [*call(0, "ping", "{}"), Finished("tool_calls")]
    answers: list[tuple[str, list[Event], bool]] = [
        (f"{reasoned}{calls}", [Reasoning("Hm."), *made], True),
        (calls, made, True),
        (fmt.write_answer("So.", []), [Text("So."), Finished("stop")], False),
        (f"{reasoned}{fmt.write_answer('So.', [])}", [Reasoning("Hm."), Text("So."), Finished("stop")], False),
        (f"{reasoned}{fmt.write_answer('So.', [('ping', '{}')])}", [Reasoning("Hm."), Text("So."), *made], False),
        (fmt.write_answer("So.", [("ping", "{}")]), [Text("So."), *made], False),
    ]
    auto, required = (tool_grammar(TOOLS, mode, True, fmt, "optional") for mode in ("auto", "required"))
    for text, events, only_calls in answers:
        if fmt.marker_at == "answer" and not only_calls and calls in text:
            continue
        assert accepts(auto, text), text
        assert accepts(required, text) == only_calls, text
        for cut in range(len(text) + 1):
            assert merged(read(fmt, [text[:cut], text[cut:]], reasoning="optional")) == events, text[:cut]
    for unclosed in (fmt.reasoning.open, f"{fmt.reasoning.open}Hm. {calls}", f"\n{fmt.reasoning.open}Hm."):
        assert not accepts(auto, unclosed)
        assert not accepts(required, unclosed)
    if fmt.channels:
        return  # text has to be a message, too
    almost = fmt.reasoning.open[:-1]
    assert accepts(auto, almost)
    assert merged(read(fmt, list(almost), reasoning="optional")) == [Text(almost), Finished("stop")]


@every_format
def test_a_wrong_call_after_reasoning(fmt: Format) -> None:
    assert fmt.reasoning is not None
    wrong = f"{fmt.reasoning.open}Hm.{fmt.reasoning.close}{fmt.write_calls([('pong', '{}')])}"
    for mode in ("optional", "open"):
        assert not accepts(tool_grammar(TOOLS, "auto", True, fmt, mode), wrong)  # type: ignore[arg-type]


@every_format
@pytest.mark.parametrize("mode", ["optional", "open"])
def test_a_json_answer_after_reasoning(fmt: Format, mode: ReasoningMode) -> None:
    assert fmt.reasoning is not None
    closed = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    response = compile_schema(closed)
    said = '{"a":1}' if fmt.text else fmt.write_answer('{"a":1}', [])
    thought = f"{fmt.reasoning.open}Hm.{fmt.reasoning.close}"
    for choice in ("auto", "none"):
        grammar = tool_grammar(TOOLS, choice, True, fmt, mode, response=response)
        assert accepts(grammar, thought + said)
        assert accepts(grammar, said) == (mode == "optional" or fmt.channels is not None)
        assert accepts(grammar, thought + fmt.write_calls([("ping", "{}")])) == (choice == "auto")
        assert not accepts(grammar, f"{thought}Hello.")
    events = merged(read(fmt, thought + said, reasoning=mode))
    assert events == [Reasoning("Hm."), Text('{"a":1}'), Finished("stop")]


def test_reasoning_where_the_format_has_none() -> None:
    with pytest.raises(ValueError, match="prompted"):
        tool_grammar(TOOLS, "auto", True, "prompted", "optional")


def test_answers_with_special_marks_need_a_grammar() -> None:
    mistral = replace(get("mistral"), special=(("[THINK]", 7), ("[/THINK]", 8)))
    assert has_unseen_marks(mistral, "optional", {7, 8})
    assert not has_unseen_marks(mistral, "optional", {9})
    assert not has_unseen_marks(mistral, "none", {7, 8})
    assert not has_unseen_marks(get("mistral"), "open", {7, 8})
    cohere = replace(get("cohere"), special=(("<|START_RESPONSE|>", 7),))
    assert has_unseen_marks(cohere, "none", {7})
    harmony = replace(get("harmony"), special=(("<|channel|>", 7),))
    assert has_unseen_marks(harmony, "none", {7})
