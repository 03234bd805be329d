"""GLM's tags: pairs of keys and values, strings raw, on lines of their own (4.5, 4.6) or not (4.7 and later)."""

from __future__ import annotations

from decoding.formats.declaration import Format, ReasoningMarks
from decoding.formats.parts import Arguments, Literal, Name
from decoding.formats.wording import known_form
from schemas.spelling import Tags

_THINK = ReasoningMarks("<think>", "</think>")

GLM = Format(
    name="glm",
    models="GLM-4.5, 4.6",
    marker="<tool_call>",
    call=(
        Literal("<tool_call>"),
        Name(),
        Literal("\n"),
        Arguments(
            Tags(
                key_open="<arg_key>",
                to_string="</arg_key>\n<arg_value>",
                to_other="</arg_key>\n<arg_value>",
                close="</arg_value>",
                after="\n",
            )
        ),
        Literal("</tool_call>"),
    ),
    reasoning=_THINK,
    wording=known_form("<tool_call>NAME\n<arg_key>PARAMETER</arg_key>\n<arg_value>VALUE</arg_value>\n</tool_call>"),
)

GLM_47 = Format(
    name="glm_47",
    models="GLM-4.7 and later",
    marker="<tool_call>",
    call=(
        Literal("<tool_call>"),
        Name(),
        Arguments(
            Tags(
                key_open="<arg_key>",
                to_string="</arg_key><arg_value>",
                to_other="</arg_key><arg_value>",
                close="</arg_value>",
            )
        ),
        Literal("</tool_call>"),
    ),
    separator="",
    text_separator="",
    reasoning=_THINK,
    wording=known_form("<tool_call>NAME<arg_key>PARAMETER</arg_key><arg_value>VALUE</arg_value></tool_call>"),
)
