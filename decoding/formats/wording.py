"""The wording that formats share whose models know tools: needed only where a chat template cannot show them."""

from __future__ import annotations

from decoding.formats.declaration import Wording


def known_form(example: str) -> Wording:
    """Tools as JSON, and the form of a call that the model has learnt."""
    return Wording(
        intro="You can call these functions:\n",
        outro=f"\n\nTo call a function, write:\n{example}",
        required="Your next answer has to be such a call.",
        result="Result of {name}:\n{content}",
    )
