"""URI references: RFC 3986 section 5.2 resolution, and JSON pointers (RFC 6901) as fragments.

``urllib.parse.urljoin`` leaves references against ``urn:``, ``tag:`` and unknown schemes alone, and schemas use them.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


class _Parts(NamedTuple):
    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def _split(uri: str) -> _Parts:
    match = _PARTS.fullmatch(uri)
    assert match is not None, "every string is a URI reference for this expression"
    scheme, authority, path, query, fragment = match.groups()
    return _Parts(scheme.lower() if scheme else None, authority, path, query, fragment)


def _without_dots(path: str) -> str:
    segments = path.split("/")
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)


def resolve(base: str, reference: str) -> tuple[str, str]:
    """``reference`` against ``base`` (absolute, or empty): the URI without its fragment, and the fragment, decoded."""
    ref, root = _split(reference), _split(base)
    fragment = unquote(ref.fragment or "")
    scheme, authority, query = ref.scheme, ref.authority, ref.query
    if ref.scheme is not None or ref.authority is not None:
        path = _without_dots(ref.path) if ref.path.startswith("/") else ref.path
        scheme = scheme or root.scheme
    else:
        scheme, authority = root.scheme, root.authority
        if not ref.path:
            path, query = root.path, root.query if query is None else query
        elif ref.path.startswith("/"):
            path = _without_dots(ref.path)
        elif root.authority is not None and not root.path:
            path = _without_dots("/" + ref.path)
        else:
            path = _without_dots(root.path[: root.path.rfind("/") + 1] + ref.path)
    uri = f"{scheme}:" if scheme else ""
    uri += f"//{authority}" if authority is not None else ""
    uri += path + (f"?{query}" if query is not None else "")
    return uri, fragment


def pointer_tokens(pointer: str) -> list[str]:
    """The reference tokens of a (percent-decoded) JSON pointer that starts with ``/`` or is empty."""
    if not pointer:
        return []
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/")]


def escape(token: str) -> str:
    """One reference token, escaped for a JSON pointer."""
    return token.replace("~", "~0").replace("/", "~1")
