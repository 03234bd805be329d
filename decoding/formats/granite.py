"""Granite 3: a JSON list behind ``<|tool_call|>`` (3.1 spells it ``<tool_call>``). Granite 4 writes as Hermes does."""

from __future__ import annotations

from decoding.formats.declaration import Format, Opening, ReasoningMarks, Section
from decoding.formats.parts import Arguments, Gap, Literal, Name
from decoding.formats.wording import known_form

_CALL = (Literal('{"name": "'), Name(), Literal('", "arguments": '), Arguments(), Literal("}"))


def _list(marker: str) -> Section:
    return Section(open=(Literal(marker), Gap(""), Literal("[")), separator=", ", close="]")


GRANITE = Format(
    name="granite",
    models="Granite 3.0 to 3.3",
    text_separator="",
    marker="<|tool_call|>",
    section=_list("<|tool_call|>"),
    call=_CALL,
    others=(Opening(marker="<tool_call>", section=_list("<tool_call>"), call=_CALL),),
    reasoning=ReasoningMarks("<think>", "</think>"),
    wording=known_form('<|tool_call|>[{"name": "NAME", "arguments": {"PARAMETER": VALUE}}]'),
)
