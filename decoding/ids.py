"""Call ids, of the kind that a format's templates demand."""

from __future__ import annotations

import hashlib
import secrets
import string

_ALPHABET = string.ascii_letters + string.digits


def new_call_id() -> str:
    """``call_`` and 24 random letters and digits."""
    return "call_" + _random(24)


def new_short_id() -> str:
    """Nine random letters and digits, as Mistral's templates demand."""
    return _random(9)


def short_id_of(call_id: str) -> str:
    """The id itself when it is nine letters and digits, else nine that always are the same for it."""
    if len(call_id) == 9 and call_id.isascii() and call_id.isalnum():
        return call_id
    return hashlib.sha256(call_id.encode()).hexdigest()[:9]


def _random(length: int) -> str:
    # One number of enough bits: to ask the system for every letter takes twenty times as long.
    number = secrets.randbelow(len(_ALPHABET) ** length)
    letters = []
    for _ in range(length):
        number, letter = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[letter])
    return "".join(letters)
