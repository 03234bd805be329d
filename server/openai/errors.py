"""Errors in OpenAI's shape: one object with the four keys, always all of them."""

from __future__ import annotations

from starlette.responses import Response

from server.errors import ApiError
from server.one_line_json import one_line_json


def error_body(error: ApiError) -> bytes:
    """``{"error": {...}}`` as UTF-8 JSON."""
    return one_line_json(
        {"error": {"message": error.message, "type": error.type, "param": error.param, "code": error.code}}
    )


def error_response(error: ApiError) -> Response:
    """The error as a whole answer, with its status and headers."""
    return Response(error_body(error), error.status, error.headers, "application/json")


def error_frame(error: ApiError) -> bytes:
    """The last frame of a stream that failed after its headers were sent."""
    return b"data: " + error_body(error) + b"\n\n"
