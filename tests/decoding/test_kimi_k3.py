"""Kimi K3: text in a section of its own, arguments with their types, names with escapes."""

from __future__ import annotations

import json

from decoding import CallFinished, Finished, Reasoning, Text, ToolChoice, render_text, tool_from_wire, tool_grammar
from decoding.formats import detect, get
from decoding.reasoning import mode_of
from tests.decoding import templates
from tests.decoding.support import TOOLS, accepts, call, merged, read, wire
from tests.decoding.test_rendering import calling, result, user

FMT = get("kimi_k3")
END = "<|close|>message<|sep|>"
NO_TEXT = "<|open|>response<|sep|><|close|>response<|sep|>"
AUTO = ToolChoice("auto")
ODD = tool_from_wire(
    wire("save", {"q&a": {"type": "string"}, 'say "hi"': {"type": ["integer", "null"]}, "&quot;": {"type": "array"}})
)


def test_names_are_escaped() -> None:
    """Whatever stands in them, grammar, reader and earlier calls agree."""
    arguments = {"q&a": "fish & chips", 'say "hi"': None, "&quot;": [1]}
    written = FMT.write_calls([("save", json.dumps(arguments))])
    assert 'key="q&amp;a" type="string"' in written
    assert 'key="say &quot;hi&quot;" type="null"' in written
    assert 'key="&amp;quot;" type="array"' in written
    events = read(FMT, written, tools=[ODD])
    assert [json.loads(e.arguments) for e in events if isinstance(e, CallFinished)] == [arguments]
    grammar = tool_grammar([ODD], "required", True, FMT)
    assert accepts(grammar, written)


def test_the_type_is_the_values() -> None:
    grammar = tool_grammar([ODD], "required", True, FMT)
    written = FMT.write_calls([("save", '{"q&a": "x", "say \\"hi\\"": 5, "&quot;": []}')])
    assert accepts(grammar, written)
    for right, wrong in (("number", "null"), ("number", "string"), ("array", "object"), ("string", "number")):
        assert not accepts(grammar, written.replace(f'type="{right}"', f'type="{wrong}"'))


def test_no_text_and_the_end() -> None:
    """Text marks with nothing in between stand before calls, also where calls are required; all of it is markup."""
    calls = FMT.write_calls([("ping", "{}")])
    for mode in ("auto", "required"):
        grammar = tool_grammar(TOOLS, mode, True, FMT)
        for text in (calls, NO_TEXT + calls, f"<|close|>response<|sep|>{calls}", NO_TEXT + calls + END):
            assert accepts(grammar, text)
            assert merged(read(FMT, text)) == [*call(0, "ping", "{}"), Finished("tool_calls")]
    assert not accepts(tool_grammar(TOOLS, "required", True, FMT), NO_TEXT + END)


def test_reasoning_that_is_left_without_its_end() -> None:
    """Only an unconstrained model does that: what follows is no reasoning."""
    text = f"Hm.<|open|>response<|sep|>So.<|close|>response<|sep|>{END}"
    assert merged(read(FMT, text, reasoning=True)) == [Reasoning("Hm."), Text("So."), Finished("stop")]
    # What the grammar lets it think holds no mark that the reader takes for the end.
    closed = "<|close|>think<|sep|>"
    for mode in (True, "optional"):
        grammar = tool_grammar(TOOLS, "auto", True, FMT, mode)  # type: ignore[arg-type]
        assert accepts(grammar, f"<|open|>think<|sep|>Hm.{closed}{FMT.write_answer('So.', [])}")
        for left in FMT.reasoning.left_at if FMT.reasoning else ():
            assert not accepts(grammar, f"<|open|>think<|sep|>Hm.{left}{closed}{FMT.write_answer('So.', [])}")
    assert not accepts(tool_grammar(TOOLS, "auto", True, FMT, True), text)


def test_the_prompt_says_whether_it_reasons() -> None:
    made = templates.tokenizer(templates.KIMI_K3)
    assert detect(made).name == "kimi_k3"
    for thinking, mode in ((True, "open"), (False, "none")):
        prompt = render_text(made, FMT, [user("go")], TOOLS, AUTO, {"thinking": thinking})
        assert mode_of(FMT, prompt, templates.KIMI_K3, {}) == mode


def test_earlier_calls() -> None:
    """As the model writes them: text in its section, calls numbered from one in each answer."""
    made = templates.tokenizer(templates.KIMI_K3)
    turns = [user("go")]
    before = render_text(made, FMT, turns, TOOLS, AUTO)
    for n in range(3):
        turns += [
            calling((f"a{n}", "find", f'{{"q": "word {n}"}}'), (f"b{n}", "find-all_2", f'{{"n": {n}}}'), content="Hm."),
            result(f"a{n}", "one"),
            result(f"b{n}", "two"),
        ]
        prompt = render_text(made, FMT, turns, TOOLS, AUTO)
        assert prompt.startswith(before)
        written = prompt[len(before) :].partition("<|end_of_msg|>")[0]
        made_calls = [("find", f'{{"q": "word {n}"}}'), ("find-all_2", f'{{"n": {n}}}')]
        assert f"<|open|>response<|sep|>{written}" == FMT.write_answer("Hm.", made_calls)
        expected = [event for index, each in enumerate(made_calls) for event in call(index, *each)]
        assert merged(read(FMT, written)) == [Text("Hm."), *expected, Finished("tool_calls")]
        before = prompt
