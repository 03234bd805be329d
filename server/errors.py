"""Faults as the server knows them, before a wire protocol gives them its shape."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(eq=False)
class ApiError(Exception):
    """A request that is answered with an error.

    ``status`` is the HTTP status, ``param`` the field at fault written as a path (``tools[0].function.name``), ``code``
    the machine-readable reason. Raised anywhere on a request's way; each protocol writes it in its own shape.
    """

    status: int
    message: str
    type: str = "invalid_request_error"
    param: str | None = None
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # What a client sent may stand in it, and may be as long as a body.
        self.message = _short(self.message, 2000)
        self.param = None if self.param is None else _short(self.param, 300)

    def __str__(self) -> str:
        return self.message


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


class ClientGone(Exception):
    """The client closed its connection; nobody is left to answer."""


class GuaranteeError(RuntimeError):
    """Generated calls or text broke the contract and sampling again did not help. Never shown as an answer."""


def bad_request(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    """A fault of the client: 400."""
    return ApiError(400, message, param=param, code=code)


def overloaded(message: str, retry_after: int = 1) -> ApiError:
    """The queue is full: 429, try again after ``retry_after`` seconds."""
    return ApiError(
        429, message, type="rate_limit_error", code="server_overloaded", headers={"retry-after": str(retry_after)}
    )


def unavailable(message: str, retry_after: int = 5) -> ApiError:
    """Loading, stopping, or without an engine: 503, try again after ``retry_after`` seconds."""
    return ApiError(
        503, message, type="server_error", code="service_unavailable", headers={"retry-after": str(retry_after)}
    )


def internal(message: str, code: str | None = None) -> ApiError:
    """A fault of the server: 500."""
    return ApiError(500, message, type="server_error", code=code)
