"""Conversations → prompts, through templates of several temperaments."""

from __future__ import annotations

import itertools
import json
from functools import cache
from typing import Any

import pytest

from decoding import RenderError, ToolChoice, render_prompt, render_text, tool_from_wire
from decoding.formats import Format, explain, get
from decoding.template import abilities
from tests.decoding import templates
from tests.decoding.support import ALL_FORMATS, FORMATS, TOOLS, WIRE, call, merged, read

HERMES, PROMPTED = get("hermes"), get("prompted")
AUTO = ToolChoice("auto")


@cache
def tokenizer(name: str) -> Any:
    return templates.tokenizer(templates.ALL[name])


def combinations() -> list[Any]:
    pairs = [(name, fmt) for name in templates.ALL for fmt in FORMATS]
    return [pytest.param(name, fmt, id=f"{name}-{fmt.name}") for name, fmt in pairs]


every_combination = pytest.mark.parametrize(("name", "fmt"), combinations())


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def calling(*calls: tuple[str, str, Any], content: Any = None) -> dict[str, Any]:
    made = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return {"role": "assistant", "content": content, "tool_calls": made}


def result(of: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": of, "content": content}


def text_of(name: str, fmt: Format, messages: list[dict[str, Any]], choice: ToolChoice = AUTO) -> str:
    return render_text(tokenizer(name), fmt, messages, TOOLS, choice)


@every_combination
def test_every_kind_of_message(name: str, fmt: Format) -> None:
    """e1, e2, e3: content null, text, parts; arguments as text, object, broken JSON; results of any kind."""
    broken = '{"q": "x'
    prompt = text_of(
        name,
        fmt,
        [
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "system", "content": "Be kind."},
            user([{"type": "text", "text": "first part"}, {"type": "text", "text": "second part"}]),
            calling(("a", "find", '{"q": "as text"}'), ("b", "find", {"q": "as object"}), content="Looking."),
            result("a", [{"type": "text", "text": "result in parts"}]),
            result("b", {"result": ["as", "object"]}),
            calling(("c", "find", broken), content=[{"type": "text", "text": "Once more."}]),
            result("c", None),
            {"role": "assistant", "content": "  plain answer\n", "tool_calls": []},
            user("why?"),
            {"role": "assistant", "content": []},
            user("then?"),
            {"role": "assistant", "content": None, "refusal": "I would rather not."},
            user("last question"),
        ],
    )
    for piece in (
        "Be brief.",
        "Be kind.",
        "first part",
        "second part",
        "Looking.",
        "as text",
        "as object",
        "result in parts",
        '"as"',
        "Once more.",
        broken,
        "plain answer",
        "rather not",
        "last question",
    ):
        assert piece in prompt, piece
    order = [prompt.index(p) for p in ("Be brief", "first part", "as text", "result in parts", "last question")]
    assert order == sorted(order)
    assert prompt.endswith("<|assistant|>")
    assert "  plain answer" not in prompt
    assert "plain answer<|end|>" in prompt


@every_combination
def test_a_system_message_in_mid_history(name: str, fmt: Format) -> None:
    """e5"""
    prompt = text_of(
        name,
        fmt,
        [user("one"), {"role": "assistant", "content": "two"}, {"role": "system", "content": "three"}, user("four")],
    )
    places = [prompt.rindex(word) for word in ("one", "two", "three", "four")]
    assert places == sorted(places)


@every_combination
def test_tools_and_choice(name: str, fmt: Format) -> None:
    prompt = text_of(name, fmt, [user("hello")])
    assert all(tool.name in prompt for tool in TOOLS)
    assert "Tool find." in prompt
    assert "find-all_2" not in text_of(name, fmt, [user("hello")], ToolChoice("none"))
    assert render_text(tokenizer(name), fmt, [user("hello")]).count("hello") == 1


