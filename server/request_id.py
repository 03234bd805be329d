"""The id of the request being answered: in its ``x-request-id`` header and in every log line about it."""

from __future__ import annotations

import uuid
from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="-")


def new_request_id() -> str:
    """A fresh id, set for this request's task and all that it starts."""
    made = f"req_{uuid.uuid4().hex}"
    request_id.set(made)
    return made
