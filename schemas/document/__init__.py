"""Schema documents: any draft in, a table of 2020-12 nodes out."""

from schemas.document.judge import validator_for
from schemas.document.loader import Document, load
from schemas.document.sharing import shared

__all__ = ["Document", "load", "shared", "validator_for"]
