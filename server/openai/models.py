"""``/v1/models``."""

from __future__ import annotations

from typing import Any

from server.engine_client import EngineClient
from server.errors import ApiError


def model_list(engine: EngineClient, created: int) -> dict[str, Any]:
    return {"object": "list", "data": [model_object(engine, name, created) for name in engine.model_names]}


def model_object(engine: EngineClient, name: str, created: int) -> dict[str, Any]:
    """Raises ApiError 404."""
    check_model(engine, name)
    return {
        "id": name,
        "object": "model",
        "created": created,
        "owned_by": "strictcall",
        "max_model_len": engine.max_model_len,
    }


def check_model(engine: EngineClient, name: str) -> None:
    """Raises ApiError 404 when the model is not served here."""
    if name not in engine.model_names:
        raise ApiError(
            404,
            f"The model {name[:200]!r} does not exist. This server has {', '.join(map(repr, engine.model_names))}.",
            param="model",
            code="model_not_found",
        )
