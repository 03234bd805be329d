"""Why a server cannot start, in one line: what can be seen before the engine starts, and what its output tells."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from pathlib import Path


class StartError(RuntimeError):
    """The server cannot start; the message is one line that says why and what to do."""


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Raises StartError."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise StartError(f"--host {host} is not an address of this machine ({error.strerror})") from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Listening at once, so that a second server is refused the port from now on.
        listener.listen(2048)
    except OSError as error:
        listener.close()
        advice = {98: "another program has it: stop that or give another --port", 13: "that needs more rights"}
        raise StartError(
            f"cannot listen on {host}:{port} ({advice.get(error.errno or 0, error.strerror or str(error))})"
        ) from error
    listener.setblocking(False)
    return listener


def bind_several(host: str, port: int, count: int) -> list[socket.socket]:
    """``count`` sockets on one port: the system deals connections out to those of them that listen, which at first is
    the first alone. Raises StartError, also when anybody else has the port."""
    alone = bind(host, port)
    if count == 1:
        return [alone]
    address, family = alone.getsockname(), alone.family
    # With SO_REUSEPORT from the start it would not be noticed that another server has the port.
    alone.close()
    sockets = []
    for _ in range(count):
        sockets.append(socket.socket(family, socket.SOCK_STREAM))
        sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sockets[-1].setblocking(False)
        try:
            sockets[-1].bind(address)
        except OSError as error:
            raise StartError(f"cannot listen on {host}:{address[1]} ({error.strerror})") from error
    sockets[0].listen(2048)
    return sockets


def check_model(model: str) -> str:
    """The model as vLLM takes it: an existing folder with a ``config.json``, or an id that the hub (or its cache) has.

    Raises StartError.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        if not any((path / name).is_file() for name in ("config.json", "params.json")):
            raise StartError(f"--model {model} is a folder without a config.json: not a model that vLLM loads")
        return str(path.resolve())
    if path.is_file():
        raise StartError(f"--model {model} is a file: give the folder of a model in Hugging Face form")
    if model.startswith(("/", ".", "~")) or model.count("/") != 1:
        raise StartError(f"--model {model}: there is no such folder, and it is not a Hugging Face id (OWNER/NAME)")
    _check_hub(model)
    return model


def _check_hub(model: str) -> None:
    from huggingface_hub import errors as hub
    from huggingface_hub import hf_hub_download

    try:
        hf_hub_download(model, "config.json", etag_timeout=10)
    except hub.GatedRepoError as error:
        raise StartError(f"--model {model}: access must be asked for on its Hugging Face page; set HF_TOKEN") from error
    except hub.RepositoryNotFoundError as error:
        raise StartError(f"--model {model}: Hugging Face has no such model (a private one needs HF_TOKEN)") from error
    except hub.EntryNotFoundError as error:
        # A cache miss without a network is a LocalEntryNotFoundError, which is an EntryNotFoundError too.
        if isinstance(error, hub.LocalEntryNotFoundError):
            raise _unreachable(model) from error
    except (hub.HFValidationError, ValueError) as error:
        raise StartError(f"--model {model}: there is no such folder, and it is not a Hugging Face id") from error
    except Exception as error:
        raise _unreachable(model) from error


def _unreachable(model: str) -> StartError:
    return StartError(
        f"--model {model} is no local folder and cannot be downloaded: Hugging Face cannot be reached, and its cache "
        "does not hold the model; give a folder"
    )


_KNOWN = (
    (
        re.compile(
            r"out of memory|OutOfMemoryError|DefaultCPUAllocator: can't allocate|MemoryError|[Cc]annot allocate memory"
        ),
        "out of memory: give a smaller model or --max-model-len, or after -- a smaller --kv-cache-memory-bytes",
    ),
    (
        re.compile(
            r"(?:No available memory for the cache blocks|KV cache is needed|memory for kv|Free memory on device)"
        ),
        "too little memory for the KV cache: give a smaller --max-model-len, or after -- a --kv-cache-memory-bytes",
    ),
)
_EXCEPTION = re.compile(r"(?:^|\] |ERROR [\d:\- ]+\[[^\]]*\] )((?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)): (.+)$")


def explain(error: str, output: Sequence[str]) -> str:
    """One line for a failed start, from vLLM's error and what its processes printed."""
    text = "\n".join([*output[-400:], error])
    for pattern, advice in _KNOWN:
        found = pattern.search(text)
        if found:
            line = next(line for line in text.splitlines() if pattern.search(line))
            return f"{advice} ({without_prefix(line)})"
    # vLLM's own error often only says that a child failed; the child's first exception says why.
    if "initialization failed" in error or "root cause" in error:
        for line in output:
            if cause := _EXCEPTION.search(line):
                return f"{cause[1].rpartition('.')[2]}: {cause[2]}"
    return error


def without_prefix(line: str) -> str:
    """A line of vLLM's log without process, level, date and place."""
    return re.sub(r"^(\([^)]*\) )?(\w+ \d\d-\d\d [\d:]+ )?(\[[^\]]*\] )*", "", line).strip()[:300]
