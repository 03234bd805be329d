"""What surrounds every request: its id, the key check, the last resort for faults, and the counting."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.auth import Keys
from server.errors import ApiError, ClientGone
from server.metrics import Metrics
from server.request_id import new_request_id
from server.serving import api_error

GONE = 499  # nginx's status for a client that closed its connection; nobody reads it but the metrics


class Envelope:
    """ASGI middleware around the whole app. ``error_response`` writes errors in the shape that the path calls for.

    ``direct``: those of the app's routes that are answered from here, without parameters in their path. What the app
    would do on the way to them takes longer than to read a request.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Keys,
        metrics: Metrics,
        error_response: Callable[[ApiError], Response],
        direct: Sequence[Route],
    ) -> None:
        self._app = app
        self._keys = keys
        self._metrics = metrics
        self._error_response = error_response
        self._direct = {(method, route.path): route for route in direct for method in route.methods or ()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        own_id = new_request_id()
        started = time.perf_counter()
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = own_id
            await send(message)

        try:
            # Where the app is mounted in another one, the path begins with where.
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            if path.startswith("/v1/"):
                self._keys.check(Headers(scope=scope).get("authorization"))
            direct = self._direct.get((scope["method"], path))
            if direct is None:
                await self._app(scope, receive, send_with_id)
            else:
                scope["route"] = direct
                response: Response = await direct.endpoint(Request(scope, receive, send_with_id))
                await response(scope, receive, send_with_id)
        except ClientGone:
            status = GONE
            self._metrics.disconnects.inc()
        except Exception as fault:
            if status:
                raise
            await self._error_response(api_error(fault))(scope, receive, send_with_id)
        finally:
            route = getattr(scope.get("route"), "path", "unmatched")
            self._metrics.requests.labels(route, str(status or GONE)).inc()
            self._metrics.request_seconds.labels(route).observe(time.perf_counter() - started)
