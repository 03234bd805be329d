"""The server's own tool grammar, offline: Outlines and transformers instead of vLLM.

    python examples/offline_outlines.py [MODEL_FOLDER]

Without a folder the embedded SmolLM2-135M-Instruct is used. It prints the model's raw text and the calls in it.
"""

from __future__ import annotations

import copy
import json
import sys

import outlines
from transformers import AutoModelForCausalLM, AutoTokenizer

from decoding import CallFinished, CallStarted, Reader, render_text, tool_choice_from_wire, tool_from_wire, tool_grammar
from decoding.formats import explain
from server.embedded import default_cache_dir, prepare

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Get the current weather for a city",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "minLength": 1},
                    "unit": {"enum": ["celsius", "fahrenheit"]},
                },
                "required": ["city", "unit"],
            },
        },
    }
]
MESSAGES = [{"role": "user", "content": "What is the weather in Paris?"}]


def main(folder: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    found = explain(tokenizer)
    print(f"format: {found.format.name} ({found.reason})")

    tools = [tool_from_wire(tool) for tool in TOOLS]
    choice = tool_choice_from_wire("required")
    prompt = render_text(tokenizer, found.format, MESSAGES, tools, choice)
    grammar = tool_grammar(tools, choice, parallel=False, fmt=found.format)

    # Outlines would put the prompt through the chat template again: a tokenizer without one leaves it as it is.
    bare = copy.deepcopy(tokenizer)
    bare.chat_template = None
    generate = outlines.Generator(outlines.from_transformers(model, bare), grammar.cfg, backend="llguidance")
    text = generate(prompt, max_new_tokens=120, do_sample=False)
    print(f"text: {text}")

    reader = Reader(found.format, tools)
    for event in [*reader.feed(text), *reader.finish("stop")]:
        match event:
            case CallStarted(name=name):
                print(f"call: {name}")
            case CallFinished(arguments=arguments):
                print(f"arguments: {json.loads(arguments)}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(prepare(default_cache_dir(), print)))
