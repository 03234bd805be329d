"""Mistral: ``[TOOL_CALLS]``, with a JSON list (to v3 and v7 tokenizers) or with name and ``[ARGS]`` (v11 and v13)."""

from __future__ import annotations

from decoding.formats.declaration import Format, ReasoningMarks, Section
from decoding.formats.parts import Arguments, CallId, Gap, Literal, Name
from decoding.formats.wording import known_form

_THINK = ReasoningMarks("[THINK]", "[/THINK]")

MISTRAL = Format(
    name="mistral",
    models="Mistral Small 3.2, Magistral, Devstral, Ministral 3",
    text_separator="",
    marker="[TOOL_CALLS]",
    call=(Literal("[TOOL_CALLS]"), Name(), CallId("[CALL_ID]"), Literal("[ARGS]"), Arguments()),
    separator="",
    reasoning=_THINK,
    ids="nine",
    wording=known_form('[TOOL_CALLS]NAME[ARGS]{"PARAMETER": VALUE}'),
)

MISTRAL_LIST = Format(
    name="mistral_list",
    models="Mistral 7B v0.3, Mixtral, Nemo, Mistral Small to 3.1",
    text_separator="",
    marker="[TOOL_CALLS]",
    section=Section(open=(Literal("[TOOL_CALLS]"), Gap(" "), Literal("[")), separator=", ", close="]"),
    call=(
        Literal('{"name": "'),
        Name(),
        Literal('", "arguments":'),
        Gap(" "),
        Arguments(),
        Literal("}"),
    ),
    reasoning=_THINK,
    ids="nine",
    wording=known_form('[TOOL_CALLS] [{"name": "NAME", "arguments": {"PARAMETER": VALUE}}]'),
)
