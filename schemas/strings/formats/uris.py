"""URIs (RFC 3986), IRIs (RFC 3987), URI templates (RFC 6570) and JSON pointers (RFC 6901)."""

from __future__ import annotations

from schemas.strings.formats.network import IPV6

_UCSCHAR = (
    r"\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
    r"\u{10000}-\u{1fffd}\u{20000}-\u{2fffd}\u{30000}-\u{3fffd}\u{40000}-\u{4fffd}\u{50000}-\u{5fffd}"
    r"\u{60000}-\u{6fffd}\u{70000}-\u{7fffd}\u{80000}-\u{8fffd}\u{90000}-\u{9fffd}\u{a0000}-\u{afffd}"
    r"\u{b0000}-\u{bfffd}\u{c0000}-\u{cfffd}\u{d0000}-\u{dfffd}\u{e1000}-\u{efffd}"
)
_PRIVATE = r"\ue000-\uf8ff\u{f0000}-\u{ffffd}\u{100000}-\u{10fffd}"
_ENCODED = r"%[0-9A-Fa-f]{2}"
_SUBDELIMS = r"!$&'()*+,;="
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*"
_FUTURE = rf"[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~{_SUBDELIMS}:-]+"


def _reference(more: str, private: str) -> tuple[str, str]:
    """(absolute with fragment, absolute or relative) with ``more`` characters among the unreserved ones."""
    unreserved = rf"A-Za-z0-9._~{more}-"
    pchar = rf"(?:[{_SUBDELIMS}:@{unreserved}]|{_ENCODED})"
    user = rf"(?:(?:[{_SUBDELIMS}:{unreserved}]|{_ENCODED})*@)?"
    name = rf"(?:[{_SUBDELIMS}{unreserved}]|{_ENCODED})*"
    host = rf"(?:\[(?:{IPV6}|{_FUTURE})\]|{name})"
    authority = rf"//{user}{host}(?::\d*)?(?:/{pchar}*)*"
    absolute = rf"/(?:{pchar}+(?:/{pchar}*)*)?"
    rootless = rf"{pchar}+(?:/{pchar}*)*"
    no_scheme = rf"(?:[{_SUBDELIMS}@{unreserved}]|{_ENCODED})+(?:/{pchar}*)*"
    query = rf"(?:\?(?:[/?{private}{_SUBDELIMS}:@{unreserved}]|{_ENCODED})*)?"
    fragment = rf"(?:#(?:[/?{_SUBDELIMS}:@{unreserved}]|{_ENCODED})*)?"
    full = rf"{_SCHEME}:(?:{authority}|{absolute}|{rootless}|){query}{fragment}"
    relative = rf"(?:{authority}|{absolute}|{no_scheme}|){query}{fragment}"
    return full, rf"(?:{full}|{relative})"


URI, URI_REFERENCE = _reference("", "")
IRI, IRI_REFERENCE = _reference(_UCSCHAR, _PRIVATE)


def _template(more: str) -> str:
    """With ``more`` characters among the literal ones."""
    varchar = rf"(?:[A-Za-z0-9_]|{_ENCODED})"
    varspec = rf"{varchar}(?:\.?{varchar})*(?::[1-9]\d{{0,3}}|\*)?"
    literal = rf"(?:[!#$&-;=?-\[\]_a-z~{more}]|{_ENCODED})"
    return rf"(?:{literal}|\{{[+#./;?&=,!@|]?{varspec}(?:,{varspec})*\}})*"


URI_TEMPLATE, ANY_URI_TEMPLATE = _template(_UCSCHAR + _PRIVATE), _template(r"\u0080-\u{10ffff}")

JSON_POINTER = r"(?:/(?:[^/~]|~[01])*)*"
RELATIVE_JSON_POINTER = rf"(?:0|[1-9]\d*)(?:#|{JSON_POINTER})"
