"""e1: whatever stands as the arguments of an earlier call, the conversation is rendered, in every format."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from decoding import Format, ToolChoice, render_text
from decoding.formats import get, text_behind_arguments
from tests.decoding import templates
from tests.decoding.support import ALL_FORMATS, TOOLS
from tests.decoding.test_rendering import OWN, calling, result, user
from tests.decoding.test_spelled_rendering import NATIVE

TEMPLATES = [(name, template) for template, name in OWN] + [*NATIVE, ("kimi_k3", templates.KIMI_K3)]
TEMPLATES += [("hermes", templates.ITEMS), ("hermes", templates.STRINGS), ("prompted", templates.GEMMA_3)]
TEMPLATES += [("command_r", templates.COMMAND_R)]
TEMPLATES += [(fmt.name, templates.PLAIN) for fmt in ALL_FORMATS]
MADE = [(get(name), templates.tokenizer(template)) for name, template in TEMPLATES]
AUTO = ToolChoice("auto")


def prompt(made: Any, fmt: Format, arguments: Any) -> str:
    history = [
        user("first question"),
        calling(("a", "find", '{"q": "before"}'), ("b", "find", arguments), ("c", "find-all_2", '{"n": 7}')),
        result("a", "result one"),
        result("b", "result two"),
        result("c", "result three"),
        {"role": "assistant", "content": "the answer"},
        user("last question"),
    ]
    return render_text(made, fmt, history, TOOLS, AUTO)


def check(fmt: Format, made: Any, arguments: str) -> None:
    found, plain = prompt(made, fmt, arguments), prompt(made, fmt, '{"q": "x"}')
    # The rest of the prompt is what it is with whole arguments; a result may follow its own call.
    begin = render_text(made, fmt, [user("first question")], TOOLS, AUTO)
    assert found.startswith(begin)
    assert plain.startswith(begin)
    assert found[found.rindex("result three") :] == plain[plain.rindex("result three") :]
    for piece in ("before", "result one", "result two", "find-all_2", "7"):
        assert piece in found[len(begin) :]
    if arguments and not is_object(arguments):
        # As it stands, or where a call cannot be written into text (Harmony) as a JSON string of it.
        as_string = json.dumps(arguments, ensure_ascii=False)
        assert (as_string if fmt.channels and "<|channel|>" in made.chat_template else arguments) in found[len(begin) :]


def is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


PIECES = ["{", "}", "[", "]", '"', "\\", ":", ",", '{"q": "x', '{"q": "x"}', "null", "\n", "{{ x }}", "{% end %}", "é"]
PIECES += sorted({text for fmt in ALL_FORMATS for text in (fmt.marker, text_behind_arguments(fmt.call)) if text})


@settings(max_examples=25, deadline=None)
@given(arguments=st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=6).map("".join))
@example('{"q": "x')
@example("")
@example("null")
@example('"x"')
@example("[" * 100_000)
@example('{"q":' * 5_000)
@example('{"q": 1, "q": 2, "more": NaN, "big": 1e999, "long": ' + "9" * 5_000 + "}")
def test_any_text_as_arguments(arguments: str) -> None:
    for fmt, made in MADE:
        check(fmt, made, arguments)


@pytest.mark.parametrize("arguments", [None, [], [1], 5, True, "x", {}, {"q": {"deep": [None]}}, {"": 1}])
def test_any_value_as_arguments(arguments: Any) -> None:
    for fmt, made in MADE:
        assert "last question" in prompt(made, fmt, arguments)
