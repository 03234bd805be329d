"""The rules of an answer but for its calls: text up to a marker, reasoning, and how they follow each other.

Free text that may hold a call is a lazy lexeme that ends with a marker; where the marker is a special token, the token
ends it, and text that only spells the marker is excluded, as the reader would take it for one.
"""

from __future__ import annotations

from dataclasses import dataclass

from decoding.formats import Format, Opening
from decoding.lark import FEW_SPACES, SPACE, lark, nested, regex, spelled, without
from decoding.reasoning import ReasoningMode
from decoding.tools import Mode

_BEFORE = {"anywhere": "(?s:.*)", "line": r"((?s:.*)\n)?", "answer": SPACE}


@dataclass(frozen=True, slots=True)
class Shape:
    """What an answer looks like, apart from its tools. ``response`` is the grammar of a JSON answer."""

    form: Format
    calls: Mode
    parallel: bool
    first: str | None
    response: str | None
    reasoning: ReasoningMode

    @property
    def markers(self) -> list[Opening]:
        """The first opening of each marker: what is numbered by markers is numbered in this order."""
        return list({opening.marker: opening for opening in reversed(self.form.openings)}.values())[::-1]

    @property
    def begins_with_text(self) -> bool:
        """Whether the answer begins with any text, up to a marker, or with reasoning that it opens."""
        form = self.form
        if self.calls == "required" or self.first or self.response or self.reasoning == "open":
            return False
        places = {opening.marker_at for opening in form.openings}
        if form.text or form.channels or len(places) != 1 or "answer" in places:
            return False
        # A marker of several pieces could end in text.
        return all(o.marker in dict(form.special) or not is_special(form, o.marker) for o in form.openings)


def is_special(form: Format, text: str) -> bool:
    """Whether there is a special token in this text."""
    return any(token in text for token, _ in form.special)


def answer(shape: Shape) -> str:
    """The right-hand side of the answer, reasoning in front."""
    said = _answer(shape)
    if shape.form.text and shape.form.text.end:
        said = f"({said}) ({spelled(shape.form.special, shape.form.text.end)})?"
    return {"none": said, "open": f"reasoning gap? ({said})", "optional": f"(reasoning gap?)? ({said})"}[
        shape.reasoning
    ]


def _answer(shape: Shape) -> str:
    if shape.calls == "none":
        return "answered" if shape.response else "unmarked?"
    form, count = shape.form, len(shape.markers)
    units = [f"marker_{m} calls_{m}" for m in range(count)]
    opening = "marker_0 first" if shape.first else " | ".join(units)
    if shape.parallel and form.section is None:
        between = f"{_between(form)} " if form.separator else ""
        more = f"({between}({' | '.join(units)}))*"
        opening = f"({opening}) {more}"
    opened = "blank? " if form.text and form.text.always else ""
    opening = f"{opened}({opening})"
    if shape.calls == "required" or (shape.first and (shape.response or not shape.parallel)):
        return opening
    if shape.response:
        return f"answered | {opening}"
    marked = " | ".join(f"marked_{m} calls_{m}" for m in range(count))
    if form.marker_at == "answer":
        others = "".join(f" | marked_{m} calls_{m}" for m in range(1, count))
        return opening if shape.first else f"marker_0 calls_0{others} | unmarked?"
    if not shape.parallel:
        return f"{marked} | text?"
    return f"{opened}marker_0 first ({marked})* text?" if shape.first else f"({marked})* text?"


def _between(form: Format) -> str:
    """Between two calls that follow each other: what the format has, or any other white space where that does too."""
    return lark(form.separator) if form.marker_at == "line" else "space?"


