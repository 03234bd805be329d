"""The embedded model's folder and tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from server.embedded import EmbeddedModelError, default_cache_dir, prepare


@pytest.fixture(scope="session")
def folder() -> Path:
    try:
        return prepare(default_cache_dir(), print)
    except EmbeddedModelError as error:
        pytest.skip(f"the embedded model is not to be had: {error}")


@pytest.fixture(scope="session")
def tokenizer(folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(folder)
