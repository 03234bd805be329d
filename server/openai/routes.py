"""OpenAI's routes, and OpenAI's shape for every error that another protocol does not claim."""

from __future__ import annotations

import orjson
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server.openai.chat import chat_completions
from server.openai.models import model_list, model_object
from server.serving import Serving


def chat_route(serving: Serving) -> Route:
    async def chat(request: Request) -> Response:
        return await chat_completions(serving, request)

    return Route("/v1/chat/completions", chat, methods=["POST"])


def openai_routes(serving: Serving, chat: Route) -> APIRouter:
    """All of them, with ``chat`` among them."""
    router = APIRouter(routes=[chat])

    @router.get("/v1/models", response_model=None)
    async def models() -> Response:
        return _json(model_list(serving.engine(), serving.created))

    @router.get("/v1/models/{name:path}", response_model=None)
    async def model(name: str) -> Response:
        return _json(model_object(serving.engine(), name, serving.created))

    return router


def _json(body: object) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")
