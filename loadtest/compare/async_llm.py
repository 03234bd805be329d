"""vLLM's AsyncLLM by itself, without HTTP: the processor time of its process per delta.

python -m loadtest.compare.async_llm MODEL --clients 32 --answers 64 --tokens 128

measures once for every line on standard input, and prints the microseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import environ
from pathlib import Path

from decoding.engine.arguments import engine_config
from loadtest.compare.servers import ENVIRONMENT, end


@contextmanager
def async_llm(model: Path, log: Path, *, clients: int, answers: int, tokens: int) -> Iterator[Callable[[], float]]:
    """Starts it in a process of its own; the function measures. Raises RuntimeError with the end of the log when the
    process ends too soon."""
    command = [sys.executable, "-m", "loadtest.compare.async_llm", str(model)]
    options = [f"--clients={clients}", f"--answers={answers}", f"--tokens={tokens}"]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
            start_new_session=True,
            env=ENVIRONMENT | environ,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def measure() -> float:
        with suppress(BrokenPipeError):  # it has ended, as the next line says
            stdin.write("\n")
            stdin.flush()
        for line in stdout:
            if line.startswith(_FOUND):
                return float(line.removeprefix(_FOUND))
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:]
        raise RuntimeError("\n".join([f"AsyncLLM alone ended with {process.wait()}; the end of {log}:", *tail]))

    try:
        yield measure
    finally:
        stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        end(process)


#: vLLM prints as well.
_FOUND = "microseconds: "


async def _serve(model: str, clients: int, answers: int, tokens: int) -> None:
    from vllm import SamplingParams, TokensPrompt
    from vllm.sampling_params import RequestOutputKind
    from vllm.v1.engine.async_llm import AsyncLLM

    extra = ["--max-num-seqs=64", "--max-num-batched-tokens=1024"]
    llm = AsyncLLM.from_vllm_config(engine_config(model, ["model"], jump_forward="off", extra=extra))
    params = SamplingParams(temperature=0.0, max_tokens=tokens, output_kind=RequestOutputKind.DELTA)
    prompt = list(range(1000, 1040))

    async def measured(number: int) -> float:
        left, deltas, started = answers, 0, time.process_time()

        async def client(name: str) -> None:
            nonlocal left, deltas
            while left > 0:
                left -= 1
                async for output in llm.generate(TokensPrompt(prompt_token_ids=prompt), params, f"{name}-{left}"):
                    deltas += bool(output.outputs[0].text)

        await asyncio.gather(*(client(f"{number}-{n}") for n in range(clients)))
        return 1e6 * (time.process_time() - started) / deltas

    number = 0
    while await asyncio.to_thread(sys.stdin.readline):
        number += 1
        print(f"{_FOUND}{await measured(number)}", flush=True)
    llm.shutdown(timeout=2.0)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m loadtest.compare.async_llm", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--answers", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=128)
    given = parser.parse_args()
    asyncio.run(_serve(given.model, given.clients, given.answers, given.tokens))


if __name__ == "__main__":
    main()
