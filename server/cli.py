"""The command ``strictcall``. Nothing heavy is imported before a command runs: ``--help`` answers at once."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import typer

app = typer.Typer(
    name="strictcall",
    help="An OpenAI-compatible tool-call server in front of vLLM whose every call is valid against its schema.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"strictcall {version('strictcall')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Strictcall."""


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": False})
def serve(
    context: typer.Context,
    model: Annotated[
        str | None,
        typer.Option(help="Hugging Face id or folder of the model.  [default: the embedded SmolLM2-135M-Instruct]"),
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.  [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.  [default: 8000]")] = None,
    served_model_name: Annotated[
        list[str] | None,
        typer.Option(metavar="<str>", help="Name clients ask for; repeatable.  [default: the model's own name]"),
    ] = None,
    max_model_len: Annotated[
        int | None, typer.Option(help="Context in tokens, prompt and answer together.  [default: the model's]")
    ] = None,
    tensor_parallel_size: Annotated[
        int | None, typer.Option(help="GPUs that one copy of the model is spread over.  [default: 1]")
    ] = None,
    jump_forward: Annotated[
        str | None,
        typer.Option(help="on, off or auto: take tokens that the grammar forces unsampled.  [default: auto: on a CPU]"),
    ] = None,
    tool_format: Annotated[
        str | None, typer.Option(help="How the model writes calls.  [default: auto, by its chat template]")
    ] = None,
    undeclared_keys: Annotated[
        str | None,
        typer.Option(
            help="forbid or allow keys that a tool's schema neither declares nor rules out.  [default: forbid]"
        ),
    ] = None,
    refused_tools: Annotated[
        str | None,
        typer.Option(
            help="What becomes of a tool whose schema is refused: error (the request is answered 400) or omit (it is "
            "not offered).  [default: error]"
        ),
    ] = None,
    max_retries: Annotated[
        int | None, typer.Option(help="Times a call that fails its check is sampled again.  [default: 3]")
    ] = None,
    api_key: Annotated[
        list[str] | None,
        typer.Option(metavar="<str>", help="Key that requests must carry; repeatable.  [default: none needed]"),
    ] = None,
    max_body_bytes: Annotated[
        int | None, typer.Option(help="Largest request body in bytes.  [default: 8388608]")
    ] = None,
    max_running: Annotated[
        int | None, typer.Option(help="Requests in the engine at once; more wait.  [default: 1024]")
    ] = None,
    max_queued: Annotated[
        int | None, typer.Option(help="Requests that may wait; more are answered 429.  [default: 4096]")
    ] = None,
    api_processes: Annotated[
        int | None,
        typer.Option(
            help="Processes that speak HTTP, in front of one engine, for when one is the limit. --max-running and "
            "--max-queued are divided among them; each has --compile-workers of its own.  [default: 1]"
        ),
    ] = None,
    receive_timeout: Annotated[
        float | None, typer.Option(help="Seconds until a request that stops arriving is answered 408.  [default: 60]")
    ] = None,
    send_timeout: Annotated[
        float | None, typer.Option(help="Seconds until a client that takes nothing is dropped.  [default: 60]")
    ] = None,
    keepalive_seconds: Annotated[
        float | None, typer.Option(help="Seconds of silence until a stream sends a comment line.  [default: 15]")
    ] = None,
    compile_workers: Annotated[
        int | None, typer.Option(help="Processes that compile schemas, for each that speaks HTTP.  [default: 2]")
    ] = None,
    compile_timeout: Annotated[
        float | None, typer.Option(help="Seconds of processor time that one schema may take.  [default: 10]")
    ] = None,
    shutdown_grace: Annotated[
        float | None, typer.Option(help="Seconds running answers get to finish when stopped.  [default: 4]")
    ] = None,
    cache_dir: Annotated[
        Path | None, typer.Option(help="Folder for prepared models.  [default: ~/.cache/strictcall]")
    ] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.  [default: info]")] = None,
) -> None:
    """Serve a model on http://HOST:PORT/v1.

    Every option can also be set in the environment as STRICTCALL_ and its name (STRICTCALL_PORT=9000); the option wins.
    Options of vLLM's engine go after --, as in:  strictcall serve --model Qwen/Qwen3-8B -- --gpu-memory-utilization 0.8
    """
    given = {
        "model": model,
        "host": host,
        "port": port,
        "served_model_name": tuple(served_model_name) if served_model_name else None,
        "max_model_len": max_model_len,
        "tensor_parallel_size": tensor_parallel_size,
        "jump_forward": jump_forward,
        "tool_format": tool_format,
        "undeclared_keys": undeclared_keys,
        "refused_tools": refused_tools,
        "max_retries": max_retries,
        "api_keys": tuple(api_key) if api_key else None,
        "max_body_bytes": max_body_bytes,
        "max_running": max_running,
        "max_queued": max_queued,
        "api_processes": api_processes,
        "receive_timeout": receive_timeout,
        "send_timeout": send_timeout,
        "keepalive_seconds": keepalive_seconds,
        "compile_workers": compile_workers,
        "compile_timeout": compile_timeout,
        "shutdown_grace": shutdown_grace,
        "cache_dir": cache_dir,
        "log_level": log_level,
        "engine_args": tuple(context.args) or None,
    }
    from pydantic import ValidationError

    from server.settings import Settings, describe

    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        typer.echo(f"error: {describe(error)}", err=True)
        raise typer.Exit(2) from None
    from server.process import run

    raise typer.Exit(run(settings))


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    help="Say for each tool whether its schema is held exactly, checked afterwards, or refused, and why.",
)
def lint(context: typer.Context) -> None:
    """Hand over to ``server.lint``, which takes a second to import."""
    from server.lint import lint_command

    _hand_over(lint_command, context)


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    help="List the call formats, or say which one a model's chat template calls for.",
)
def formats(context: typer.Context) -> None:
    """Hand over to ``server.formats_command``, which takes a second to import."""
    from server.formats_command import formats_command

    _hand_over(formats_command, context)


def _hand_over(function: Callable[..., None], context: typer.Context) -> None:
    command = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    command.command()(function)
    command(context.args, prog_name=f"strictcall {context.info_name}")


def main() -> None:
    """The entry point. A signal that comes before the server can handle it ends the process just as quietly."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _exit)
    app()


def _exit(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)


if __name__ == "__main__":
    main()
