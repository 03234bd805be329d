"""Fixed texts as symbols, and what stands beside them in one terminal."""

from __future__ import annotations

import json
import re

Special = tuple[tuple[str, int], ...]
"""Texts that are special tokens, and their ids."""


def pieces(text: str, special: Special) -> list[str]:
    """``text`` as symbols: its special tokens by their ids, the rest as strings."""
    ids = dict(special)
    parts = re.split(f"({'|'.join(map(re.escape, ids))})", text) if ids else [text]
    return [f"<[{ids[part]}]>" if part in ids else quoted(part) for part in parts if part]


def fixed(text: str, special: Special) -> str:
    return " ".join(pieces(text, special))


def before(text: str, expression: str, special: Special) -> tuple[str, str]:
    """Symbols, and a terminal's expression behind them, for ``text`` and then ``expression``: what stands in front of
    the text's last special token is a matter of its own."""
    found = pieces(text, special)
    if found and not found[-1].startswith("<["):
        return " ".join(found[:-1]), f"{found[-1]} {expression}"
    return " ".join(found), expression


def behind(expression: str, text: str, special: Special) -> tuple[str, str]:
    """A terminal's expression, and symbols behind it, for ``expression`` and then ``text``.

    The text is part of the terminal as far as no special token cuts it: the lexer takes the longest match and never
    goes back, so a terminal that can hold half of what follows it has to hold all of it.
    """
    found = pieces(text, special)
    if found and not found[0].startswith("<["):
        return f"{expression} {found[0]}", " ".join(found[1:])
    return expression, " ".join(found)


def quoted(text: str) -> str:
    """A Lark string of exactly this text."""
    return json.dumps(text, ensure_ascii=False)
