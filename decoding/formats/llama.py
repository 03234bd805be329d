"""Llama 3's JSON form: an answer that begins with ``{"name": "`` is a call."""

from __future__ import annotations

from decoding.formats.declaration import Arguments, Format, Literal, Name, Section
from decoding.formats.wording import known_form

LLAMA_JSON = Format(
    name="llama_json",
    models="Llama 3.1, 3.2 and 3.3",
    marker='{"name": "',
    marker_at="answer",
    section=Section(open=(), separator="; ", close=""),
    call=(Literal('{"name": "'), Name(), Literal('", "parameters": '), Arguments(), Literal("}")),
    wording=known_form('{"name": "NAME", "parameters": {"PARAMETER": VALUE}}'),
)
