"""Command R7B and Command A: a list of actions with numbers, and marks around the answer's text."""

from __future__ import annotations

from decoding.formats.declaration import Format, ReasoningMarks, Section, TextMarks
from decoding.formats.parts import Arguments, Index, Literal, Name
from decoding.formats.wording import known_form

COHERE = Format(
    name="cohere",
    models="Command R7B, Command A",
    text_separator="",
    marker="<|START_ACTION|>",
    section=Section(
        open=(Literal("<|START_ACTION|>[\n    "),),
        separator=",\n    ",
        close="\n]<|END_ACTION|>",
    ),
    call=(
        Literal('{"tool_call_id": "'),
        Index(),
        Literal('", "tool_name": "'),
        Name(),
        Literal('", "parameters": '),
        Arguments(),
        Literal("}"),
    ),
    reasoning=ReasoningMarks("<|START_THINKING|>", "<|END_THINKING|>"),
    text=TextMarks("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    wording=known_form(
        '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "NAME", "parameters": {"PARAMETER": VALUE}}\n]'
        "<|END_ACTION|>"
    ),
)