def answer_rules(shape: Shape) -> dict[str, str]:
    """Rules by name that ``answer`` may use; each may use those before it."""
    form = shape.form
    forbidden = _forbidden_beginnings(shape)
    marks = [opening.marker for opening in shape.markers]
    marks += [mark for mark in (form.text.close, form.text.end) if mark] if form.text else []
    spellings = [f"{_BEFORE['anywhere']}{regex(mark)}(?s:.*)" for mark in marks if is_special(form, mark)]
    text = without("(?s:.+)", [*forbidden, *spellings])
    rules = {"space": r"space: /[ \n]{1,2}/", "text": f"text: {_wrapped(form, 'TEXT')}\nTEXT: {text}"}
    contained = [f"{_BEFORE[o.marker_at]}{regex(o.marker)}(?s:.*)" for o in shape.markers]
    unmarked = without("(?s:.+)", [*forbidden, *contained, *(each for each in spellings if each not in contained)])
    rules["unmarked"] = f"unmarked: {_wrapped(form, 'UNMARKED')}\nUNMARKED: {unmarked}"
    answers = [f"{SPACE}{regex(o.marker)}(?s:.*)" for o in shape.markers if o.marker_at == "answer"]
    for m, opening in enumerate(shape.markers):
        marker = spelled(form.special, opening.marker)
        # Calls in a list without an opening bring the marker with them.
        brought = opening.section is not None and not opening.section.open
        rules[f"marker_{m}"] = f"marker_{m}: {lark('') if brought else marker}"
        if is_special(form, opening.marker):
            before = "unmarked" if form.marker_at == "answer" else "text"
            places = [opening.marker.find(token) for token, _ in form.special if token in opening.marker]
            head = opening.marker[: min(places)]
            rules[f"marked_{m}"] = f"marked_{m}: {before}? {marker}"
            if head:
                # Text takes what stands before the token: it has to be one terminal with it.
                rest = spelled(form.special, opening.marker.removeprefix(head))
                lexeme = without(f"{_BEFORE['anywhere']}{regex(head)}", [*forbidden, *spellings])
                rules[f"marked_{m}"] = f"marked_{m}: MARKED_{m} {rest}\nMARKED_{m}: {lexeme}"
        else:
            # Lazy and lower case: a greedy terminal that excludes the marker would never see a call after text.
            end = f"{_BEFORE[opening.marker_at]}{regex(opening.marker)}"
            lexeme = without(end, [*forbidden, *spellings, *(answers if opening.marker_at != "answer" else ())])
            rules[f"marked_{m}"] = f"marked_{m}[lazy]: MARKED_{m}\nMARKED_{m}: {lexeme}"
    if form.reasoning is not None:
        rules["reasoning"] = _reasoning(form, shape.reasoning)
        rules["gap"] = r"gap: /\n{1,2}/"
    if form.text is not None:
        rules["blank"] = f"blank: ({spelled(form.special, form.text.open)})? {spelled(form.special, form.text.close)}"
    if shape.response is not None:
        rules["response"] = nested("response", shape.response)
        rules["answered"] = f"answered: {_wrapped(form, 'response')}"
    return rules


def _forbidden_beginnings(shape: Shape) -> list[str]:
    """What text may not begin with, because the reader takes it for a mark."""
    form = shape.form
    marks = [form.reasoning.open] if form.reasoning and shape.reasoning == "optional" else []
    # Where these marks are text they may stand in text: the reader takes them out.
    marks += [form.text.open] if form.text and is_special(form, form.text.open) else []
    return [f"{SPACE}{regex(mark)}(?s:.*)" for mark in marks]


def _wrapped(form: Format, terminal: str) -> str:
    """Text with the format's marks around it, where they are special tokens."""
    if form.text is None or not is_special(form, form.text.open):
        return terminal
    optional = "?" if form.text.always and terminal != "response" else ""
    return (
        f"({spelled(form.special, form.text.open)})? {terminal}{optional} ({spelled(form.special, form.text.close)})?"
    )


def _reasoning(form: Format, mode: ReasoningMode) -> str:
    assert form.reasoning is not None
    marks = form.reasoning
    close = regex(marks.close)
    left = [f"(?s:.*){regex(mark)}(?s:.*)" for mark in marks.left_at]
    if is_special(form, marks.close):
        opened = f"({spelled(form.special, marks.open)}){'?' if mode == 'open' else ''}"
        thought = without("(?s:.+)", [f"(?s:.*){close}(?s:.*)", *left])
        return f"reasoning: {opened} THOUGHT? {spelled(form.special, marks.close)}\nTHOUGHT: {thought}"
    opened = f"{FEW_SPACES}{regex(marks.open)}" if mode == "optional" else ""
    return f"reasoning[lazy]: THOUGHT\nTHOUGHT: {without(f'{opened}(?s:.*){close}', left)}"
