"""The rules of an answer that is a series of messages with channels (Harmony)."""

from __future__ import annotations

from collections.abc import Sequence

from decoding.answer_rules import Shape, is_special
from decoding.formats import Channels
from decoding.lark import nested, regex, spelled, without
from decoding.tools import Tool


def message_rules(shape: Shape, channels: Channels, tools: Sequence[Tool]) -> list[str]:
    """All rules but the tools' ``arguments_N``.

    Reasoning and asides go first, in any number and order. Then text ends the answer, or calls do, with text behind
    them where several calls may be made: a model that was trained to hand over after one writes the token that ends the
    call, which ends the answer in the engine.
    """
    form, c = shape.form, channels

    def fixed(text: str) -> str:
        return spelled(form.special, text)

    thinks = "thought* " if shape.reasoning != "none" else ""
    asides = "(thought | aside)* " if thinks else "aside* "
    ends = "|".join(map(regex, c.ends))
    # What a reader of text would take for the end of a message.
    said = without("(?s:.+)", [f"(?s:.*)({ends})({regex(c.start)}(?s:.*))?"])
    kind = f'(" "? {fixed(c.constrain)} "json" | " json")?'
    rules = [
        f"start: {_answer(shape, thinks, asides)}",
        # Piece by piece, and so everywhere: of two strings that begin alike the lexer would take the longer one.
        f'thought: {fixed(c.channel)} "{c.reasoning}" {fixed(c.body)} passed',
        f'aside: {fixed(c.channel)} "{c.aside}" {fixed(c.body)} passed',
        f"last: {fixed(c.channel)} ({_either(c.text, c.aside)}) {fixed(c.body)} SAID?",
        f"SAID: {said}",
        f'next: ({fixed(c.call_end)} | {fixed(c.end)}) {fixed(c.start)} "{c.role}"',
        f"ending: {fixed(c.call_end)} | {fixed(c.end)}",
    ]
    if is_special(form, c.end):
        rules.append(f"passed: SAID? {fixed(c.end + c.start + c.role)}")
    else:
        # Where the marks are text the reader takes any end for one that the beginning of a message follows.
        handed_on = f"(?s:.*){regex(c.end + c.start + c.role)}"
        earlier = f"(?s:.*)({ends}){regex(c.start)}{handed_on}"
        rules.append(f"passed[lazy]: PASSED\nPASSED: {without(handed_on, [earlier])}")
    if shape.response is not None:
        rules.append(f'result: {fixed(c.channel)} "{c.text}" {kind} {fixed(c.body)} response')
        rules.append(nested("response", shape.response))
    if not tools:
        return rules
    channel = f"({_either(c.aside, c.reasoning)})"
    for n, tool in enumerate(tools):
        to = fixed(f" to={c.recipients}{tool.name}")
        before = f"{to} {fixed(c.channel)} {channel} {kind}"
        behind = f"{fixed(c.channel)} {channel} {to} {kind}"
        rules.append(f"call_{n}: ({before} | {behind}) {fixed(c.body)} arguments_{n}")
    rules.append(f"call: {' | '.join(f'call_{n}' for n in range(len(tools)))}")
    rules += [f"first: call_{n}" for n, tool in enumerate(tools) if tool.name == shape.first]
    return rules


def _either(*texts: str) -> str:
    return " | ".join(f'"{text}"' for text in texts)


def _answer(shape: Shape, thinks: str, asides: str) -> str:
    if shape.calls == "none":
        return f"{thinks}result" if shape.response else f"({asides}last)?"
    one = "first" if shape.first else "call"
    only_calls = shape.calls == "required" or shape.response is not None
    before = thinks if only_calls else asides
    opened = "" if shape.first else before
    if not shape.parallel:
        calls = f"{one} ending?"
    elif only_calls:
        calls = f"{one} (next {before}call)* ending?"
    else:
        calls = f"{one} (next {before}call)* (next {before}last | ending)?"
    if shape.calls == "required" or shape.first:
        return f"{opened}{calls}"
    return f"{opened}(result | {calls})" if shape.response else f"({opened}(last | {calls}))?"
