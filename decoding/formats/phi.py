"""Phi-4-mini: a JSON list between its call tokens, or behind ``functools`` where the prompt asks for that."""

from __future__ import annotations

from decoding.formats.declaration import Format, Opening, Section, Wording
from decoding.formats.parts import Arguments, Gap, Literal, Name

_CALL = (Literal('{"name": "'), Name(), Literal('", "arguments":'), Gap(" "), Arguments(), Literal("}"))

PHI = Format(
    name="phi",
    models="Phi-4-mini",
    text_separator="",
    marker="<|tool_call|>",
    section=Section(open=(Literal("<|tool_call|>["),), separator=", ", close="]<|/tool_call|>"),
    call=_CALL,
    others=(
        Opening(
            marker="functools[",
            section=Section(open=(Literal("functools["),), separator=", ", close="]"),
            call=_CALL,
        ),
    ),
    # The models' own template takes tools in the system message, so they are written there as it would.
    wording=Wording(
        intro="You are a helpful assistant with some tools.<|tool|>[",
        between=", ",
        outro="]<|/tool|>\nTo use tools, respond in this format: "
        '<|tool_call|>[{"name": "NAME", "arguments": {"PARAMETER": VALUE}}]<|/tool_call|>',
        required="Your next answer has to be such a call.",
        result="Result of {name}:\n{content}",
    ),
)
