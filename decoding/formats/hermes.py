"""Hermes: JSON in ``<tool_call>`` tags, as Hermes 2/3 and Qwen 2.5/3 write it."""

from __future__ import annotations

from decoding.formats.declaration import Format, Opening, ReasoningMarks, Wording
from decoding.formats.parts import Arguments, Gap, Literal, Name

HERMES = Format(
    name="hermes",
    models="Qwen2.5, Qwen3, Hermes 2/3, Granite 4 and others that write JSON in <tool_call>",
    marker="<tool_call>",
    call=(
        Literal('<tool_call>\n{"name": "'),
        Name(),
        Literal('", "arguments": '),
        Arguments(),
        Literal("}\n</tool_call>"),
    ),
    # Without line breaks. A spelling of its own, so that one token decides and the rest of the other is still forced.
    others=(
        Opening(
            marker="<tool_call>",
            call=(
                Literal('<tool_call>{"name": "'),
                Name(),
                Literal('",'),
                Gap(" "),
                Literal('"arguments":'),
                Gap(" "),
                Arguments(),
                Literal("}"),
                Gap(""),
                Literal("</tool_call>"),
            ),
        ),
    ),
    reasoning=ReasoningMarks("<think>", "</think>"),
    wording=Wording(
        intro="You can call functions. Their signatures are between <tools> and </tools>:\n<tools>\n",
        outro="\n</tools>\n\nTo call a function, write its name and a JSON object with its arguments like this:\n"
        '<tool_call>\n{"name": "NAME", "arguments": {"PARAMETER": VALUE}}\n</tool_call>',
        required="Your next answer has to be such a call.",
        result="<tool_response>\n{content}\n</tool_response>",
    ),
)
