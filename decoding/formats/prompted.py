"""Prompted: for models whose chat template knows no tools. The prompt explains them and shows how by a few examples.

Wording and layout are what a 135M model was found to follow, see docs/PROMPTED.md: a fenced block as the call, and
examples as real chat turns, answers in text and calls by turns with a call last.
"""

from __future__ import annotations

from decoding.formats.declaration import Format, Wording
from decoding.formats.parts import Arguments, Literal, Name

_PARTS = (Literal("```tool\n"), Name(), Literal("("), Arguments(), Literal(")\n```"))


def _block(name: str, arguments: str) -> str:
    return f"```tool\n{name}({arguments})\n```"


def _result(text: str) -> str:
    return f"```result\n{text}\n```"


PROMPTED = Format(
    name="prompted",
    models="any model without tool training",
    marker="```tool\n",
    marker_at="line",
    call=_PARTS,
    native_tools=False,
    wording=Wording(
        intro="You can use these tools:\n",
        outro="\n\nTo use a tool, reply with a block like this and nothing else:\n"
        + _block("name", '{"argument": value}')
        + "\nIf no tool is needed, reply in plain text.",
        required="Your next reply has to be such a block.",
        tool_as_json=False,
        result=_result("{content}"),
        examples=(
            ("user", "Tell me a riddle."),
            ("assistant", "What has hands but cannot clap? A clock."),
            ("user", "What does page 12 say?"),
            ("assistant", _block("read_page", '{"number": 12}')),
            ("user", _result("Page 12 is about birds.")),
            ("assistant", "Page 12 is about birds."),
            ("user", "Hello!"),
            ("assistant", "Hello! How can I help you?"),
            ("user", "How many miles are 5 km?"),
            ("assistant", _block("convert_length", '{"amount": 5, "from": "km", "to": "miles"}')),
            ("user", _result("3.1")),
            ("assistant", "5 km are 3.1 miles."),
            ("user", "Explain what a verb is."),
            ("assistant", "A verb is a word for an action."),
            ("user", "How warm is it in Oslo?"),
            ("assistant", _block("get_temperature", '{"city": "Oslo"}')),
            ("user", _result("11 C")),
            ("assistant", "It is 11 °C in Oslo."),
        ),
    ),
)
