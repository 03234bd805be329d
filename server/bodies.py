"""Request bodies: read within a limit, then parsed as JSON."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any

import orjson
from starlette.requests import Request

from server.errors import ApiError, ClientGone, bad_request
from server.http_protocol import WHOLE_BODY

_DISCARD_TIMES = 8
_DISCARD_SECONDS = 10.0
# orjson reads an integer beyond 64 bits as a double; a schema's bound must keep its digits. To look for a text takes a
# tenth of the time of looking for a pattern, which tries again at every byte.
_AS_ZERO = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER = b"0" * 19


async def read_body(request: Request, max_bytes: int, silence: float) -> bytes:
    """The request's body. ``silence`` is the longest wait for its next piece, in seconds.

    Raises ApiError (408, 413) and ClientGone.
    """
    declared = request.headers.get("content-length", "")
    too_large = declared.isdecimal() and int(declared) > max_bytes
    at_hand: Callable[[], bytes | None] = request.scope.get("extensions", {}).get(WHOLE_BODY, _not_known)
    if not too_large and (whole := at_hand()) is not None:
        if len(whole) > max_bytes:
            raise _too_large(max_bytes)
        return whole
    parts: list[bytes] = []
    size = 0
    more = True
    while more:
        try:
            async with asyncio.timeout(silence):
                message = await request.receive()
        except TimeoutError:
            raise _too_slow(silence) from None
        if message["type"] == "http.disconnect":
            raise ClientGone
        part: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        size += len(part)
        too_large = too_large or size > max_bytes
        if too_large:
            if more:
                await _discard_rest(request, max_bytes)
            raise _too_large(max_bytes)
        parts.append(part)
    return b"".join(parts)


def json_object(body: bytes) -> dict[str, Any]:
    """``body`` as a JSON object. Raises ApiError 400."""
    if not body:
        raise bad_request("The request body is empty; a JSON object is needed.", code="invalid_json")
    value = parse_json(body)
    if not isinstance(value, dict):
        raise bad_request("The request body must be a JSON object.", code="invalid_json")
    return value


def parse_json(body: bytes) -> Any:
    """Parse ``body``; integers keep every digit, and of a repeated key the last one counts.

    Raises ApiError 400 that says where the fault is.
    """
    try:
        value = orjson.loads(body)
        if _LONG_NUMBER in body.translate(_AS_ZERO):
            value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise bad_request(f"The request body is not valid JSON: {error}", code="invalid_json") from None
    return value


def _not_known() -> None:
    pass


async def _discard_rest(request: Request, max_bytes: int) -> None:
    """Read on for a while: a client that is still sending when the connection closes never sees the answer."""
    left = _DISCARD_TIMES * max_bytes
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DISCARD_SECONDS):
            while left > 0:
                message = await request.receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _too_slow(silence: float) -> ApiError:
    """RFC 9110, 15.5.9: the connection is closed with it, for the rest of the body may still come."""
    message = f"The request body stopped arriving: nothing came for {silence:g} seconds (--receive-timeout)."
    return ApiError(408, message, code="request_timeout", headers={"connection": "close"})


def _too_large(max_bytes: int) -> ApiError:
    return ApiError(
        413,
        f"The request body is larger than {max_bytes} bytes, the limit of this server.",
        code="request_too_large",
        headers={"connection": "close"},
    )
