"""DeepSeek's token forms: V3 and R1 with JSON in a fence, V3.1 with bare JSON."""

from __future__ import annotations

from decoding.formats.declaration import Format, ReasoningMarks, Section
from decoding.formats.parts import Arguments, Gap, Literal, Name
from decoding.formats.wording import known_form

_THINK = ReasoningMarks("<think>", "</think>")
_OPEN, _CLOSE = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"

DEEPSEEK = Format(
    name="deepseek",
    models="DeepSeek V3, V3-0324, R1, R1-0528",
    text_separator="",
    marker=_OPEN,
    section=Section(open=(Literal(_OPEN),), separator="\n", close=_CLOSE),
    call=(
        Literal("<｜tool▁call▁begin｜>function<｜tool▁sep｜>"),
        Name(),
        Literal("\n```json\n"),
        Arguments(),
        Literal("\n```<｜tool▁call▁end｜>"),
    ),
    reasoning=_THINK,
    wording=known_form(
        f"{_OPEN}<｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n"
        f'```json\n{{"PARAMETER": VALUE}}\n```<｜tool▁call▁end｜>{_CLOSE}'
    ),
)

DEEPSEEK_V31 = Format(
    name="deepseek_v31",
    models="DeepSeek V3.1",
    text_separator="",
    marker=_OPEN,
    section=Section(open=(Literal(_OPEN),), separator="", close=_CLOSE),
    call=(
        Literal("<｜tool▁call▁begin｜>"),
        Name(),
        Literal("<｜tool▁sep｜>"),
        Gap(""),
        Arguments(),
        Literal("<｜tool▁call▁end｜>"),
    ),
    reasoning=_THINK,
    wording=known_form(
        f'{_OPEN}<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{{"PARAMETER": VALUE}}<｜tool▁call▁end｜>{_CLOSE}'
    ),
)
