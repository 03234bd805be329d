"""Llama 3's JSON form: an answer that begins so is a call, and so is JSON behind ``<|python_tag|>``."""

from __future__ import annotations

from typing import Any

from decoding.formats.declaration import Format, Opening, Section
from decoding.formats.parts import Arguments, Either, Literal, Name
from decoding.formats.wording import known_form

_LIST = Section(open=(), separator="; ", close="")
_KEY = Either(("parameters", "arguments"))


def apart_from_calls(schema: dict[str, Any] | bool) -> dict[str, Any]:
    """The schema without the objects that have the members of a call, all other values as before. References to its
    root mean the root as it was written."""
    call = {"anyOf": [{"required": ["name", key]} for key in _KEY.texts]}
    if isinstance(schema, bool):
        return {"allOf": [schema], "not": call}
    dialect = {"$schema": schema["$schema"]} if "$schema" in schema else {}
    resource = {"$id": "urn:strictcall:response"} | {key: value for key, value in schema.items() if key != "$schema"}
    return dialect | {"allOf": [resource], "not": call}


LLAMA_JSON = Format(
    name="llama_json",
    models="Llama 3.1, 3.2 and 3.3",
    marker='{"name": "',
    marker_at="answer",
    answers_apart=apart_from_calls,
    section=_LIST,
    call=(Literal('{"name": "'), Name(), Literal('", "'), _KEY, Literal('": '), Arguments(), Literal("}")),
    others=(
        Opening(
            marker="<|python_tag|>",
            section=Section(open=(Literal("<|python_tag|>"),), separator="; ", close=""),
            call=(
                Literal("{"),
                Either(("", '"type": "function", ')),
                Literal('"name": "'),
                Name(),
                Literal('", "'),
                _KEY,
                Literal('": '),
                Arguments(),
                Literal("}"),
            ),
        ),
    ),
    wording=known_form('{"name": "NAME", "parameters": {"PARAMETER": VALUE}}'),
)
