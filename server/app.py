"""The HTTP application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from server.admission import Admission
from server.auth import Keys
from server.compiler import Compiler
from server.engine_client import EngineClient
from server.envelope import Envelope
from server.errors import ApiError, bad_request
from server.health import health_routes
from server.metrics import Metrics
from server.openai import chat_route, error_response, openai_routes
from server.serving import Serving
from server.settings import Settings


def create_app(settings: Settings, engine: EngineClient | None = None) -> FastAPI:
    """The server's routes. Without an engine they answer 503 until ``await app.state.on_engine(engine)``.

    ``app.state.draining = True`` makes new requests 503 while running answers go on. The app does not own the engine:
    whoever started it shuts it down.
    """
    metrics = Metrics()
    app = FastAPI(
        title="Strictcall",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.state.engine = engine
    app.state.draining = False
    serving = Serving(
        settings=settings,
        state=app.state,
        metrics=metrics,
        admission=Admission(metrics, max_running=settings.max_running, max_queued=settings.max_queued),
        compiler=Compiler(metrics, workers=settings.compile_workers, seconds=settings.compile_timeout),
    )
    app.state.serving = serving
    app.state.on_engine = serving.on_engine
    app.include_router(health_routes(serving))
    chat = chat_route(serving)
    app.include_router(openai_routes(serving, chat))
    app.add_exception_handler(ApiError, _on_api_error)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_middleware(
        Envelope,
        keys=Keys(settings.api_keys),
        metrics=metrics,
        error_response=error_response,
        direct=[chat],
    )
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    await app.state.serving.close()


async def _on_api_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return error_response(error)


async def _on_http_error(request: Request, error: Exception) -> Response:
    """Unknown paths and methods, in the shape of every other error."""
    assert isinstance(error, HTTPException)
    messages = {
        404: f"Unknown request URL: {request.method} {request.url.path[:200]}. Check the path.",
        405: f"Not allowed to {request.method} on {request.url.path[:200]}.",
    }
    message = messages.get(error.status_code, HTTPStatus(error.status_code).phrase)
    code = {404: "unknown_url", 405: "method_not_allowed"}.get(error.status_code)
    return error_response(ApiError(error.status_code, message, code=code, headers=dict(error.headers or {})))


async def _on_validation_error(_: Request, error: Exception) -> Response:
    return error_response(bad_request(f"Invalid request: {error}"))
