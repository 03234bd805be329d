"""The reader against what went wrong elsewhere: one test per kind of fault."""

from __future__ import annotations

import re

import pytest

from decoding import ArgumentsDelta, CallFinished, CallStarted, Finished, Format, Reader, Reasoning, Text, new_call_id
from tests.decoding.support import FORMATS, JSON_FORMATS, TOOLS, WIRE, call, merged, read

every_format = pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)

PLAIN = "The answer is 4."
TRICKY = '{"q":"a } \\" ] <tool_call> \\\\"}'


def answers(fmt: Format) -> dict[str, str]:
    """Answers of every shape that a grammar allows."""
    ping, find, many = (
        fmt.write_call("ping", "{}"),
        fmt.write_call("find", TRICKY),
        fmt.write_call("find-all_2", '{"n": 12}'),
    )
    marked = fmt.write_call("find", '{"q": "MARKER 日本 🎈 \\u00e5"}'.replace("MARKER", fmt.marker.strip()))
    return {
        "text": PLAIN,
        "nothing": "",
        "call": ping,
        "text, call": f"Let me see.\n{find}",
        "call, text": f"{many}\nDone.",
        "two calls": f"{ping}\n{find}",
        "two calls, nothing between": f"{find}{fmt.separator}{ping}",
        "empty arguments, then others": f"{ping}\n{many}\n{find}",
        "text, call, text, call, text": f"a\n{ping}\nb\n{marked}\nc",
        "marker inside a string": marked,
        "half a marker at the end": f"So.\n{fmt.marker[:-2]}",
        "white space": " \n\n",
        "leading white space": "\n\nHello",
    }


@every_format
def test_any_cut_gives_the_same_events(fmt: Format) -> None:
    """b2, b22, b23: one answer cut in two at every place, and into single characters."""
    for shape, text in answers(fmt).items():
        whole = merged(read(fmt, text))
        for cut in range(len(text) + 1):
            assert merged(read(fmt, [text[:cut], text[cut:]])) == whole, f"{shape}, cut at {cut}"
        assert merged(read(fmt, list(text))) == whole, shape


@every_format
def test_text_alone(fmt: Format) -> None:
    assert merged(read(fmt, PLAIN)) == [Text(PLAIN), Finished("stop")]
    assert read(fmt, "") == [Finished("stop")]
    assert merged(read(fmt, "\n\nHello ")) == [Text("\n\nHello "), Finished("stop")]


@every_format
def test_both_calls_of_one_delta(fmt: Format) -> None:
    """b3, b4, b6: calls that come together, one of them without arguments, are all there and whole."""
    calls = [("ping", "{}"), ("find", TRICKY), ("find-all_2", '{"n":1}')]
    text = "\n".join(fmt.write_call(*each) for each in calls)
    expected = [*call(0, "ping", "{}"), *call(1, "find", TRICKY), *call(2, "find-all_2", '{"n":1}')]
    assert merged(read(fmt, text)) == [*expected, Finished("tool_calls")]


@every_format
def test_the_delta_that_closes_one_call_and_opens_the_next(fmt: Format) -> None:
    """b3: the cut falls inside the first arguments and inside the second header."""
    first, second = fmt.write_call("find", '{"q":"x"}'), fmt.write_call("ping", "{}")
    text = f"{first}{fmt.separator}{second}"
    here, there = len(first) - len("}") - 3, len(first) + len(fmt.separator) + 4  # type: ignore[union-attr]
    events = merged(read(fmt, [text[:here], text[here:there], text[there:]]))
    assert events == [*call(0, "find", '{"q":"x"}'), *call(1, "ping", "{}"), Finished("tool_calls")]


@every_format
def test_metadata_once_and_no_empty_delta(fmt: Format) -> None:
    """b7, b8: a call's id and name come once, fragments are never empty, their sum is the finished arguments."""
    text = f"Well.\n{fmt.write_call('find', TRICKY)}\n{fmt.write_call('ping', '{}')}"
    events = read(fmt, list(text))
    starts = [event for event in events if isinstance(event, CallStarted)]
    assert [(event.index, event.name) for event in starts] == [(0, "find"), (1, "ping")]
    assert len({event.id for event in starts}) == 2
    fragments = [event for event in events if isinstance(event, ArgumentsDelta)]
    assert all(event.fragment for event in fragments)
    for done in (event for event in events if isinstance(event, CallFinished)):
        assert "".join(event.fragment for event in fragments if event.index == done.index) == done.arguments
    assert sum(isinstance(event, Finished) for event in events) == 1
    assert isinstance(events[-1], Finished)


