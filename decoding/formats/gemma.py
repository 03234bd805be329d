"""Gemma's form: ``call:NAME{name:value,…}`` between two tokens, with strings between quotes of their own."""

from __future__ import annotations

from decoding.formats.declaration import Format, ReasoningMarks
from decoding.formats.parts import Arguments, Literal, Name
from decoding.formats.wording import known_form
from schemas.spelling import Quoted

GEMMA = Format(
    name="gemma",
    models="Gemma 4",
    marker="<|tool_call>",
    call=(Literal("<|tool_call>call:"), Name(), Arguments(Quoted('<|"|>')), Literal("<tool_call|>")),
    separator="",
    text_separator="",
    reasoning=ReasoningMarks("<|channel>thought", "<channel|>"),
    wording=known_form('<|tool_call>call:NAME{PARAMETER:<|"|>TEXT<|"|>,PARAMETER:NUMBER}<tool_call|>'),
)

FUNCTIONGEMMA = Format(
    name="functiongemma",
    models="FunctionGemma",
    marker="<start_function_call>",
    call=(Literal("<start_function_call>call:"), Name(), Arguments(Quoted("<escape>")), Literal("<end_function_call>")),
    separator="",
    text_separator="",
    wording=known_form(
        "<start_function_call>call:NAME{PARAMETER:<escape>TEXT<escape>,PARAMETER:NUMBER}<end_function_call>"
    ),
)
