"""vLLM's AsyncLLM by itself, without HTTP: the processor time of its process per delta, as JSON on the last line.

python -m loadtest.compare.async_llm MODEL --clients 32 --answers 96 --tokens 64
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time

from decoding.engine.arguments import engine_config


async def measure(model: str, clients: int, answers: int, tokens: int, rounds: int) -> list[float]:
    """Microseconds of processor time per delta, one value per round."""
    from vllm import SamplingParams, TokensPrompt
    from vllm.sampling_params import RequestOutputKind
    from vllm.v1.engine.async_llm import AsyncLLM

    extra = ["--max-num-seqs=64", "--max-num-batched-tokens=1024"]
    llm = AsyncLLM.from_vllm_config(engine_config(model, ["model"], jump_forward="off", extra=extra))
    params = SamplingParams(temperature=0.0, max_tokens=tokens, output_kind=RequestOutputKind.DELTA)
    prompt = list(range(1000, 1040))
    left = 0
    deltas = 0

    async def client(name: str) -> None:
        nonlocal left, deltas
        while left > 0:
            left -= 1
            async for output in llm.generate(TokensPrompt(prompt_token_ids=prompt), params, f"{name}-{left}"):
                deltas += bool(output.outputs[0].text)

    found = []
    for number in range(rounds + 1):
        left, deltas, started = answers, 0, time.process_time()
        await asyncio.gather(*(client(f"{number}-{n}") for n in range(clients)))
        found.append(1e6 * (time.process_time() - started) / deltas)
    llm.shutdown(timeout=2.0)
    return found[1:]  # the first one warms up


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m loadtest.compare.async_llm", description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--answers", type=int, default=96)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print(json.dumps(asyncio.run(measure(given.model, given.clients, given.answers, given.tokens, given.rounds))))


if __name__ == "__main__":
    main()
