"""DeepSeek's markup language, V3.2 and later: ``<｜DSML｜invoke>`` and ``<｜DSML｜parameter>`` tags that say themselves
whether a value is a raw string or JSON. V4 has another word for the section, V4.1 a space behind ``｜DSML｜``."""

from __future__ import annotations

from decoding.formats.declaration import Format, ReasoningMarks, Section
from decoding.formats.parts import Arguments, Literal, Name
from decoding.formats.wording import known_form
from schemas.spelling import Tags


def _format(name: str, models: str, mark: str, section: str) -> Format:
    """``mark`` is what tags begin with, behind ``<`` or ``</``."""
    opening, closing = f"<{mark}{section}>", f"</{mark}{section}>"
    return Format(
        name=name,
        models=models,
        marker=opening,
        section=Section(open=(Literal(f"{opening}\n"),), separator="", close=closing),
        call=(
            Literal(f'<{mark}invoke name="'),
            Name(),
            Literal('">'),
            Arguments(
                Tags(
                    key_open=f'\n<{mark}parameter name="',
                    to_string='" string="true">',
                    to_other='" string="false">',
                    close=f"</{mark}parameter>",
                    empty="\n",
                )
            ),
            Literal(f"\n</{mark}invoke>\n"),
        ),
        text_separator="\n\n",
        reasoning=ReasoningMarks("<think>", "</think>"),
        wording=known_form(
            f'{opening}\n<{mark}invoke name="NAME">\n'
            f'<{mark}parameter name="PARAMETER" string="true|false">VALUE</{mark}parameter>\n'
            f"</{mark}invoke>\n{closing}"
        ),
    )


DEEPSEEK_V32 = _format("deepseek_v32", "DeepSeek V3.2", "｜DSML｜", "function_calls")
DEEPSEEK_V4 = _format("deepseek_v4", "DeepSeek V4", "｜DSML｜", "tool_calls")
DEEPSEEK_V41 = _format("deepseek_v41", "DeepSeek V4.1", "｜DSML｜ ", "calls")