def test_prompted_tells_what_is_required() -> None:
    required = text_of("plain", PROMPTED, [user("hello")], ToolChoice("required"))
    assert PROMPTED.wording.required in required
    assert PROMPTED.wording.required not in text_of("plain", PROMPTED, [user("hello")])
    named = text_of("plain", PROMPTED, [user("hello")], ToolChoice("required", ("find",), once=True))
    assert "- find(" in named
    assert "- ping(" not in named


@every_combination
def test_the_prompt_only_grows(name: str, fmt: Format) -> None:
    """The next turn's prompt begins with this one's: the engine's prefix cache hits. e6: nothing grows by itself."""
    turns = [
        user("question one"),
        calling(("a", "find", '{"q":"x"}')),
        result("a", "result one"),
        calling(("b", "ping", "{}"), content="\n\nAnd again."),
        result("b", "result two"),
        {"role": "assistant", "content": "\n\nAnswer."},
        user("question two"),
        calling(("c", "ping", "{}")),
        result("c", "result three"),
    ]
    asked = [count for count in range(1, len(turns) + 1) if turns[count - 1]["role"] != "assistant"]
    prompts = [text_of(name, fmt, turns[:count]) for count in asked]
    for shorter, longer in itertools.pairwise(prompts):
        assert longer.startswith(shorter)


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("name", ["plain", "strict", "hermes"])
@pytest.mark.parametrize("content", ["", "Let me see."])
def test_earlier_calls_stand_as_the_model_writes_them(fmt: Format, name: str, content: str) -> None:
    """Render → read is the identity, to the letter of the arguments."""
    calls = [("find", '{"q":  "\\u00e5 } <tool_call>"}'), ("ping", "{}"), ("find-all_2", '{\n"n":1}')]
    prefix = text_of(name, fmt, [user("go")])
    history = calling(*((str(n), *each) for n, each in enumerate(calls)), content=content)
    prompt = text_of(name, fmt, [user("go"), history, result("0", "r"), user("and?")])
    assert prompt.startswith(prefix)
    written = prompt[len(prefix) : prompt.index("<|end|>", len(prefix))]
    events = merged(read(fmt, written))
    expected = [event for index, each in enumerate(calls) for event in call(index, *each)]
    assert events[bool(content) : -1] == expected
    assert not content or getattr(events[0], "text", None) == content


def test_what_the_templates_can_take() -> None:
    hermes = abilities(tokenizer("hermes"), HERMES)
    assert hermes.tools
    assert hermes.calls_as_text
    assert not hermes.arguments_as_text
    assert not hermes.late_system
    items = abilities(tokenizer("items"), HERMES)
    assert items.tools
    assert not items.calls_as_text
    assert not items.arguments_as_text
    strings = abilities(tokenizer("strings"), HERMES)
    assert strings.tools
    assert strings.arguments_as_text
    strict = abilities(tokenizer("strict"), HERMES)
    assert not strict.system
    assert not strict.neighbours
    assert not strict.tools
    plain = abilities(tokenizer("plain"), HERMES)
    assert plain.system
    assert plain.late_system
    assert not plain.tools


def test_objects_for_templates_that_want_objects() -> None:
    """e2: and text where the arguments are no object."""
    history = [user("go"), calling(("a", "find", '{"q": "x y"}')), result("a", "r")]
    assert "find: q=x y" in text_of("items", HERMES, history)
    history[1] = calling(("a", "find", '{"q": "x y'))
    assert '"arguments": {"q": "x y}' in text_of("items", HERMES, history)
    assert 'find{"q": "x y"}' in text_of(
        "strings", HERMES, [user("go"), calling(("a", "find", {"q": "x y"})), result("a", "r")]
    )


