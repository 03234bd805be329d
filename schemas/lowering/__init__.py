"""Shapes to the text of a grammar in llguidance's Lark dialect."""

from schemas.lowering.values import Lowering

__all__ = ["Lowering"]
