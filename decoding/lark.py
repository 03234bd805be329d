"""Pieces of llguidance's Lark dialect."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

SPACE = r"[ \t\r\n]*"
"""A regular expression of what the reader takes for white space."""


FEW_SPACES = r"[ \t\r\n]{0,4}"
"""The same where a model may write some: never without bounds, models loop in it."""


def lark(text: str) -> str:
    """A Lark string of exactly this text."""
    return json.dumps(text, ensure_ascii=False)


def regex(text: str) -> str:
    """A regular expression of exactly this text, for use between slashes."""
    return re.sub(r"([\\.^$*+?()\[\]{}|/])", r"\\\1", text).replace("\n", r"\n")


def spelled(special: Sequence[tuple[str, int]], text: str) -> str:
    """Fixed text as a Lark expression: its special tokens by their ids, the rest as strings."""
    ids = dict(special)
    pieces = re.split(f"({'|'.join(map(re.escape, ids))})", text) if ids else [text]
    return " ".join(f"<[{ids[piece]}]>" if piece in ids else lark(piece) for piece in pieces if piece)


def nested(name: str, grammar: str) -> str:
    """A rule that is a grammar of its own."""
    # The closing brace has to stand on a line of its own.
    return f"{name}: %lark {{\n{grammar.rstrip()}\n}}"


def without(expression: str, forbidden: Sequence[str]) -> str:
    """A terminal's body: the regular expression without what matches one of ``forbidden``."""
    return " & ".join([f"/{expression}/", *(f"~/{each}/" for each in forbidden)])
