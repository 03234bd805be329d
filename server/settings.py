"""Every option of the server, from flags and from ``STRICTCALL_*`` environment variables (a flag wins)."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, BeforeValidator, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from server.embedded import default_cache_dir

LogLevel = Literal["debug", "info", "warning", "error"]


def _comma_separated(value: object) -> object:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _shell_words(value: object) -> object:
    return tuple(shlex.split(value)) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_comma_separated)]
Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_shell_words)]


class Settings(BaseSettings):
    """The server's options. Build it with the flags that were given; what is left out comes from the environment.

    Raises pydantic.ValidationError, which names the field.
    """

    model_config = SettingsConfigDict(
        env_prefix="STRICTCALL_", env_ignore_empty=True, frozen=True, extra="forbid", populate_by_name=True
    )

    # The model and its engine
    model: str | None = None
    """Hugging Face id or local folder; ``None`` serves the embedded SmolLM2-135M-Instruct."""
    served_model_name: Names = ()
    """Names clients may ask for; the first stands in answers. Default: the model's own name."""
    max_model_len: int | None = Field(default=None, ge=16)
    """Context in tokens, prompt and completion together. Default: the model's."""
    tensor_parallel_size: int = Field(default=1, ge=1)
    jump_forward: Literal["on", "off", "auto"] = "auto"
    """Whether tokens that the grammar forces are taken without sampling them; ``auto``: on a CPU."""
    engine_args: Words = ()
    """Further options for vLLM, as on its own command line."""
    cache_dir: Path = Field(default_factory=default_cache_dir)

    # The wire
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    """0 takes a free port; the ready line names it."""
    api_keys: Names = Field(
        default=(), validation_alias=AliasChoices("api_keys", "STRICTCALL_API_KEY", "STRICTCALL_API_KEYS")
    )
    """When any is given, every request under /v1 must carry one of them."""
    max_body_bytes: int = Field(default=8 * 1024 * 1024, ge=1024)

    # Tool calls
    tool_format: str = "auto"
    """How the model writes calls; ``auto`` chooses by the chat template."""
    undeclared_keys: Literal["forbid", "allow"] = "forbid"
    """Whether arguments may hold keys that an object with declared properties says nothing of."""
    refused_tools: Literal["error", "omit"] = "error"
    """Whether a tool whose schema is refused fails the request, or is left out with a warning."""
    max_retries: int = Field(default=3, ge=0, le=20)
    """How often a call is sampled again when it fails the check of what the grammar could not hold."""

    # Load
    api_processes: int = Field(default=1, ge=1, le=64)
    """Processes that speak HTTP, all in front of one engine. ``max_running`` and ``max_queued`` are divided among
    them; each has ``compile_workers`` of its own and keeps its own compiled schemas."""
    max_running: int = Field(default=1024, ge=1)
    """Requests in the engine at once; more wait in a queue."""
    max_queued: int = Field(default=4096, ge=0)
    """Requests that may wait; beyond that they are answered 429."""
    receive_timeout: float = Field(default=60.0, gt=0)
    """Seconds without a piece of a request's body, or until its head is there; then it is answered 408."""
    send_timeout: float = Field(default=60.0, gt=0)
    """Seconds after which a client that takes nothing of its answer is dropped."""
    keepalive_seconds: float = Field(default=15.0, gt=0)
    """A stream that has nothing to say for so long sends a comment line."""

    # Compiling schemas
    compile_workers: int = Field(default=2, ge=1, le=64)
    compile_timeout: float = Field(default=10.0, gt=0)
    """Seconds of processor time that one schema may take; more is refused as too complex."""

    # The process
    log_level: LogLevel = "info"
    shutdown_grace: float = Field(default=4.0, ge=0, le=60)
    """Seconds that running answers get to finish after SIGTERM or Ctrl-C."""

    @field_validator("cache_dir")
    @classmethod
    def _expand_home(cls, value: Path) -> Path:
        return value.expanduser()


def describe(error: ValidationError) -> str:
    """One line: which option is wrong, and why."""
    faults = []
    for fault in error.errors(include_url=False):
        name = str(fault["loc"][0]) if fault["loc"] else "settings"
        name = "api_key" if name.upper().startswith(("API_KEY", "STRICTCALL_API_KEY")) else name
        faults.append(f"--{name.replace('_', '-')} (STRICTCALL_{name.upper()}): {fault['msg']}, got {fault['input']!r}")
    return "; ".join(faults)
