"""Sets of JSON numbers and their spellings."""

from schemas.numbers.sets import NumberSet

__all__ = ["NumberSet"]
