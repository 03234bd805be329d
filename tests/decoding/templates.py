"""Chat templates of several temperaments, and a tokenizer of single bytes to put them in."""

from __future__ import annotations

from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast


def tokenizer(template: str) -> Any:
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
