"""Command R and R+: a JSON list of actions in a fence behind ``Action:``.

The models' own tool template leaves no room for text: an answer without a call is one of a pseudo-tool there, after
which the conversation has to be rendered anew by another template. So tools are explained in the prompt of their chat
template instead, calls in the form that the models have learnt, and text is text.
"""

from __future__ import annotations

from decoding.formats.declaration import Format, Section, Wording
from decoding.formats.parts import Arguments, Literal, Name

_OPEN, _CLOSE = "Action: ```json\n[\n", "\n]```"
_CALL = (
    Literal('    {\n        "tool_name": "'),
    Name(),
    Literal('",\n        "parameters": '),
    Arguments(),
    Literal("\n    }"),
)
_EXAMPLE = f'{_OPEN}    {{\n        "tool_name": "NAME",\n        "parameters": {{"PARAMETER": VALUE}}\n    }}{_CLOSE}'

COMMAND_R = Format(
    name="command_r",
    models="Command R, Command R+",
    marker="Action: ```json",
    marker_at="line",
    section=Section(open=(Literal(_OPEN),), separator=",\n", close=_CLOSE),
    call=_CALL,
    native_tools=False,
    wording=Wording(
        intro="You can use these tools:\n",
        outro=f"\n\nTo use tools, answer with the word Action and a JSON list of calls, like this:\n{_EXAMPLE}\n"
        "If no tool is needed, answer in plain text.",
        required="Your next answer has to be such a list.",
        result="Result of {name}:\n{content}",
    ),
)
