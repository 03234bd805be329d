"""A tiny model of random weights with the tokens of every call format, and the real engine with it.

Two layers over a part of the embedded model's vocabulary, to which every family's marks are added as its own
tokenizers have them: marks in ``<|…|>``, ``<｜…｜>`` and ``[…]``, and Gemma's, as special tokens, tags as added tokens
that are text. Sampled at temperature 2 it writes whatever a grammar lets it.

What is left of the vocabulary is every single byte, the commonest tokens, and each one with a character in it that
formats and JSON are made of: what a step costs is in proportion to the vocabulary, and words are not what is tried.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decoding.formats import Format, get, names
from server.belongings import set_engine_environment
from server.embedded import default_cache_dir, prepare
from server.settings import Settings

if TYPE_CHECKING:
    from server.engine import VllmEngine

SPECIAL = re.compile(r"<\|[^|<>]+\|?>|<[^|<>]+\|>|<｜[^｜]+｜>|\[/?[A-Z_]+\]|<(?:start|end)_function_call>|<escape>")
TEXTUAL = re.compile(r"</?[a-z_:]+>")
COMMONEST = 4000
MARKUP = re.compile(r"[\"<>{}\[\]|:,=/'_-]")
#: Knows no tools, so that they are explained in the prompt; ``begin`` stands for what a family's template writes last.
#: The comment has every mark that opens reasoning: the model may open it unless the prompt says otherwise.
TEMPLATE = """{# MARKS #}{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{{ begin or '' }}{% endif %}"""


def marks_of(fmt: Format) -> tuple[list[str], list[str]]:
    """The marks in a format's texts: those that become special tokens, and those that are text."""
    texts = fmt.fixed_texts
    return (
        sorted({mark for text in texts for mark in SPECIAL.findall(text)}),
        sorted({mark for text in texts for mark in TEXTUAL.findall(text)}),
    )


def make(folder: Path, base: Path) -> Path:
    """Write the model into the existing ``folder``. ``base`` is the folder of the embedded model, for its tokenizer."""
    import torch
    from tokenizers import AddedToken
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    shutil.copytree(base, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.safetensors"))
    cut_vocabulary(folder / "tokenizer.json")
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    formats = [get(name) for name in names()]
    marks = [marks_of(fmt) for fmt in formats]
    special = sorted({mark for each, _ in marks for mark in each})
    textual = sorted({mark for _, each in marks for mark in each})
    tokenizer.add_tokens([AddedToken(mark, special=True, normalized=False) for mark in special], special_tokens=True)
    tokenizer.add_tokens([AddedToken(mark, special=False, normalized=False) for mark in textual])
    opens = [fmt.reasoning.open for fmt in formats if fmt.reasoning]
    tokenizer.chat_template = TEMPLATE.replace("MARKS", " ".join(opens))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=64,
        max_position_embeddings=4096,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    # gpt-oss's models end an answer with the token that ends a call, too.
    ends = [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("<|call|>")]
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": ends}))
    return folder


def cut_vocabulary(file: Path) -> None:
    """Leave out most tokens of the byte-pair tokenizer in this ``tokenizer.json``, and number the others anew."""
    tokenizer = json.loads(file.read_text(encoding="utf-8"))
    model = tokenizer["model"]
    merges = [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in model["merges"]]
    made_of = {left + right: (left, right) for left, right in merges}
    kept: set[str] = set()
    wanted = [token for n, token in enumerate(made_of) if n < COMMONEST or MARKUP.search(token)]
    while wanted:
        token = wanted.pop()
        if token not in kept and token in made_of:
            kept.add(token)
            wanted += made_of[token]
    order = sorted(model["vocab"], key=model["vocab"].__getitem__)
    model["merges"] = [list(merge) for merge in merges if merge[0] + merge[1] in kept]
    model["vocab"] = {token: n for n, token in enumerate(t for t in order if t in kept or t not in made_of)}
    for added in tokenizer["added_tokens"]:
        added["id"] = model["vocab"][added["content"]]
    file.write_text(json.dumps(tokenizer), encoding="utf-8")


@asynccontextmanager
async def random_engine() -> AsyncIterator[VllmEngine]:
    """The engine with such a model, made in a temporary folder. Raises EmbeddedModelError where its tokenizer is not to
    be had, and the engine's errors."""
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), prepare(default_cache_dir(), print))
        async with engine_of(folder, 1536, "--max-num-batched-tokens=2048") as engine:
            yield engine


@asynccontextmanager
async def engine_of(model: str, max_model_len: int, *options: str) -> AsyncIterator[VllmEngine]:
    """The engine with the model in this folder, a small cache and further options of vLLM's."""
    set_engine_environment(Settings())
    # Threads that are bound to a core wait for each other when others use the machine too.
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from server.engine import VllmEngine  # seconds to import, and the environment has to be set before

    extra = ("--kv-cache-memory-bytes=200000000", *options)
    engine = await VllmEngine.start(model, [Path(model).name], max_model_len=max_model_len, extra=extra)
    try:
        yield engine
    finally:
        await engine.shutdown()
