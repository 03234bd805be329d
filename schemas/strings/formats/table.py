"""From the name of a format to its language."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schemas.strings.language import Language


def named(name: str, draft: str | None = None) -> Language | None:
    """The language of a format; ``None`` where the name is unknown or the format not exactly known."""
    return None
