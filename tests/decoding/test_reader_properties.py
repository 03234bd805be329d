"""Properties of the reader, over generated answers: split invariance, markers as data, render → read identity."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from decoding import CallFinished, CallStarted, Finished, Format, Text
from decoding.formats import get, names
from tests.decoding.support import JSON_FORMATS, TOOLS, call, merged, read

FORMAT = st.sampled_from(names()).map(get)
JSON_FORMAT = st.sampled_from(JSON_FORMATS)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def spiced(fmt: Format) -> st.SearchStrategy[str]:
    """Text with this format's markup in it, whole and in pieces."""
    markup = [fmt.marker, fmt.marker[:-1], fmt.marker[1:], fmt.opening, fmt.write_calls([("ping", "{}")]), "ping", "{}"]
    markup += [fmt.section.separator, fmt.section.close] if fmt.section else []
    pieces = st.sampled_from([*markup, "\n", " ", '"', "\\", "{", "}", "é", "🎈", "x"]) | st.text(max_size=3)
    return st.lists(pieces, max_size=12).map("".join)


@st.composite
def arguments(draw: st.DrawFn, fmt: Format) -> str:
    strings = spiced(fmt) | st.text(max_size=8)
    value = draw(st.dictionaries(strings, JSON_VALUE | strings | st.lists(strings, max_size=2), max_size=3))
    return json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))


@st.composite
def cut(draw: st.DrawFn, text: str) -> list[str]:
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_split_invariance_over_any_text(data: st.DataObject) -> None:
    """Whatever the model writes, however it is cut, and wherever the budget ends it."""
    fmt = data.draw(FORMAT)
    text = data.draw(spiced(fmt))
    reason = data.draw(st.sampled_from(["stop", "length"]))
    reasoning = data.draw(st.booleans())
    whole = merged(read(fmt, text, reason=reason, reasoning=reasoning))
    assert merged(read(fmt, data.draw(cut(text)), reason=reason, reasoning=reasoning)) == whole
    assert merged(read(fmt, list(text), reason=reason, reasoning=reasoning)) == whole


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_nothing_is_lost(data: st.DataObject) -> None:
    """Text, names and arguments stand in the model's text in this order; the rest is white space and literals."""
    fmt = data.draw(JSON_FORMAT)
    text = data.draw(spiced(fmt))
    at = 0
    between = ""
    for event in read(fmt, text):  # not merged: an empty section, which is read as nothing, may stand between two texts
        match event:
            case Text(piece) | CallStarted(name=piece) | CallFinished(arguments=piece):
                found = text.find(piece.strip(), at)
                assert found >= 0
                between += text[at:found]
                at = found + len(piece.strip())
    assert set("".join((between + text[at:]).split())) <= set(fmt.write_calls([("", "")] * 10))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_render_then_read_is_the_identity(data: st.DataObject) -> None:
    """Text and calls as the format writes them are read as those, markers inside strings being data."""
    fmt = data.draw(JSON_FORMAT)
    chosen = data.draw(st.lists(st.sampled_from([tool.name for tool in TOOLS]), min_size=1, max_size=4))
    calls = [(name, data.draw(arguments(fmt))) for name in chosen]
    texts = ["", "Let me see.", "日本 🎈\n\n- a\n- b", "x <"] if fmt.marker_at != "answer" else [""]
    text = data.draw(st.sampled_from(texts))
    written = fmt.write_answer(text, calls)
    expected = [event for index, (name, args) in enumerate(calls) for event in call(index, name, args)]
    assert merged(read(fmt, data.draw(cut(written)))) == [
        *([Text(text)] if text else []),
        *expected,
        Finished("tool_calls"),
    ]
