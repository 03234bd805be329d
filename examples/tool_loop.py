"""The whole loop: the model calls, the function runs, its result goes back, the model answers.

    python examples/tool_loop.py "What is the weather in Paris right now?"

Arguments need no checking before the function runs: they are valid against its schema. What can go wrong is the
function itself, and that is told to the model as the call's result. A step limit keeps a model that only ever calls
from going round for ever: in the last step it may not call.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from openai import OpenAI

STEPS = 5
BASE_URL = os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
client = OpenAI(base_url=BASE_URL, api_key=os.environ.get("OPENAI_API_KEY", "none"))


def get_weather(city: str, unit: str = "celsius") -> dict[str, Any]:
    known = {"paris": 18, "rome": 24}
    if city.lower() not in known:
        raise LookupError(f"no weather station in {city}")
    return {"city": city, "temperature": known[city.lower()], "unit": unit}


FUNCTIONS: dict[str, Callable[..., Any]] = {"get_weather": get_weather}
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Get the current weather in a city.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                },
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    }
]


def run(name: str, arguments: str) -> str:
    """The call's result as text; an exception becomes the text of an error, for the model to read."""
    try:
        return json.dumps(FUNCTIONS[name](**json.loads(arguments)))
    except Exception as error:
        return f"Error: {error}"


def answer(question: str) -> str:
    model = client.models.list().data[0].id
    messages: list[Any] = [{"role": "user", "content": question}]
    for step in range(STEPS):
        choice = client.chat.completions.create(
            model=model,
            messages=messages,
            tools=TOOLS,
            tool_choice="none" if step == STEPS - 1 else "auto",
            temperature=0,
        ).choices[0]
        messages.append(choice.message)
        if choice.finish_reason != "tool_calls":
            return choice.message.content or f"(no answer: {choice.finish_reason})"
        for call in choice.message.tool_calls or []:
            result = run(call.function.name, call.function.arguments)
            print(f"{call.function.name}({call.function.arguments}) → {result}")
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise AssertionError("the last step makes no calls")


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:]) or "What is the weather in Paris right now?"))
