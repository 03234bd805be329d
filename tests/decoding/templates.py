"""Chat templates of several temperaments, and a tokenizer of single bytes to put them in."""

from __future__ import annotations

from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast


def tokenizer(template: str | dict[str, str] | None) -> Any:
    """Every byte is a token, so nothing is lost in either direction."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={letter: n for n, letter in enumerate(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=inner)
    made.chat_template = template
    return made


# Content is glued as it is: null would break it, tools are unknown to it.
PLAIN = """{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}\
{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"""

# No system role, user and assistant in turn: like Gemma.
STRICT = """{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('System role not supported') }}\
{% endif %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}\
{% endif %}<|{{ m['role'] }}|>{{ m['content'] | trim }}<|end|>{% endfor %}\
{% if add_generation_prompt %}<|assistant|>{% endif %}"""

# Tools in the Hermes way; arguments as mappings, through tojson; system only at the start: like Qwen.
HERMES = """{% if tools %}<|system|>{% if messages[0].role == 'system' %}{{ messages[0].content }}

{% endif %}<tools>{% for tool in tools %}
{{ tool | tojson }}{% endfor %}
</tools><|end|>{% elif messages[0].role == 'system' %}<|system|>{{ messages[0].content }}<|end|>{% endif %}\
{% for m in messages %}{% if m.role == 'user' %}<|user|>{{ m.content }}<|end|>\
{% elif m.role == 'assistant' %}<|assistant|>{{ m.content }}{% for c in m.tool_calls or [] %}\
{% if not loop.first or m.content %}{{ '\\n' }}{% endif %}<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}<|end|>\
{% elif m.role == 'tool' %}{% if loop.first or messages[loop.index0 - 1].role != 'tool' %}<|user|>{% endif %}\
<tool_response>
{{ m.content }}
</tool_response>{% if loop.last or messages[loop.index0 + 1].role != 'tool' %}<|end|>{% endif %}\
{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"""

# The same markers, but calls are shown in the template's own way, with arguments that have to be mappings.
ITEMS = """{% if tools %}<|tools|>{{ tools | tojson }}<|end|>{% endif %}{% for m in messages %}\
<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call> {{ c.function.name }}:\
{% for key, value in c.function.arguments.items() %} {{ key }}={{ value }}{% endfor %} </tool_call>{% endfor %}\
<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"""

# Wants arguments as a string.
STRINGS = """{% if tools %}<|tools|>{{ tools | tojson }}<|end|>{% endif %}{% for m in messages %}\
<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name + c.function.arguments }}\
</tool_call>{% endfor %}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"""

# Calls behind a token each, ids of nine characters or none at all: like Mistral.
MISTRAL = """{% if tools %}[AVAILABLE_TOOLS]{{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif %}{% for m in messages %}\
{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]{% elif m.role == 'tool' %}\
{% if m.tool_call_id | length != 9 %}{{ raise_exception('ids have nine characters') }}{% endif %}\
[TOOL_RESULTS]{{ m.tool_call_id }}[TOOL_CONTENT]{{ m.content }}[/TOOL_RESULTS]{% elif m.role == 'assistant' %}\
{{ m.content }}{% for c in m.tool_calls or [] %}{% if c.id | length != 9 %}{{ raise_exception('nine') }}{% endif %}\
[TOOL_CALLS]{{ c.function.name }}[ARGS]{{ c.function.arguments | tojson }}{% endfor %}</s>{% endif %}{% endfor %}"""

# Calls in a section, shown by their ids: like Kimi.
KIMI = """{% if tools %}<|tools|>{{ tools | tojson }}<|end|>{% endif %}{% for m in messages %}<|{{ m.role }}|>\
{% if m.role == 'tool' %}## {{ m.tool_call_id }}: {% endif %}{{ m.content }}{% if m.tool_calls %}\
<|tool_calls_section_begin|>{% for c in m.tool_calls %}<|tool_call_begin|>{{ c.id }}<|tool_call_argument_begin|>\
{{ c.function.arguments | tojson }}<|tool_call_end|>{% endfor %}<|tool_calls_section_end|>{% endif %}<|end|>\
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"""

# One call a message, results by the name of the call before, reasoning by another name: like gpt-oss.
HARMONY = """{% if tools %}<|start|>developer<|message|>{{ tools | tojson }}<|end|>{% endif %}\
{% set last = namespace(name=none) %}{% for m in messages %}{% if m.role == 'assistant' %}\
{% if m.thinking and m.content and m.tool_calls %}{{ raise_exception('both') }}{% endif %}\
{% if '<|channel|>' in m.content %}{{ raise_exception('channels in the content') }}{% endif %}\
{% if m.tool_calls %}{% set call = m.tool_calls[0].function %}{% if m.content or m.thinking %}\
<|start|>assistant<|channel|>analysis<|message|>{{ m.content or m.thinking }}<|end|>{% endif %}\
<|start|>assistant to=functions.{{ call.name }}<|channel|>commentary json<|message|>{{ call.arguments | tojson }}\
<|call|>{% set last.name = call.name %}{% else %}<|start|>assistant<|channel|>final<|message|>{{ m.content }}<|end|>\
{% endif %}{% elif m.role == 'tool' %}{% if last.name is none %}{{ raise_exception('no call before') }}{% endif %}\
<|start|>functions.{{ last.name }} to=assistant<|channel|>commentary<|message|>{{ m.content | tojson }}<|end|>\
{% elif m.role == 'user' %}<|start|>user<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}\
{% if add_generation_prompt %}<|start|>assistant{% endif %}"""

# Shows tools, and messages of every role as they are; knows nothing of calls: like Granite 3.
GRANITE = """{% if tools %}<|start_of_role|>available_tools<|end_of_role|>{{ tools | tojson }}<|end_of_text|>
{% endif %}{% for m in messages %}<|start_of_role|>{{ m.role }}<|end_of_role|>{{ m.content }}<|end_of_text|>
{% endfor %}{% if add_generation_prompt %}<|start_of_role|>assistant<|end_of_role|>{% endif %}"""

# Numbered actions, results that refer to the numbers, text in marks, no text beside actions: like Command R7B.
COHERE = """<|SYSTEM_TOKEN|>{% if tools %}{{ tools | tojson }}{% endif %}{% set count = namespace(n=0) %}\
{% for m in messages %}{% if m.role == 'assistant' %}<|CHATBOT_TOKEN|>{% if m.tool_calls %}<|START_THINKING|>\
{{ m.reasoning_content or m.content }}<|END_THINKING|><|START_ACTION|>[
{% for c in m.tool_calls %}    {"tool_call_id": "{{ count.n }}", "tool_name": "{{ c.function.name }}", \
"parameters": {{ c.function.arguments | tojson }}}{% if not loop.last %},{% endif %}
{% set count.n = count.n + 1 %}{% endfor %}]<|END_ACTION|>{% else %}<|START_RESPONSE|>{{ m.content }}\
<|END_RESPONSE|>{% endif %}{% elif m.role == 'tool' %}<|SYSTEM_TOKEN|><|START_TOOL_RESULT|>{{ m.content | tojson }}\
<|END_TOOL_RESULT|>{% else %}<|{{ m.role }}|>{{ m.content }}{% endif %}<|END_OF_TURN_TOKEN|>{% endfor %}\
{% if add_generation_prompt %}<|CHATBOT_TOKEN|>{% endif %}"""

# The call as JSON and nothing else; one call a message: like Llama 3.
LLAMA = """<|start_header_id|>system<|end_header_id|>{% if tools %}{{ tools | tojson }}{% endif %}<|eot_id|>\
{% for m in messages %}{% if m.tool_calls %}{% if m.tool_calls | length != 1 %}{{ raise_exception('one call') }}\
{% endif %}{% set call = m.tool_calls[0].function %}<|start_header_id|>assistant<|end_header_id|>\
{"name": "{{ call.name }}", "parameters": {{ call.arguments | tojson }}}<|eot_id|>{% else %}\
<|start_header_id|>{{ m.role }}<|end_header_id|>{{ m.content }}<|eot_id|>{% endif %}{% endfor %}\
{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>{% endif %}"""

# No tools, no system role but in front of the first question, roles in turn: like Gemma 3.
GEMMA_3 = """{% if messages[0].role == 'system' %}{% set first = messages[0].content + '\\n\\n' %}\
{% set rest = messages[1:] %}{% else %}{% set first = '' %}{% set rest = messages %}{% endif %}{% for m in rest %}\
{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif %}\
{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\\n' + (first if loop.first else '') }}\
{{ m.content | trim }}{{ '<end_of_turn>\\n' }}{% endfor %}\
{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"""

# Two templates by name: a plain one, and one that shows tools and forces a list of actions: like Command R.
COMMAND_R = {
    "default": PLAIN,
    "tool_use": PLAIN + "{{ tools | tojson }} Write 'Action:' and a list; `directly-answer` answers in text.",
}

# Refuses everything.
SULKY = "{{ raise_exception('no') }}"

ALL = {"plain": PLAIN, "strict": STRICT, "hermes": HERMES, "items": ITEMS, "strings": STRINGS}

# Calls as tags, values as Python writes them: like Qwen3-Coder.
QWEN_XML = """{% if tools %}<|tools|>{{ tools | tojson }}<|end|>{% endif %}{% for m in messages %}<|{{ m.role }}|>\
{{ m.content }}{% for c in m.tool_calls or [] %}{% if loop.first and m.content %}{{ '\\n\\n' }}{% endif %}\
{% if not loop.first %}{{ '\\n' }}{% endif %}{{ '<tool_call>\\n<function=' + c.function.name + '>\\n' }}\
{% for key, value in c.function.arguments.items() %}{{ '<parameter=' + key + '>\\n' }}\
{{ value | tojson if value is mapping or (value is sequence and value is not string) else value | string }}\
{{ '\\n</parameter>\\n' }}{% endfor %}{{ '</function>\\n</tool_call>' }}{% endfor %}<|end|>{% endfor %}"""

# Pairs of keys and values: like GLM-4.7.
GLM = """{% if tools %}<|tools|>{{ tools | tojson }}<|end|>{% endif %}{% for m in messages %}<|{{ m.role }}|>\
{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }}\
{% for key, value in c.function.arguments.items() %}<arg_key>{{ key }}</arg_key><arg_value>\
{{ value | tojson if value is not string else value }}</arg_value>{% endfor %}</tool_call>{% endfor %}<|end|>\
{% endfor %}"""

# Bare names, strings between quotes of their own: like Gemma.
GEMMA = """{% if tools %}<|tools|>{{ tools | tojson }}<|end|>{% endif %}{% for m in messages %}<|{{ m.role }}|>\
{{ m.content }}{% for c in m.tool_calls or [] %}<|tool_call>call:{{ c.function.name }}{{ '{' }}\
{% for key, value in c.function.arguments.items() %}{{ ',' if not loop.first }}{{ key }}:\
{{ '<|"|>' + value + '<|"|>' if value is string else value | tojson }}{% endfor %}{{ '}' }}<tool_call|>{% endfor %}\
<|end|>{% endfor %}"""

# Sections in tags, arguments with their types; no call in the text: like Kimi K3's encoder.
KIMI_K3 = """{% macro tag(text) %}{{ '<|open|>' + text + '<|sep|>' }}{% endmacro %}\
{% macro end(text) %}{{ '<|close|>' + text + '<|sep|>' }}{% endmacro %}\
{% if tools %}{{ tag('message role="system"') }}{{ tools | tojson }}{{ end('message') }}<|end_of_msg|>{% endif %}\
{% for m in messages %}{{ tag('message role="' + m.role + '"') }}{% if m.role == 'assistant' %}{{ tag('response') }}\
{{ m.content }}{{ end('response') }}{% if m.tool_calls %}{{ tag('tools') }}{% for c in m.tool_calls %}\
{{ tag('call tool="' + c.function.name + '" index="' + loop.index | string + '"') }}\
{% for key, value in c.function.arguments.items() %}\
{{ tag('argument key="' + key + '" type="' + ('string' if value is string else 'number') + '"') }}{{ value }}\
{{ end('argument') }}{% endfor %}{{ end('call') }}{% endfor %}{{ end('tools') }}{% endif %}{% else %}{{ m.content }}\
{% endif %}{{ end('message') }}<|end_of_msg|>{% endfor %}\
{% if add_generation_prompt %}{{ tag('message role="assistant"') }}{{ tag('think' if thinking else 'response') }}\
{% endif %}"""
