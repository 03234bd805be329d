"""Declarations and detection."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from decoding.formats import Arguments, Format, Literal, Name, Wording, detect, explain, get, names
from tests.decoding.support import FORMATS

WORDING = Wording("", "", "{content}")
HERMES_TEMPLATE = "{% if tools %}<tools>{{ tools }}</tools>{% endif %}<tool_call>\n{'name': ...}\n</tool_call>"
PLAIN_TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}"


def tokenizer(template: object) -> SimpleNamespace:
    return SimpleNamespace(chat_template=template)


def test_names_and_get() -> None:
    assert {"hermes", "prompted"} <= set(names())
    assert all(get(name).name == name for name in names())
    with pytest.raises(ValueError, match="hermes"):
        get("none-such")


@pytest.mark.parametrize(
    ("template", "name", "word"),
    [
        (HERMES_TEMPLATE, "hermes", "<tool_call>"),
        ({"default": PLAIN_TEMPLATE, "tool_use": HERMES_TEMPLATE}, "hermes", "<tool_call>"),
        (PLAIN_TEMPLATE, "prompted", "no tools"),
        (None, "prompted", "no chat template"),
        ("{{ tools }} [TOOL_CALLS]", "prompted", "warning"),
        ("{{ tools }} <tool_call>\n<function=f>\n<parameter=p>", "prompted", "warning"),
        ("{{ tools }} <tool_call>f\n<arg_key>k</arg_key>", "prompted", "warning"),
    ],
)
def test_detect(template: object, name: str, word: str) -> None:
    assert detect(tokenizer(template)).name == name
    assert word in explain(tokenizer(template)).reason
    assert "\n" not in explain(tokenizer(template)).reason


def test_a_call_is_written_to_the_letter() -> None:
    arguments = '{"a":  "\\u00e5 </tool_call>"'  # broken JSON goes in as it is
    for fmt in FORMATS:
        assert arguments in fmt.write_call("f", arguments)
        assert fmt.write_call("f", "{}").startswith(fmt.marker)


@pytest.mark.parametrize(
    ("call", "marker", "separator"),
    [
        ((Name(), Literal("("), Arguments(), Literal(")")), "(", ""),
        ((Literal("<c>"), Name(), Literal("("), Arguments(), Literal(")")), "<d>", ""),
        ((Literal("<c>"), Name(), Arguments(), Literal(")")), "<c>", ""),
        ((Literal("<c>"), Name(), Literal("("), Arguments()), "<c>", ""),
        ((Literal("<c>"), Name(), Literal(")")), "<c>", ""),
        ((Literal("<c>"), Name(), Literal("("), Arguments(), Literal(")")), "<c>", ", "),
    ],
)
def test_declarations_that_cannot_be_read_are_refused(call: tuple[object, ...], marker: str, separator: str) -> None:
    with pytest.raises(ValueError, match="format x"):
        Format("x", "", marker, call, separator, WORDING)  # type: ignore[arg-type]
