"""What the readers of arguments have in common, and the members of an object's JSON text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Protocol

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class NoArgumentsError(ValueError):
    """The text is no arguments in this spelling. Stays inside of a reader: what was certain before it still counts."""


class ArgumentReader(Protocol):
    """Turns the arguments of one call into JSON text as they arrive. Every character is looked at once, but for what
    may become a marker, and the way the text is cut makes no difference to the JSON that comes out."""

    @property
    def complete(self) -> bool:
        """The arguments are at their end, and the JSON text with them."""

    @property
    def failed(self) -> bool:
        """What stands where ``read`` stopped is none of these arguments; nothing more will come."""

    def read(self, text: str, at: int) -> tuple[int, str]:
        """Go on at ``text[at]``: how far the text was read, and the JSON that is certain by that.

        The next call has to begin with what was left. Nothing comes out before it is certain that these are
        arguments.
        """


@dataclass(frozen=True, slots=True)
class Member:
    key: str
    value: Any
    text: str
    """The value's JSON text, to the letter."""


def members(arguments: str) -> list[Member] | None:
    """The members of the object that ``arguments`` is the JSON text of, in their order; ``None`` when it is none."""
    try:
        at = _after(arguments, 0, "{")
        found: list[Member] = []
        while arguments[at] != "}":
            at = _after(arguments, at, ",") if found else at
            key, at = _DECODER.raw_decode(arguments, at)
            if not isinstance(key, str):
                return None
            at = _after(arguments, at, ":")
            value, end = _DECODER.raw_decode(arguments, at)
            found.append(Member(key, value, arguments[at:end]))
            at = _skip(arguments, end)
        return found if _skip(arguments, at + 1) == len(arguments) else None
    except (ValueError, IndexError, RecursionError):
        return None


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _after(text: str, at: int, mark: str) -> int:
    """Behind ``mark`` and the white space around it. Raises ValueError where it is not."""
    at = _skip(text, at)
    if text[at] != mark:
        raise ValueError(mark)
    return _skip(text, at + 1)


def escaped(text: str) -> str:
    """The text as it stands inside a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
