"""Addresses and names: IPv4 and IPv6 (RFC 4291), host names (RFC 1123), e-mail (RFC 5321), UUID (RFC 9562)."""

from __future__ import annotations

_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"

_GROUP = r"[0-9A-Fa-f]{1,4}"
_TAIL = rf"(?:{_GROUP}:{_GROUP}|{IPV4})"


def _ipv6() -> str:
    """The rule IPv6address of RFC 3986, appendix A: "::" stands for at least one group."""
    found = [rf"(?:{_GROUP}:){{6}}{_TAIL}"]
    for after in range(5, -1, -1):
        before = rf"(?:(?:{_GROUP}:){{0,{4 - after}}}{_GROUP})?" if after < 5 else ""
        found.append(rf"{before}::(?:{_GROUP}:){{{after}}}{_TAIL}" if after else rf"{before}::{_TAIL}")
    found.append(rf"(?:(?:{_GROUP}:){{0,5}}{_GROUP})?::{_GROUP}")
    found.append(rf"(?:(?:{_GROUP}:){{0,6}}{_GROUP})?::")
    return f"(?:{'|'.join(found)})"


IPV6 = _ipv6()

_ALNUM = "[A-Za-z0-9]"
_LDH = "[A-Za-z0-9-]"
LABEL = rf"{_ALNUM}(?:{_LDH}{{0,61}}{_ALNUM})?"
HOSTNAME_RFC1034 = rf"{LABEL}(?:\.{LABEL})*"
# A label with hyphens in third and fourth place is an A-label, whose validity is a matter of Punycode and not regular:
# such names are left out.
_PLAIN_LABEL = (
    rf"{_ALNUM}(?:{_ALNUM}|{_LDH}{_ALNUM}(?:{_LDH}{{0,59}}{_ALNUM})?|{_LDH}-{_ALNUM}(?:{_LDH}{{0,58}}{_ALNUM})?)?"
)
HOSTNAME = rf"{_PLAIN_LABEL}(?:\.{_PLAIN_LABEL})*"

_ATEXT = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[!-~])*"'
LOCAL_PART = rf"(?:{_ATEXT}+(?:\.{_ATEXT}+)*|{_QUOTED})"
ADDRESS_LITERAL = rf"\[(?:{IPV4}|IPv6:{IPV6})\]"

UUID = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
