"""Shapes to the text of a grammar in llguidance's Lark dialect."""

from schemas.lowering.text import MAX_DEPTH, Text
from schemas.lowering.values import Lowering

__all__ = ["MAX_DEPTH", "Lowering", "Text"]
