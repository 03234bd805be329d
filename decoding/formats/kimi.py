"""Kimi K2: a section of calls whose ids are ``functions.NAME:INDEX``."""

from __future__ import annotations

from decoding.formats.declaration import Format, ReasoningMarks, Section
from decoding.formats.parts import Arguments, Either, Gap, Index, Literal, Name
from decoding.formats.wording import known_form

KIMI = Format(
    name="kimi",
    models="Kimi K2 to K2.6",
    text_separator="",
    marker="<|tool_calls_section_begin|>",
    section=Section(open=(Literal("<|tool_calls_section_begin|>"),), separator="", close="<|tool_calls_section_end|>"),
    call=(
        Literal("<|tool_call_begin|>"),
        Either(("functions.", "")),
        Name(),
        Literal(":"),
        Index(),
        Gap(""),
        Literal("<|tool_call_argument_begin|>"),
        Arguments(),
        Gap(""),
        Literal("<|tool_call_end|>"),
    ),
    reasoning=ReasoningMarks("<think>", "</think>"),
    ids="functions",
    wording=known_form(
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>"
        '{"PARAMETER": VALUE}<|tool_call_end|><|tool_calls_section_end|>'
    ),
)
