"""Schema documents: any draft in, a table of 2020-12 nodes out."""

from schemas.document.judge import validator_for
from schemas.document.loader import Document, load

__all__ = ["Document", "load", "validator_for"]
