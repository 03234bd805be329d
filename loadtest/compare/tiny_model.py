"""A model that costs next to nothing, so that the server is what is measured: a few small layers of random weights with
the real model's tokenizer. It writes plain words without end, and calls only where a grammar makes it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

HIDDEN = 256
LAYERS = 8
SEED = 20261130


def make_tiny_model(source: Path, folder: Path, *, hidden: int = HIDDEN, layers: int = LAYERS) -> Path:
    """Write the model into ``folder``, with the tokenizer and the settings of the Llama model in ``source``."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    config |= {
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": hidden // 4,
        "tie_word_embeddings": False,
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja"):
        if (source / name).exists():
            shutil.copy(source / name, folder / name)
    generator = torch.Generator().manual_seed(SEED)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator) / shape[-1] ** 0.5

    vocabulary = int(config["vocab_size"])
    weights = {"model.embed_tokens.weight": random(vocabulary, hidden) * 8, "model.norm.weight": torch.ones(hidden)}
    for layer in range(layers):
        prefix = f"model.layers.{layer}"
        for name, shape in {
            "self_attn.q_proj": (hidden, hidden),
            "self_attn.k_proj": (hidden // 2, hidden),
            "self_attn.v_proj": (hidden // 2, hidden),
            "self_attn.o_proj": (hidden, hidden),
            "mlp.gate_proj": (2 * hidden, hidden),
            "mlp.up_proj": (2 * hidden, hidden),
            "mlp.down_proj": (hidden, 2 * hidden),
        }.items():
            weights[f"{prefix}.{name}.weight"] = random(*shape)
        for name in ("input_layernorm", "post_attention_layernorm"):
            weights[f"{prefix}.{name}.weight"] = torch.ones(hidden)
    # Only plain words may win, and by far: every token is a delta, whole characters, and never the end.
    tokenizer = AutoTokenizer.from_pretrained(folder)
    words = torch.zeros(vocabulary, 1)
    for token, number in tokenizer.get_vocab().items():
        words[number] = token.removeprefix("Ġ").isalpha() and token.removeprefix("Ġ").isascii()
    weights["lm_head.weight"] = random(vocabulary, hidden) * 8 * words
    save_file(
        {name: weight.to(torch.bfloat16).contiguous() for name, weight in weights.items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    return folder
