"""Kimi K3: sections in tags of three special tokens, arguments in tags that tell their type.

The answer's text stands in a section of its own, and does so when there is none; the prompt has opened that of the
reasoning, or that of the text.
"""

from __future__ import annotations

from decoding.formats.declaration import Format, ReasoningMarks, Section, TextMarks
from decoding.formats.parts import Arguments, Index, Literal, Name
from decoding.formats.wording import known_form
from schemas.spelling import KIND, Tags

_SEP = "<|sep|>"


def _open(tag: str) -> str:
    return f"<|open|>{tag}{_SEP}"


def _close(tag: str) -> str:
    return f"<|close|>{tag}{_SEP}"


KIMI_K3 = Format(
    name="kimi_k3",
    models="Kimi K3",
    text_separator="",
    marker=_open("tools"),
    section=Section(open=(Literal(_open("tools")),), separator="", close=_close("tools")),
    call=(
        Literal('<|open|>call tool="'),
        Name(),
        Literal('" index="'),
        Index(in_answer=True),
        Literal(f'"{_SEP}'),
        Arguments(
            Tags(
                key_open='<|open|>argument key="',
                to_string=f'" type="string"{_SEP}',
                to_other=f'" type="{KIND}"{_SEP}',
                close=_close("argument"),
                escapes=(("&", "&amp;"), ('"', "&quot;")),
            )
        ),
        Literal(_close("call")),
    ),
    reasoning=ReasoningMarks(_open("think"), _close("think"), left_at=(_open("response"), _open("tools"))),
    text=TextMarks(_open("response"), _close("response"), always=True, end=_close("message")),
    wording=known_form(
        f'{_open("tools")}<|open|>call tool="NAME" index="1"{_SEP}'
        f'<|open|>argument key="PARAMETER" type="TYPE"{_SEP}VALUE{_close("argument")}{_close("call")}{_close("tools")}'
    ),
)
