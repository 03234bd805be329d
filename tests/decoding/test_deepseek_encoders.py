"""DeepSeek V3.2 and later: no chat template, prompts are written by vLLM's own tokenizers for them."""

from __future__ import annotations

import itertools
import json
from importlib import import_module
from typing import Any

import pytest

from decoding import ToolChoice, render_text
from decoding.formats import detect
from decoding.reasoning import mode_of
from decoding.template import abilities
from tests.decoding import templates
from tests.decoding.support import TOOLS, call, merged, read
from tests.decoding.test_rendering import calling, result, user

AUTO = ToolChoice("auto")


@pytest.fixture(params=["v32", "v4", "v41"])
def tokenizer(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip("vllm", reason="needs vLLM")
    module = import_module(f"vllm.tokenizers.deepseek_{request.param}")
    made = getattr(module, f"get_deepseek_{request.param}_tokenizer")(templates.tokenizer(None))
    assert detect(made).name == f"deepseek_{request.param}"
    return made


def test_a_tool_loop(tokenizer: Any) -> None:
    """Tools are shown, earlier calls stand as the model writes them, and each prompt begins with the one before."""
    fmt = detect(tokenizer)
    assert abilities(tokenizer, fmt).tools
    turns = [user("question")]
    off = {"enable_thinking": False}
    prompts = [render_text(tokenizer, fmt, turns, TOOLS, AUTO, off)]
    for n in range(10):
        turns += [calling((f"call_{n}", "find", json.dumps({"q": f"word {n}"}))), result(f"call_{n}", f"result {n}")]
        prompts.append(render_text(tokenizer, fmt, turns, TOOLS, AUTO, off))
    assert all(tool.name in prompts[0] for tool in TOOLS)
    for shorter, longer in itertools.pairwise(prompts):
        assert longer.startswith(shorter)
    written = prompts[1][len(prompts[0]) :].partition("<｜end▁of▁sentence｜>")[0]
    assert merged(read(fmt, written))[:-1] == call(0, "find", '{"q": "word 0"}')


def test_reasoning_by_template_argument(tokenizer: Any) -> None:
    fmt = detect(tokenizer)
    for kwargs, mode in (({"thinking": True}, "open"), ({"enable_thinking": False, "thinking": False}, "none")):
        prompt = render_text(tokenizer, fmt, [user("go")], TOOLS, AUTO, kwargs)
        assert mode_of(fmt, prompt, "", kwargs) == mode
