"""Outlines as the judge of a text: its own logits processor, step by step, without the model."""

from __future__ import annotations

import copy
from typing import Any

import outlines
import torch
from outlines.types import CFG


def outlines_model(model: Any, tokenizer: Any) -> Any:
    """The model as Outlines takes it, with prompts left as they are: they have been through the chat template."""
    bare = copy.deepcopy(tokenizer)
    bare.chat_template = None
    return outlines.from_transformers(model, bare)


def first_refused(model: Any, tokenizer: Any, grammar: CFG, text: str) -> str | None:
    """The first token (as text) of ``text`` and the end of sequence that Outlines' processor for this grammar masks;
    ``None`` when it lets all of them through. ``model`` is an Outlines model."""
    processor = outlines.Generator(model, grammar, backend="llguidance").logits_processor
    tokens = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
    seen = torch.tensor([[tokenizer.bos_token_id]])
    for token in tokens:
        scores = processor.process_logits(seen, torch.zeros(1, len(tokenizer)))
        if scores[0, token] == -torch.inf:
            return str(tokenizer.decode([token]))
        seen = torch.cat([seen, torch.tensor([[token]])], dim=1)
    return None