@pytest.mark.parametrize("fmt", JSON_FORMATS, ids=lambda fmt: fmt.name)
def test_arguments_come_as_they_are_made(fmt: Format) -> None:
    """b19: each character of the arguments is passed on with the delta that brings it, and the call's start with the
    first of them."""
    value = "x" * 600
    arguments = f'{{"q":"{value}"}}'
    text = fmt.write_calls([("find", arguments)])
    reader = Reader(fmt, TOOLS)
    begin = text.index(arguments)
    sizes = []
    for place, character in enumerate(text):
        events = reader.feed(character)
        inside = begin <= place < begin + len(arguments)
        assert any(isinstance(event, ArgumentsDelta) for event in events) == inside
        assert any(isinstance(event, CallStarted) for event in events) == (place == begin)
        sizes += [len(event.fragment) for event in events if isinstance(event, ArgumentsDelta)]
    assert set(sizes) == {1}


@every_format
def test_text_comes_as_it_is_made(fmt: Format) -> None:
    """Only what may become a marker, and white space before it, waits."""
    reader = Reader(fmt, TOOLS)
    assert reader.feed("Hello") == [Text("Hello")]
    assert reader.feed(" ") == []
    assert reader.feed("you") == [Text(" you")]
    assert reader.feed("\n" + fmt.marker[:3]) == []
    assert merged(reader.feed("?!")) == [Text("\n" + fmt.marker[:3] + "?!")]


@every_format
def test_multibyte_characters(fmt: Format) -> None:
    """b23"""
    arguments = '{"q":"日本語 🎈 e\u0301 \\u00e5 \\ud83c\\udf88"}'
    text = f"é 漢 🎈\n{fmt.write_call('find', arguments)}"
    expected = [Text("é 漢 🎈"), *call(0, "find", arguments), Finished("tool_calls")]
    assert merged(read(fmt, list(text))) == merged(read(fmt, text)) == expected


@every_format
def test_text_and_calls_are_both_delivered(fmt: Format) -> None:
    """b24; and the white space around calls is not content."""
    ping = fmt.write_call("ping", "{}")
    text = f"Let me check. \n\n{ping} \n{fmt.write_call('find', TRICKY)}\n\n  "
    expected = [Text("Let me check."), *call(0, "ping", "{}"), *call(1, "find", TRICKY), Finished("tool_calls")]
    assert merged(read(fmt, text)) == expected
    assert merged(read(fmt, f"{ping}\n\nDone.")) == [*call(0, "ping", "{}"), Text("Done."), Finished("tool_calls")]


@every_format
def test_cut_by_the_budget(fmt: Format) -> None:
    """c2, b12: wherever the budget ends the answer, the reason is ``length`` and a cut call is not finished; nothing
    of a cut call's markup is content."""
    text = f"Hm.\n{fmt.write_call('find', TRICKY)}"
    end = text.index(TRICKY) + len(TRICKY)
    for cut in range(len(text) + 1):
        reader = Reader(fmt, TOOLS)
        fed = reader.feed(text[:cut])
        events = merged([*fed, *reader.finish("length")])
        assert events[-1] == Finished("length")
        assert any(isinstance(event, CallFinished) for event in events) == (cut >= end)
        begin = text.index(fmt.marker)
        content = "".join(event.text for event in events if isinstance(event, Text))
        assert content == ("Hm." if cut > begin else text[:cut])
        begun = begin + len(fmt.marker) <= cut < end
        assert reader.incomplete == (text[begin:cut] if begun else None)


@every_format
def test_half_a_marker_at_the_end(fmt: Format) -> None:
    """Text when the model stopped there; most likely markup when the budget ended the answer."""
    text = f"So.\n{fmt.marker[:-1]}"
    assert merged(read(fmt, text)) == [Text(text), Finished("stop")]
    assert merged(read(fmt, text, reason="length")) == [Text("So."), Finished("length")]
    assert merged(read(fmt, text, reason="length", tools=())) == [Text(text), Finished("length")]


@every_format
def test_calls_that_were_complete_before_the_cut_are_delivered(fmt: Format) -> None:
    text = f"{fmt.write_call('ping', '{}')}\n{fmt.write_call('find', TRICKY)}"
    cut = text.index(TRICKY) + 5
    started = [CallStarted(1, "id", "find"), ArgumentsDelta(1, TRICKY[:5])]
    assert merged(read(fmt, text[:cut], reason="length")) == [*call(0, "ping", "{}"), *started, Finished("length")]


@every_format
def test_finish_reasons(fmt: Format) -> None:
    """c3, c5: ``tool_calls`` with a complete call and only then."""
    assert read(fmt, fmt.write_call("ping", "{}"))[-1] == Finished("tool_calls")
    assert read(fmt, PLAIN)[-1] == Finished("stop")
    assert read(fmt, PLAIN, reason="length")[-1] == Finished("length")
    assert read(fmt, f"a\n{fmt.marker}")[-1] == Finished("stop")
    text = fmt.write_call("find", TRICKY)
    assert read(fmt, text[: text.index(TRICKY) + 5])[-1] == Finished("error")


