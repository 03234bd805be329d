"""Harmony, as gpt-oss writes it: messages with channels; a call is a message to ``functions.NAME``.

The header's recipient stands before or behind the channel. Renderers write both, the models too.
"""

from __future__ import annotations

from decoding.formats.declaration import Channels, Format, ReasoningMarks, Section
from decoding.formats.parts import Arguments, Literal, Name
from decoding.formats.wording import known_form

_CHANNELS = Channels(
    start="<|start|>",
    role="assistant",
    channel="<|channel|>",
    constrain="<|constrain|>",
    body="<|message|>",
    end="<|end|>",
    call_end="<|call|>",
    answer_end="<|return|>",
    reasoning="analysis",
    aside="commentary",
    text="final",
    recipients="functions.",
)

HARMONY = Format(
    name="harmony",
    models="gpt-oss",
    text_separator="",
    marker=" to=functions.",
    section=Section(open=(), separator="<|start|>assistant", close=""),
    call=(
        Literal(" to=functions."),
        Name(),
        Literal("<|channel|>commentary <|constrain|>json<|message|>"),
        Arguments(),
        Literal("<|call|>"),
    ),
    reasoning=ReasoningMarks("<|channel|>analysis<|message|>", "<|end|><|start|>assistant"),
    channels=_CHANNELS,
    wording=known_form('<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{"PARAMETER": VALUE}'),
)
