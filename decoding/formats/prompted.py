"""Prompted: for models whose chat template knows no tools. The prompt explains them, in plain words."""

from __future__ import annotations

from decoding.formats.declaration import Arguments, Format, Literal, Name, Wording

PROMPTED = Format(
    name="prompted",
    models="any model without tool training",
    marker="Call: ",
    marker_at_line_start=True,
    call=(Literal("Call: "), Name(), Literal("("), Arguments(), Literal(")")),
    separator="\n",
    native_tools=False,
    wording=Wording(
        intro="You can use these tools:\n",
        outro='\n\nTo use a tool, reply with:\nCall: name({"parameter": value})',
        required="Reply with such a call now.",
        result="Result: {content}",
    ),
)
