"""API keys."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from server.errors import ApiError


class Keys:
    """The keys that open ``/v1``. None at all leaves it open."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._digests = [_digest(key.encode()) for key in keys]

    def check(self, authorization: str | None) -> None:
        """Raises ApiError 401 unless ``authorization`` is ``Bearer`` and one of the keys.

        Every key is compared, each in constant time, so that timing tells nothing about any of them.
        """
        if not self._digests:
            return
        scheme, _, given = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not given.strip():
            raise _unauthorized(
                "You didn't provide an API key. Send it in an Authorization header using Bearer auth "
                "(i.e. Authorization: Bearer YOUR_KEY)."
            )
        digest = _digest(given.strip().encode("latin-1"))  # as header bytes are read
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        if not any(matches):
            raise _unauthorized("Incorrect API key provided.")


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()


def _unauthorized(message: str) -> ApiError:
    return ApiError(401, message, code="invalid_api_key", headers={"www-authenticate": "Bearer"})
