"""MiniMax M2: a section of ``<invoke>`` tags, a ``<parameter>`` tag each, strings raw."""

from __future__ import annotations

from decoding.formats.declaration import Format, ReasoningMarks, Section
from decoding.formats.parts import Arguments, Literal, Name
from decoding.formats.wording import known_form
from schemas.spelling import Tags

MINIMAX = Format(
    name="minimax",
    models="MiniMax M2 to M2.7",
    marker="<minimax:tool_call>",
    section=Section(open=(Literal("<minimax:tool_call>\n"),), separator="", close="</minimax:tool_call>"),
    call=(
        Literal('<invoke name="'),
        Name(),
        Literal('">\n'),
        Arguments(Tags(key_open='<parameter name="', to_string='">', to_other='">', close="</parameter>", after="\n")),
        Literal("</invoke>\n"),
    ),
    reasoning=ReasoningMarks("<think>", "</think>"),
    wording=known_form(
        '<minimax:tool_call>\n<invoke name="NAME">\n<parameter name="PARAMETER">VALUE</parameter>\n</invoke>\n'
        "</minimax:tool_call>"
    ),
)
