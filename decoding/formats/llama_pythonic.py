"""Llama's Python form: an answer that is a list of Python calls, with keyword arguments."""

from __future__ import annotations

from decoding.formats.declaration import Format, Opening, Section
from decoding.formats.parts import Arguments, Literal, Name
from decoding.formats.wording import known_form
from schemas.spelling import Keywords

_CALL = (Name(), Literal("("), Arguments(Keywords()), Literal(")"))

LLAMA_PYTHONIC = Format(
    name="llama_pythonic",
    models="Llama 3.2 1B and 3B, Llama 4, with a template that asks for Python calls",
    marker="[",
    marker_at="answer",
    section=Section(open=(Literal("["),), separator=", ", close="]"),
    call=_CALL,
    others=(
        Opening(
            marker="<|python_start|>",
            section=Section(open=(Literal("<|python_start|>["),), separator=", ", close="]<|python_end|>"),
            call=_CALL,
        ),
    ),
    wording=known_form("[NAME(PARAMETER=VALUE, PARAMETER=VALUE), NAME()]"),
)
