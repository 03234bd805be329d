"""OpenAI's wire protocol: Chat Completions, models, errors."""

from server.openai.errors import error_body, error_frame, error_response
from server.openai.routes import chat_route, openai_routes

__all__ = ["chat_route", "error_body", "error_frame", "error_response", "openai_routes"]
