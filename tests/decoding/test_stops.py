"""Stop sequences: cut at the first, never shown, the same at every split."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding import StopScanner


def scan(stops: list[str], pieces: list[str]) -> tuple[str, str | None]:
    scanner = StopScanner(stops)
    shown = ""
    for piece in pieces:
        visible, hit = scanner.feed(piece)
        shown += visible
        if hit is not None:
            return shown, hit
    return shown + scanner.flush(), None


def first_completed(stops: list[str], text: str) -> tuple[str, str | None]:
    """The meaning, spelled out."""
    for end in range(len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            longest = max(found, key=len)
            return text[: end - len(longest)], longest
    return text, None


def test_what_may_be_a_stop_is_held_back() -> None:
    scanner = StopScanner(["END", "\n\n"])
    assert scanner.feed("one E") == ("one ", None)
    assert scanner.feed("N") == ("", None)
    assert scanner.feed("V\n") == ("ENV", None)
    assert scanner.feed("x") == ("\nx", None)
    assert scanner.feed("END more") == ("", "END")


def test_no_stops() -> None:
    scanner = StopScanner([])
    assert scanner.feed("anything") == ("anything", None)
    assert scanner.flush() == ""


def test_an_empty_stop_is_refused() -> None:
    with pytest.raises(ValueError, match="stop"):
        StopScanner(["a", ""])


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=3),
    st.text("ab\nc", max_size=12),
    st.lists(st.integers(0, 12), max_size=4),
)
def test_any_split_gives_the_first_completed(stops: list[str], text: str, places: list[int]) -> None:
    cuts = sorted(min(place, len(text)) for place in places)
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert scan(stops, pieces) == scan(stops, list(text)) == first_completed(stops, text)
