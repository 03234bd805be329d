"""The id of the request being answered: in its ``x-request-id`` header and in every log line about it."""

from __future__ import annotations

from contextvars import ContextVar
from secrets import token_hex

request_id: ContextVar[str] = ContextVar("request_id", default="-")


def new_request_id() -> str:
    """A fresh id, set for this request's task and all that it starts."""
    made = f"req_{token_hex(16)}"
    request_id.set(made)
    return made
