"""Which format a model writes: a table over its chat template."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from decoding.formats.declaration import Format
from decoding.formats.hermes import HERMES
from decoding.formats.prompted import PROMPTED

_FORMATS = {fmt.name: fmt for fmt in (HERMES, PROMPTED)}


@dataclass(frozen=True, slots=True)
class Detection:
    """The format that was found, and one line for the log that says why."""

    format: Format
    reason: str


@dataclass(frozen=True, slots=True)
class _Row:
    format: Format
    reason: str
    fits: Callable[[str], bool]


# The first row that fits wins: what is more particular stands first. Hermes' JSON form has to be told from the
# formats that put XML parameters into the same tag.
_TABLE = (
    _Row(
        HERMES,
        "the chat template writes calls as JSON in <tool_call>",
        lambda template: (
            "<tool_call>" in template and not re.search(r"<function=|<arg_key>|<parameter=|<tool_sep>", template)
        ),
    ),
)


def names() -> list[str]:
    """The formats' names."""
    return list(_FORMATS)


def get(name: str) -> Format:
    """A format by its name. Raises ValueError with the names that exist."""
    if name not in _FORMATS:
        raise ValueError(f"no call format {name!r}: use one of {', '.join(_FORMATS)}")
    return _FORMATS[name]


def detect(tokenizer: Any) -> Format:
    """The format that this tokenizer's chat template calls for; ``prompted`` when none is known."""
    return explain(tokenizer).format


def explain(tokenizer: Any) -> Detection:
    """``detect`` with the reason."""
    template = _template(tokenizer)
    for row in _TABLE:
        if row.fits(template):
            return Detection(row.format, row.reason)
    if not template:
        return Detection(PROMPTED, "the model has no chat template: tools and calls are explained in the prompt")
    if "tools" not in template:
        return Detection(PROMPTED, "the chat template knows no tools: they are explained in the prompt")
    return Detection(
        PROMPTED,
        "warning: the chat template has tools in a form that is not known here; they are explained in the prompt",
    )


def _template(tokenizer: Any) -> str:
    """The chat template's text; where there are several by name, the one for tools, else the default."""
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, dict):
        template = template.get("tool_use") or template.get("default") or ""
    return template or ""
