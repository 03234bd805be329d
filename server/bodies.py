"""Request bodies: read within a limit, then parsed as JSON."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request

from server.errors import ApiError, ClientGone, bad_request

_DISCARD_TIMES = 8
_DISCARD_SECONDS = 10.0
# orjson reads an integer beyond 64 bits as a double; a schema's bound must keep its digits.
_LONG_NUMBER = re.compile(rb"[0-9]{19}")


async def read_json_object(request: Request, max_bytes: int, silence: float) -> dict[str, Any]:
    """The request's body as a JSON object. ``silence`` is the longest wait for its next piece, in seconds.

    Raises ApiError (400, 408, 413) and ClientGone.
    """
    body = await _read(request, max_bytes, silence)
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
        if _LONG_NUMBER.search(body):
            value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise bad_request(f"The request body is not valid JSON: {error}", code="invalid_json") from None
    return value


async def _read(request: Request, max_bytes: int, silence: float) -> bytes:
    declared = request.headers.get("content-length", "")
    too_large = declared.isdecimal() and int(declared) > max_bytes
    parts: list[bytes] = []
    size = 0
    try:
        stream = request.stream()
        while True:
            async with asyncio.timeout(silence):
                part = await anext(stream, None)
            if part is None:
                break
            if not too_large:
                parts.append(part)
                size += len(part)
                too_large = size > max_bytes
            if too_large:
                await _discard_rest(request, max_bytes)
                break
    except ClientDisconnect:
        raise ClientGone from None
    except TimeoutError:
        raise _too_slow(silence) from None
    if too_large:
        raise _too_large(max_bytes)
    return b"".join(parts)


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