@pytest.mark.parametrize(
    ("template", "fmt", "end"),
    [(templates.MISTRAL, get("mistral"), "</s>"), (templates.KIMI, get("kimi"), "<|end|>")],
    ids=["mistral", "kimi"],
)
def test_ids_of_the_kind_that_a_template_demands(template: str, fmt: Format, end: str) -> None:
    """Whatever ids the client has, earlier calls stand as the model writes them, and prompts only grow."""
    made = templates.tokenizer(template)
    able = abilities(made, fmt)
    assert able.tools
    assert able.calls_as_text
    turns = [
        user("go"),
        calling(("call_abcdefghijklmnopqrstuvwx", "find", '{"q":"x"}'), ("b", "ping", "{}")),
        result("call_abcdefghijklmnopqrstuvwx", "one"),
        result("b", "two"),
        calling(("c", "find", '{"q": "broken'), content="Again."),
        result("c", "three"),
        {"role": "assistant", "content": "Done."},
        user("more"),
    ]
    prompts = [render_text(made, fmt, turns[:count], TOOLS, AUTO) for count in (1, 4, 6, 8)]
    for shorter, longer in itertools.pairwise(prompts):
        assert longer.startswith(shorter)
    written = prompts[1][len(prompts[0]) :].partition(end)[0]
    assert merged(read(fmt, written))[:-1] == [*call(0, "find", '{"q":"x"}'), *call(1, "ping", "{}")]
    assert fmt.write_calls([("find", '{"q": "broken')], first_index=2) in prompts[-1]
    if fmt.ids == "functions":
        assert "## functions.find:0: one" in prompts[-1]
        assert "functions.find:2" in prompts[-1]


def test_template_arguments_go_through() -> None:
    noisy = templates.tokenizer(templates.PLAIN + "{% if enable_thinking %}<think>{% endif %}")
    assert render_text(noisy, HERMES, [user("x")], template_kwargs={"enable_thinking": True}).endswith("<think>")
    assert not render_text(noisy, HERMES, [user("x")]).endswith("<think>")


def test_token_ids() -> None:
    ids = render_prompt(tokenizer("plain"), PROMPTED, [user("é 🎈")], TOOLS, AUTO)
    assert tokenizer("plain").decode(ids) == text_of("plain", PROMPTED, [user("é 🎈")])


def test_a_template_that_refuses_everything() -> None:
    with pytest.raises(RenderError, match="chat template"):
        render_text(templates.tokenizer(templates.SULKY), HERMES, [user("x")], TOOLS, AUTO)


def test_an_unknown_role() -> None:
    with pytest.raises(ValueError, match="narrator"):
        render_text(tokenizer("plain"), PROMPTED, [{"role": "narrator", "content": "x"}])


@pytest.mark.parametrize("strict", [True, False, None])
def test_the_declaration_is_shown_as_sent(strict: bool | None) -> None:
    """e7: ``strict`` is taken in every place and never in the prompt's way; parameters are not the narrowed ones."""
    marked = [{**tool, "function": {**tool["function"], "strict": strict}, "strict": strict} for tool in WIRE]
    tools = [tool_from_wire(tool) for tool in marked]
    assert [tool.strict for tool in tools] == [strict] * len(tools)
    for name, fmt in (("hermes", HERMES), ("plain", PROMPTED), ("items", HERMES), ("strings", HERMES)):
        prompt = render_text(tokenizer(name), fmt, [user("x")], tools, AUTO)
        assert prompt == text_of(name, fmt, [user("x")])
        assert "strict" not in prompt
        assert "maxProperties" not in prompt
    assert json.dumps(WIRE[1]["function"]["parameters"]) in text_of("hermes", HERMES, [user("x")])


OWN = [
    (templates.HERMES, "hermes"),
    (templates.MISTRAL, "mistral"),
    (templates.KIMI, "kimi"),
    (templates.HARMONY, "harmony"),
    (templates.GRANITE, "granite"),
    (templates.COHERE, "cohere"),
    (templates.LLAMA, "llama_json"),
]
PLAIN_FORMATS = [
    *((templates.PLAIN, fmt.name) for fmt in ALL_FORMATS),
    (templates.GEMMA_3, "prompted"),
    (templates.COMMAND_R, "command_r"),
]