@every_format
def test_names_that_were_not_offered(fmt: Format) -> None:
    """c6: a name is one of the offered ones or there is no call; the text is not lost."""
    for name in ("pong", "ping<|channel|>commentary", "", "ping ping", "pin"):
        text = fmt.write_call(name, "{}")
        events = merged(read(fmt, text))
        assert events == [Text(text), Finished("stop")]
    assert merged(read(fmt, fmt.write_call("find", TRICKY), tools=TOOLS[:1])) == [
        Text(fmt.write_call("find", TRICKY)),
        Finished("stop"),
    ]


@every_format
def test_malformed_calls_are_surfaced(fmt: Format) -> None:
    """c9: what an unconstrained model writes between markers and is no call comes out as it is, at every cut."""
    good = fmt.write_call("ping", "{}")
    broken = [
        f"{fmt.marker}nonsense",
        f"{fmt.marker}\n{fmt.marker}\n",
        good.replace("ping", ""),
        good.replace("{}", "[]"),
        good.replace("{}", '"x"'),
        f"{fmt.marker}{' ' * 3000}x",
        f"{fmt.opening}{'p' * 3000}",
    ]
    for text in broken:
        whole = merged(read(fmt, text))
        assert whole == [Text(text), Finished("stop")]
        assert merged(read(fmt, list(text))) == whole
        assert merged(read(fmt, f"{text}\n{good}")) == [
            Text(text.rstrip()),
            *call(0, "ping", "{}"),
            Finished("tool_calls"),
        ]


@every_format
def test_a_call_without_its_end(fmt: Format) -> None:
    """The arguments are complete, so the call is; what follows is text."""
    text = fmt.write_call("ping", "{}").removesuffix(fmt.call[-1].text)  # type: ignore[union-attr]
    assert merged(read(fmt, text)) == [*call(0, "ping", "{}"), Finished("tool_calls")]
    assert merged(read(fmt, f"{text} Sorry.")) == [*call(0, "ping", "{}"), Text("Sorry."), Finished("tool_calls")]


@every_format
def test_white_space_in_markup_does_not_matter(fmt: Format) -> None:
    text = fmt.write_call("find", '{"q": "a b"}')
    begin = text.index('{"q"')
    loose = f"{text[:begin]} \n {text[begin:]}"
    assert merged(read(fmt, loose)) == [*call(0, "find", '{"q": "a b"}'), Finished("tool_calls")]


@every_format
def test_without_tools_everything_is_text(fmt: Format) -> None:
    text = f"a\n{fmt.write_call('ping', '{}')}\n "
    assert merged(read(fmt, list(text), tools=())) == [Text(text), Finished("stop")]


@every_format
def test_where_a_call_began(fmt: Format) -> None:
    """``call_offset`` counts characters before the marker, whatever the cuts."""
    text = f"Über 🎈\n{fmt.write_call('ping', '{}')}\n{fmt.write_call('find', TRICKY)}"
    second = text.rindex(fmt.marker, 0, text.index(TRICKY))
    for pieces in ([text], list(text)):
        reader = Reader(fmt, TOOLS, first_index=3)
        events = [event for piece in pieces for event in reader.feed(piece)]
        assert reader.call_offset == second
        assert [event.index for event in events if isinstance(event, CallStarted)] == [3, 4]


def test_names_and_wire_tools() -> None:
    """The way that outside checks call it."""
    reader = Reader("hermes", WIRE)
    text = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    assert merged([*reader.feed(text, []), *reader.finish("stop")]) == [*call(0, "ping", "{}"), Finished("tool_calls")]


def test_ids() -> None:
    ids = {new_call_id() for _ in range(200)}
    assert len(ids) == 200
    assert all(re.fullmatch(r"call_[A-Za-z0-9]{24}", name) for name in ids)
    started = Reader("mistral", WIRE).feed("[TOOL_CALLS]ping[ARGS]{}")[0]
    assert isinstance(started, CallStarted)
    assert re.fullmatch(r"[A-Za-z0-9]{9}", started.id)


@pytest.mark.parametrize("opened", [True, False])
@pytest.mark.parametrize("fmt", [fmt for fmt in FORMATS if fmt.reasoning], ids=lambda fmt: fmt.name)
def test_reasoning(fmt: Format, opened: bool) -> None:
    """Reasoning comes first and apart; markers in it are data; the white space around it goes."""
    assert fmt.reasoning is not None
    thought = f"I could write {fmt.write_call('ping', '{}')} here <th"
    opening = "" if opened else fmt.reasoning.open
    text = f"{opening}\n{thought}\n{fmt.reasoning.close}\n\nSo:\n{fmt.write_call('ping', '{}')}"
    expected = [Reasoning(thought), Text("So:"), *call(0, "ping", "{}"), Finished("tool_calls")]
    for cut in range(len(text)):
        assert merged(read(fmt, [text[:cut], text[cut:]], reasoning=True)) == expected
    cut_short = text[: text.index(fmt.reasoning.close) + 3]
    assert merged(read(fmt, cut_short, reasoning=True, reason="length"))[-1] == Finished("length")
