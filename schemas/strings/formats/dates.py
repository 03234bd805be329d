"""Dates, times and durations: RFC 3339, with real days only and leap seconds only at the end of a UTC day."""

from __future__ import annotations

_LEAP_YEAR = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DAYS = (
    r"(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])"  # every month
    r"|(?:0[13-9]|1[0-2])-(?:29|30)"  # all but February
    r"|(?:0[13578]|1[02])-31"
)
DATE = rf"(?:\d{{4}}-(?:{_DAYS})|{_LEAP_YEAR}-02-29)"

_FRACTION = r"(?:\.\d+)?"
_OFFSET = r"[+-](?:[01]\d|2[0-3]):[0-5]\d"


def _leap_seconds() -> str:
    """The local times of 23:59:60 UTC, for UTC itself and offsets of whole and half hours (others are left out)."""
    found = [rf"23:59:60{_FRACTION}[Zz]"]
    for minutes in range(0, 1440, 30):
        offset = f"{minutes // 60:02d}:{minutes % 60:02d}"
        for sign, local in (("\\+", (1439 + minutes) % 1440), ("-", (1439 - minutes) % 1440)):
            found.append(f"{local // 60:02d}:{local % 60:02d}:60{_FRACTION}{sign}{offset}")
    return "|".join(found)


TIME = rf"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d{_FRACTION}(?:[Zz]|{_OFFSET})|{_leap_seconds()})"
DATE_TIME = rf"{DATE}[Tt]{TIME}"

ANY_TIME = rf"(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60){_FRACTION}(?:[Zz]|{_OFFSET})"
"""With a leap second at the end of any minute."""
ANY_DATE_TIME = rf"{DATE}[Tt]{ANY_TIME}"

_TIME_PART = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_DATE_PART = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"
DURATION = rf"P(?:{_DATE_PART}(?:{_TIME_PART})?|{_TIME_PART}|\d+W)"
