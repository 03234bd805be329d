"""Qwen's XML form: a tag for the function and a tag for each parameter, strings raw on lines of their own.

Qwen3-Coder at times leaves ``<tool_call>`` out, with or without its end: that is a call too.
"""

from __future__ import annotations

from decoding.formats.declaration import Format, Opening, ReasoningMarks
from decoding.formats.parts import Arguments, Either, Literal, Name
from decoding.formats.wording import known_form
from schemas.spelling import Tags

_PARAMETERS = Arguments(
    Tags(
        key_open="<parameter=",
        to_string=">\n",
        to_other=">\n",
        close="\n</parameter>",
        after="\n",
        python_words=True,
    )
)

QWEN_XML = Format(
    name="qwen_xml",
    models="Qwen3-Coder, Qwen3.5 and later",
    marker="<tool_call>",
    call=(
        Literal("<tool_call>\n<function="),
        Name(),
        Literal(">\n"),
        _PARAMETERS,
        Literal("</function>\n</tool_call>"),
    ),
    others=(
        Opening(
            marker="<function=",
            call=(
                Literal("<function="),
                Name(),
                Literal(">\n"),
                _PARAMETERS,
                Literal("</function>"),
                Either(("\n</tool_call>", "")),
            ),
        ),
    ),
    reasoning=ReasoningMarks("<think>", "</think>"),
    text_separator="\n\n",
    wording=known_form(
        "<tool_call>\n<function=NAME>\n<parameter=PARAMETER>\nVALUE\n</parameter>\n</function>\n</tool_call>"
    ),
)
