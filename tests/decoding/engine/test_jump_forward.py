"""Jump-forward on the real engine: what is forced is never sampled, and nothing else changes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from decoding import tool_grammar
from tests.decoding.engine.core import Answer, Core, jump_forward_off

pytestmark = pytest.mark.engine

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["city", "unit"],
    "additionalProperties": False,
}
LONG = {
    "type": "object",
    "properties": {
        f"a_rather_long_parameter_name_{n}": {"enum": ["the_first_of_the_long_choices", "another"]} for n in range(4)
    },
    "required": [f"a_rather_long_parameter_name_{n}" for n in range(4)],
    "additionalProperties": False,
}


def tools(*schemas: tuple[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in schemas]


def grammar_of(choice: Any, *schemas: tuple[str, Any], parallel: bool = False, fmt: str = "hermes") -> str:
    return tool_grammar(tools(*schemas), choice, parallel, fmt).cfg.definition


def prompt(question: str) -> str:
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"


PARIS = prompt("What is the weather in Paris?")
ONE_CALL = grammar_of("required", ("get_weather", WEATHER))
LONG_CALL = grammar_of("required", ("choose", LONG))
AUTO = grammar_of("auto", ("get_weather", WEATHER), parallel=True)
CASES = {
    "one call": (PARIS, ONE_CALL),
    "prompted": (PARIS, grammar_of("required", ("get_weather", WEATHER), fmt="prompted")),
    "long names": (prompt("Choose something."), LONG_CALL),
    "two tools": (
        prompt("Weather in Rome, in degrees?"),
        grammar_of("required", ("get_weather", WEATHER), ("choose", LONG)),
    ),
    "text": (PARIS, AUTO),
}


def arguments(answer: Answer) -> dict[str, Any]:
    found = re.search(r'"arguments": (\{.*\})\}\n</tool_call>', answer.text)
    assert found, answer
    value: dict[str, Any] = json.loads(found[1])
    return value


@pytest.mark.parametrize("case", CASES)
def test_the_same_answer_in_fewer_passes(core: Core, case: str) -> None:
    """f4, f8, g5: known tokens change nothing but the passes, and the end of a call takes none of its own."""
    question, grammar = CASES[case]
    limit = 40 if case == "text" else 120
    before = core.passes
    jumped = core.ask(question, grammar, max_tokens=limit)
    between = core.passes
    with jump_forward_off():
        sampled = core.ask(question, grammar, max_tokens=limit)
    assert (jumped.text, jumped.reason) == (sampled.text, sampled.reason)
    if case == "text":
        assert core.passes - between == between - before
    else:
        assert (between - before) * 2 < core.passes - between
        assert jumped.deltas == between - before, "every pass gives one delta, the end none of its own"
    assert core.is_idle()


def test_reasoning_then_a_call(core: Core) -> None:
    """g5: the grammar holds what comes behind the reasoning, with jump-forward and without."""
    thought = "<think>\nI call the tool.\n</think>\n\n"
    question = "".join(f"{PARIS}{thought}Done.<|im_end|>\n" for _ in range(3)) + PARIS + thought[: thought.index("</")]
    grammar = tool_grammar(tools(("get_weather", WEATHER)), "required", False, "hermes", "open").cfg.definition
    before = core.passes
    jumped = core.ask(question, grammar, max_tokens=120)
    between = core.passes
    assert jumped.text.startswith("</think>"), "it goes on as it has seen before"
    assert jumped.reason == "stop"
    assert set(arguments(jumped)) == {"city", "unit"}
    with jump_forward_off():
        sampled = core.ask(question, grammar, max_tokens=120)
    assert (jumped.text, jumped.reason) == (sampled.text, sampled.reason)
    assert (between - before) * 2 < core.passes - between
    assert core.is_idle()


def test_the_beginning_is_computed_with_the_prompt(core: Core) -> None:
    """``<tool_call>…{"`` takes no pass of its own: the first one samples the first free token."""
    fixed = grammar_of({"type": "function", "function": {"name": "ping"}}, ("ping", {"type": "object"}))
    before = core.passes
    answer = core.ask(PARIS, fixed)
    assert (answer.reason, answer.deltas, core.passes - before) == ("stop", 1, 1)
    assert arguments(answer) == {}
    # Again with all of the prompt in the prefix cache, alone and beside others.
    assert core.ask(PARIS, fixed).text == answer.text
    for other in core.ask_all([(PARIS, {"grammar": fixed}), (PARIS, {"grammar": ONE_CALL}), (PARIS, {})])[:1]:
        assert other.text == answer.text


@pytest.mark.parametrize("length", range(26, 70, 3))
def test_prompts_of_every_length(core: Core, length: int) -> None:
    """The beginning may fill the prompt's last block (32 tokens), or a step (64)."""
    words = core.tokenizer.encode(PARIS)
    padding = core.tokenizer.decode(core.tokenizer.encode(" word") * (length - len(words)))
    question = prompt("What is the weather in Paris?" + padding)
    first = core.ask(question, ONE_CALL)
    assert set(arguments(first)) == {"city", "unit"}
    assert core.ask(question, ONE_CALL).text == first.text
    with jump_forward_off():
        assert core.ask(question, ONE_CALL).text == first.text
    assert core.is_idle()


def test_the_budget_may_end_inside_forced_tokens(core: Core) -> None:
    whole = core.ask(PARIS, ONE_CALL)
    assert whole.reason == "stop"
    for limit in range(1, len(whole.tokens)):
        cut = core.ask(PARIS, ONE_CALL, max_tokens=limit)
        assert (cut.tokens, cut.reason) == (whole.tokens[:limit], "length")
    assert core.ask(PARIS, ONE_CALL, max_tokens=len(whole.tokens)).reason == "stop"


def test_stop_tokens_and_strings_inside_forced_tokens(core: Core) -> None:
    whole = core.ask(PARIS, ONE_CALL)
    for place in (3, 8, len(whole.tokens) - 4):
        token = whole.tokens[place]
        stopped = core.ask(PARIS, ONE_CALL, stop_token_ids=[token])
        assert (stopped.tokens, stopped.reason) == (whole.tokens[: whole.tokens.index(token) + 1], "stop")
    for stop in ("name", "arguments", "</tool"):
        jumped = core.ask(PARIS, ONE_CALL, stop=[stop])
        assert (jumped.text, jumped.reason) == (whole.text[: whole.text.index(stop)], "stop")
    assert core.is_idle()


def test_the_context_may_end_inside_forced_tokens(core: Core) -> None:
    # 512 tokens of context; the prompt leaves 12.
    words = core.tokenizer.encode(PARIS)
    padding = core.tokenizer.decode(core.tokenizer.encode(" word") * (500 - len(words)))
    question = prompt("What is the weather in Paris?" + padding)
    room = 512 - len(core.tokenizer.encode(question))
    assert 0 < room < 30
    answer = core.ask(question, LONG_CALL)
    assert (len(answer.tokens), answer.reason) == (room, "length")


def test_a_seed_repeats(core: Core) -> None:
    first = core.ask(PARIS, ONE_CALL, temperature=1.0, seed=7)
    assert first == core.ask(PARIS, ONE_CALL, temperature=1.0, seed=7)
    assert set(arguments(first)) == {"city", "unit"}


def test_several_choices(core: Core) -> None:
    name = core.add(PARIS, core.params(ONE_CALL, n=3, temperature=1.0, seed=3))
    choices = core.run([name])[name]
    assert len(choices) == 3
    for choice in choices:
        assert arguments(choice)["unit"] in ("celsius", "fahrenheit")
        assert choice.reason == "stop"


def test_chunks_and_a_warm_prefix_cache(core: Core) -> None:
    # Prompts of more than one step (64 tokens), and forced runs that do not fit into one together.
    story = prompt("Once upon a time there was a weather station in Paris. " * 12 + "Choose.")
    asked = [(story, {"grammar": LONG_CALL})] * 6
    cold, *others = core.ask_all(asked)
    warm = core.ask(story, LONG_CALL)
    for answer in (cold, *others, warm):
        assert set(arguments(answer)) == set(LONG["properties"])
        assert answer.reason == "stop"
    with jump_forward_off():
        assert core.ask(story, LONG_CALL).text == warm.text


def test_preemption(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    preempted: list[str] = []
    preempt = core.scheduler._preempt_request

    def noticed(request: Any, *args: Any, **kwargs: Any) -> None:
        preempted.append(request.request_id)
        preempt(request, *args, **kwargs)

    monkeypatch.setattr(core.scheduler, "_preempt_request", noticed)
    # 40 blocks of 32 tokens, 12 requests of 4 or 5 blocks each.
    asked = [
        (prompt(f"Number {n}. " + "Tell me of the weather in Paris. " * 6), {"grammar": LONG_CALL if n % 2 else AUTO})
        for n in range(12)
    ]
    answers = core.ask_all(asked)
    assert preempted
    for n, answer in enumerate(answers):
        if n % 2:
            assert set(arguments(answer)) == set(LONG["properties"])
            assert answer.reason == "stop"
        else:
            assert answer.tokens
    assert core.is_idle()


def test_abort_between_forced_tokens(core: Core) -> None:
    aborted = core.add(PARIS, core.params(ONE_CALL))
    other = core.add(PARIS, core.params(ONE_CALL))

    seen = []

    def abort(step: int) -> None:
        if not seen and any(name.startswith(f"{aborted}-") for name in core.scheduler._unsent):
            seen.append(step)
            core.engine.abort_request([aborted])

    answers = core.run([aborted, other], after_step=abort)
    assert seen
    assert answers[aborted][0].reason is None
    assert arguments(answers[other][0])
    assert core.is_idle()


def test_a_batch_of_all_kinds(core: Core) -> None:
    plain = {"max_tokens": 24}
    bias = {core.tokenizer.encode(" the")[0]: -5.0}
    call = {"grammar": ONE_CALL}
    asked: list[tuple[str, dict[str, Any]]] = [
        (PARIS, call),
        (PARIS, call | {"logprobs": 2}),
        (PARIS, call | {"logprobs": 0, "temperature": 1.0, "seed": 1}),
        (PARIS, call | {"presence_penalty": 1.0, "frequency_penalty": 0.5, "repetition_penalty": 1.1}),
        (PARIS, call | {"logit_bias": bias, "temperature": 1.0}),
        (PARIS, call | {"min_p": 0.1, "temperature": 1.0, "top_p": 0.9, "top_k": 50}),
        (PARIS, call | {"temperature": 1.0, "seed": 5}),
        (PARIS, {"grammar": AUTO} | plain),
        (PARIS, plain),
        (PARIS, plain | {"logprobs": 3}),
        (PARIS, plain | {"logit_bias": bias, "min_p": 0.1, "temperature": 1.0, "seed": 2}),
        (PARIS, plain | {"repetition_penalty": 1.2, "min_tokens": 5}),
    ]
    answers = core.ask_all(asked)
    for (_, fields), answer in zip(asked, answers, strict=True):
        if fields.get("grammar") == ONE_CALL:
            assert set(arguments(answer)) == {"city", "unit"}
        assert answer.reason in ("stop", "length")
        if "logprobs" in fields:
            assert len(answer.logprobs) == len(answer.tokens)
            assert all(token in entry for token, entry in zip(answer.tokens, answer.logprobs, strict=True))
        else:
            assert not answer.logprobs
    assert answers[0].deltas < answers[1].deltas == len(answers[1].tokens)
    assert core.is_idle()
    assert core.ask(PARIS, **plain).text == core.ask(PARIS, **plain).text
