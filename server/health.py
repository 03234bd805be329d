"""What orchestrators ask: cheap answers that never wait for the engine."""

from __future__ import annotations

from importlib.metadata import version

import orjson
from fastapi import APIRouter
from starlette.responses import Response

from server.engine_client import EngineClient, EngineDeadError
from server.serving import Serving


def health_routes(serving: Serving) -> APIRouter:
    router = APIRouter()

    @router.get("/health/live", response_model=None)
    async def live() -> Response:
        """200 while a restart would not help; 503 when the engine has died."""
        return _status(*(("engine dead", 503) if await _engine_is_dead(serving) else ("live", 200)))

    @router.get("/health/ready", response_model=None)
    async def ready() -> Response:
        """200 when requests are answered; 503 while the model loads, when the server stops, without an engine."""
        if serving.state.draining:
            return _status("stopping", 503)
        if serving.state.engine is None:
            return _status("loading", 503)
        return _status(*(("engine dead", 503) if await _engine_is_dead(serving) else ("ready", 200)))

    @router.get("/version", response_model=None)
    async def about() -> Response:
        return Response(orjson.dumps({"version": version("strictcall")}), media_type="application/json")

    @router.get("/metrics", response_model=None)
    async def metrics() -> Response:
        shared = serving.shared_metrics
        text = serving.metrics.exposition() if shared is None else await shared.exposition()
        return Response(text, media_type="text/plain; version=0.0.4")

    return router


async def _engine_is_dead(serving: Serving) -> bool:
    engine: EngineClient | None = serving.state.engine
    if engine is None:
        return False
    try:
        await engine.check_health()
    except EngineDeadError:
        return True
    return False


def _status(status: str, code: int) -> Response:
    headers = {"retry-after": "5"} if code == 503 else None
    return Response(orjson.dumps({"status": status}), code, headers, "application/json")