@pytest.mark.parametrize(("template", "name"), OWN, ids=[name for _, name in OWN])
def test_the_families_own_templates(template: str, name: str) -> None:
    """Tools, several calls of one answer, each result behind its call, text beside calls, broken arguments."""
    made, fmt = templates.tokenizer(template), get(name)
    assert abilities(made, fmt).tools
    history = [
        user("go"),
        calling(("call_one", "find", '{"q": "first"}'), ("call_two", "find", '{"q": "second"}'), content=None),
        result("call_one", "result one"),
        result("call_two", "result two"),
        calling(("call_three", "find", '{"q": "broken'), content=None),
        result("call_three", "result three"),
        {"role": "assistant", "content": "answer", "reasoning_content": "because"},
        user("more"),
    ]
    prompt = render_text(made, fmt, history, TOOLS, AUTO)
    words = ["find-all_2", "go", "first", "second", "broken", "result three", "answer", "more"]
    places = [prompt.index(word) for word in words]
    assert places == sorted(places)
    assert prompt.index("first") < prompt.index("result one") < prompt.index("result two") < prompt.index("broken")
    assert "call these functions" not in prompt, "written out, though the template can"


@pytest.mark.parametrize(
    ("template", "name"),
    [(templates.GEMMA_3, "prompted"), (templates.COMMAND_R, "command_r")],
    ids=["gemma 3", "command r"],
)
def test_families_whose_templates_have_no_place_for_tools(template: Any, name: str) -> None:
    """They are told of them in the system message; calls and results stand as text, in turns that the template has."""
    made = templates.tokenizer(template)
    found = explain(made)
    assert (found.format.name, found.is_a_guess) == (name, False)
    fmt = found.format
    history = [
        {"role": "system", "content": "Be brief."},
        user("go"),
        calling(("a", "find", '{"q": "first"}'), ("b", "ping", "{}"), content="Two things."),
        result("a", "result one"),
        result("b", "result two"),
    ]
    prompt = render_text(made, fmt, history, TOOLS, AUTO)
    assert "find-all_2" in prompt
    assert fmt.write_answer("Two things.", [("find", '{"q": "first"}'), ("ping", "{}")]) in prompt
    order = ["Be brief.", "go", "first", "result one", "result two"]
    assert [prompt.rindex(word) for word in order] == sorted(prompt.rindex(word) for word in order)
    assert "directly-answer" not in prompt


def test_one_call_a_turn() -> None:
    """Each result stands behind its own call, whatever their order."""
    made, fmt = templates.tokenizer(templates.HARMONY), get("harmony")
    assert abilities(made, fmt).single_calls
    history = [
        user("go"),
        calling(("a", "find", '{"q": "first"}'), ("b", "ping", "{}"), content="Two things."),
        result("b", "result two"),
        result("a", "result one"),
    ]
    prompt = render_text(made, fmt, history, TOOLS, AUTO)
    order = ["Two things.", "first", "functions.find to=assistant", "result one", "functions.ping to=", "result two"]
    assert [prompt.index(word) for word in order] == sorted(prompt.index(word) for word in order)


@pytest.mark.parametrize(
    ("template", "name"), [*OWN, *PLAIN_FORMATS], ids=[*(n for _, n in OWN), *(f"plain-{n}" for _, n in PLAIN_FORMATS)]
)
def test_the_prompt_of_a_tool_loop_only_grows(template: str, name: str) -> None:
    """Ten turns: each prompt begins with the one before, up to what opens the answer; so the prefix cache hits."""
    made, fmt = templates.tokenizer(template), get(name)
    turns = [user("question")]
    prompts = [render_text(made, fmt, turns, TOOLS, AUTO)]
    for n in range(10):
        turns += [calling((f"call_{n}", "find", json.dumps({"q": f"word {n}"}))), result(f"call_{n}", f"result {n}")]
        prompts.append(render_text(made, fmt, turns, TOOLS, AUTO))
    for shorter, longer in itertools.pairwise(prompts):
        assert longer.startswith(shorter)
