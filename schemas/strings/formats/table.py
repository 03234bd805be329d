"""From the name of a format to its language."""

from __future__ import annotations

from functools import lru_cache

from schemas.strings.assertions import language
from schemas.strings.ecma import parse
from schemas.strings.formats import dates, network, uris
from schemas.strings.intersections import intersection
from schemas.strings.nodes import Regex
from schemas.strings.regex import concat, length, union

_WHOLE = {
    "date": dates.DATE,
    "time": dates.TIME,
    "date-time": dates.DATE_TIME,
    "duration": dates.DURATION,
    "ipv4": network.IPV4,
    "ipv6": network.IPV6,
    "uuid": network.UUID,
    "uri": uris.URI,
    "uri-reference": uris.URI_REFERENCE,
    "iri": uris.IRI,
    "iri-reference": uris.IRI_REFERENCE,
    "uri-template": uris.URI_TEMPLATE,
    "json-pointer": uris.JSON_POINTER,
    "relative-json-pointer": uris.RELATIVE_JSON_POINTER,
}
NAMES = (*_WHOLE, "hostname", "email")
"""Every format of which the language is known."""
IRREGULAR = ("idn-email", "idn-hostname", "regex")
"""Formats that no regular language holds: only the validator checks them."""
MAX_HOSTNAME = 253
MAX_LOCAL_PART = 64


def named(name: str, draft: str | None = None) -> Regex | None:
    """The language of a format; ``None`` where the name is unknown, or the format not regular (``regex``, IDN).

    ``draft`` is one of "4", "6", "7", "2019-09" and "2020-12": up to draft 6 a host name may have any label with
    hyphens in third and fourth place. Every other format means the same in all drafts, also in those that do not list
    it yet.
    """
    return _named(name, name == "hostname" and draft in ("4", "6"))


@lru_cache(maxsize=64)
def _named(name: str, any_label: bool) -> Regex | None:
    if name in _WHOLE:
        return _whole(_WHOLE[name])
    if name == "hostname":
        return _hostname(network.HOSTNAME_RFC1034 if any_label else network.HOSTNAME)
    if name == "email":
        domain = union([_hostname(network.HOSTNAME), _whole(network.ADDRESS_LITERAL)])
        local = intersection([_whole(network.LOCAL_PART), length(1, MAX_LOCAL_PART)])
        return concat(local, _whole("@"), domain)
    return None


@lru_cache(maxsize=16)
def named_perhaps(name: str) -> Regex | None:
    """A superset of everything that any reader takes for the format, where :func:`named` leaves some of it out: the
    complement of the format is the complement of this. ``None`` where nothing is left out."""
    match name:
        case "hostname":  # A-labels
            return _hostname(network.HOSTNAME_RFC1034)
        case "email":  # display names, A-labels
            return _whole(r"[^]*@[^]*")
        case "time":  # leap seconds at offsets other than of half hours
            return _whole(dates.ANY_TIME)
        case "date-time":
            return _whole(dates.ANY_DATE_TIME)
        case "uri-template":  # control characters and noncharacters
            return _whole(uris.ANY_URI_TEMPLATE)
    return None


def _whole(pattern: str) -> Regex:
    return language(parse(f"^(?:{pattern})$")[0])


def _hostname(pattern: str) -> Regex:
    return intersection([_whole(pattern), length(1, MAX_HOSTNAME)])
