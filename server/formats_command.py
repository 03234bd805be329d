"""``strictcall formats``: the call formats, a sample of each, and which one a model gets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from decoding import formats

_SAMPLE = [("get_weather", '{"city": "Paris"}'), ("get_time", "{}")]


def formats_command(
    model: Annotated[
        str | None, typer.Argument(help="Folder or Hugging Face id of a model: say which format it gets, and why.")
    ] = None,
) -> None:
    """List how model families write calls, with a sample of two calls in each; or say what one model gets."""
    console = Console(highlight=False, soft_wrap=True)
    if model is None:
        for name in formats.names():
            _show(console, formats.get(name))
        return
    found = formats.explain(_tokenizer(model))
    console.print(f"{escape(model)}: [bold]{found.format.name}[/bold] ({escape(found.reason)})\n")
    _show(console, found.format)
    for text, number in found.format.special:
        console.print(f"  special token {number}: {escape(text)}")


def _show(console: Console, fmt: formats.Format) -> None:
    console.print(f"[bold]{fmt.name}[/bold]: {escape(fmt.models)}")
    console.print("\n".join(f"    {escape(line)}" for line in fmt.write_calls(_SAMPLE).splitlines()) + "\n")


def _tokenizer(model: str) -> Any:
    from transformers import AutoTokenizer  # a second to import

    try:
        return AutoTokenizer.from_pretrained(
            str(Path(model).expanduser()) if Path(model).expanduser().is_dir() else model
        )
    except (OSError, ValueError) as error:
        typer.echo(f"strictcall: no tokenizer in {model}: {str(error).splitlines()[0]}", err=True)
        raise typer.Exit(1) from None
