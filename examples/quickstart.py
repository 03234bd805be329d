"""Ten lines: a tool call from the server at http://127.0.0.1:8000/v1 (`make serve`)."""

from openai import OpenAI

client = OpenAI(base_url="http://127.0.0.1:8000/v1", api_key="none")
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
weather = {"name": "get_weather", "description": "Get the current weather in a city.", "parameters": schema}
answer = client.chat.completions.create(
    model=client.models.list().data[0].id,
    messages=[{"role": "user", "content": "What is the weather in Paris right now?"}],
    tools=[{"type": "function", "function": weather}],
    temperature=0,
)
print(answer.choices[0].finish_reason, answer.choices[0].message.tool_calls)
