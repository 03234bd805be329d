"""Many clients at once with everything that can be mixed, for a while: is any call invalid, does anything break?

    python -m loadtest.soak --base-url http://127.0.0.1:8000/v1 --clients 32 --duration 120 --seed 1

Exit code 0: no invalid call, no 5xx, no hang, no broken stream, and the engine answers at the end. Otherwise 1, and
each fault is printed with the request that caused it (``--faults FILE`` keeps them as JSON lines, to be sent again).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import time
from itertools import pairwise
from pathlib import Path

import httpx2

from loadtest.judge import choice_faults, full_answer, whole_calls
from loadtest.scenarios import Scenario, random_scenario
from loadtest.soak_report import Tally, print_report
from loadtest.stream_answer import StreamedAnswer
from loadtest.tools import BUILT_IN, LoadTool, corpus_folder, corpus_tools

# Refusals that a corpus of foreign schemas and long prompts may meet; the built-in tools must all be served.
_FAIR = ("invalid_function_parameters", "context_length_exceeded")


async def soak(options: argparse.Namespace) -> Tally:
    """Run the clients until the time is over, then ask whether the server is well. Returns what was seen."""
    pool = [*BUILT_IN, *(corpus_tools(options.schemas) if options.schemas else [])]
    tally = Tally()
    headers = {"authorization": f"Bearer {key}"} if (key := os.environ.get("STRICTCALL_API_KEY")) else {}
    # `hang` bounds the silence on a connection, not the whole answer.
    timeout = httpx2.Timeout(options.hang, connect=10.0)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=options.clients)
    async with httpx2.AsyncClient(base_url=options.base_url, timeout=timeout, limits=limits, headers=headers) as http:
        model = (await http.get("models")).raise_for_status().json()["data"][0]["id"]
        until = time.monotonic() + options.duration
        seeds = [f"{options.seed}/{client}" for client in range(options.clients)]
        clients = [_client(http, random.Random(seed), pool, model, options, until, tally) for seed in seeds]
        progress = asyncio.create_task(_progress(tally, until))
        await asyncio.gather(*clients)
        progress.cancel()
        await _well_at_the_end(http, model, tally)
    return tally


async def _client(
    http: httpx2.AsyncClient,
    rng: random.Random,
    pool: list[LoadTool],
    model: str,
    options: argparse.Namespace,
    until: float,
    tally: Tally,
) -> None:
    while time.monotonic() < until:
        scenario = random_scenario(rng, pool, model, options.vocabulary, options.prompt_words)
        await one_request(http, scenario, tally)


async def one_request(http: httpx2.AsyncClient, scenario: Scenario, tally: Tally) -> None:
    """Send one request, read its answer (or leave in the middle of it) and judge it."""
    tally.requests += 1
    try:
        async with asyncio.timeout(scenario.drop_after):
            await (_streamed if scenario.streamed else _whole)(http, scenario, tally)
    except TimeoutError:
        if scenario.drop_after is None:
            raise
        tally.dropped += 1
    except httpx2.TimeoutException as error:
        tally.fault("hang", type(error).__name__, scenario)
    except httpx2.HTTPError as error:
        tally.fault("connection", f"{type(error).__name__}: {error}", scenario)
    except Exception as error:  # an answer that the judge cannot even read is the server's fault, and the soak goes on
        tally.fault("unreadable", f"{type(error).__name__}: {error}", scenario)


async def _whole(http: httpx2.AsyncClient, scenario: Scenario, tally: Tally) -> None:
    sent = time.monotonic()
    # Nothing comes before all of it is made: a second a token on top of the silence that a stream is allowed.
    allowed = (http.timeout.read or 0.0) + scenario.budget
    response = await http.post("chat/completions", json=scenario.body, timeout=httpx2.Timeout(allowed, connect=10.0))
    if response.status_code != 200:
        _refusal(response.status_code, response.content, scenario, tally)
        return
    tally.took.append(time.monotonic() - sent)
    body = response.json()
    choices, faults = full_answer(body)
    for choice in choices:
        faults += choice_faults(scenario, choice)
        tally.choice(choice, len(choice.calls))
    if len(choices) != scenario.choices:
        faults.append(f"{len(choices)} choices instead of {scenario.choices}")
    tally.answer(scenario, faults, int(body["usage"]["completion_tokens"]))


async def _streamed(http: httpx2.AsyncClient, scenario: Scenario, tally: Tally) -> None:
    answer = StreamedAnswer(include_usage="stream_options" in scenario.body)
    sent = time.monotonic()
    async with http.stream("POST", "chat/completions", json=scenario.body) as response:
        if response.status_code != 200:
            _refusal(response.status_code, await response.aread(), scenario, tally)
            return
        async for data in response.aiter_bytes():
            answer.feed(data, time.monotonic())
    answer.end(scenario.choices)
    if answer.error is not None:
        tally.fault("error frame", str(answer.error), scenario)
        return
    tally.took.append(time.monotonic() - sent)
    times = answer.delta_times
    if times:
        tally.ttft.append(times[0] - sent)
    tally.gaps += [later - earlier for earlier, later in pairwise(times)]
    faults = list(answer.faults)
    for choice in answer.choices.values():
        faults += choice_faults(scenario, choice)
        tally.choice(choice, len(whole_calls(choice, streamed=True)))
    tally.answer(scenario, faults, (answer.usage or {}).get("completion_tokens", 0))


def _refusal(status: int, content: bytes, scenario: Scenario, tally: Tally) -> None:
    try:
        error = json.loads(content)["error"]
        well_formed = set(error) == {"message", "type", "param", "code"}
    except (ValueError, KeyError, TypeError):
        error, well_formed = {}, False
    if status >= 500:
        tally.fault("5xx", f"{status} {content[:300]!r}", scenario)
    elif not well_formed:
        tally.fault("error shape", f"{status} {content[:300]!r}", scenario)
    elif scenario.expect == "client error":
        tally.expected_errors += 1
    elif status == 400 and error["code"] in _FAIR and not any(repr(tool.name) in error["message"] for tool in BUILT_IN):
        tally.refused[error["message"][:160]] += 1
    else:
        tally.fault("unexpected refusal", f"{status} {content[:300]!r}", scenario)


async def _progress(tally: Tally, until: float) -> None:
    while True:
        await asyncio.sleep(10)
        left = max(0, round(until - time.monotonic()))
        print(
            f"{left:4d} s left: {tally.requests} requests, {tally.calls} calls, {len(tally.faults)} faults", flush=True
        )


async def _well_at_the_end(http: httpx2.AsyncClient, model: str, tally: Tally) -> None:
    tool = BUILT_IN[0]
    body = {"model": model, "messages": [{"role": "user", "content": tool.prompt}], "tools": [tool.wire()]}
    scenario = Scenario(body | {"tool_choice": "required", "max_tokens": 128}, (tool,))
    before = len(tally.faults)
    await one_request(http, scenario, tally)
    root = str(http.base_url).rstrip("/").removesuffix("/v1")
    ready = await http.get(f"{root}/health/ready")
    tally.alive = ready.status_code == 200 and len(tally.faults) == before
    for _ in range(50):  # the last dropped requests end within a second; a loaded machine gets five
        metrics = (await http.get(f"{root}/metrics")).text.splitlines()
        tally.metrics = [line for line in metrics if line.startswith("strictcall_") and "_bucket" not in line]
        if "strictcall_requests_running 0.0" in tally.metrics:
            return
        await asyncio.sleep(0.1)
    tally.fault("still running", "strictcall_requests_running did not fall to 0", scenario)


def main() -> None:
    """The command line; exits with 1 when anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.soak", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--base-url", default="http://127.0.0.1:8000/v1")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--duration", type=float, default=120.0, help="seconds in which requests are begun")
    parser.add_argument("--seed", type=int, default=1, help="the same seed draws the same requests per client")
    parser.add_argument("--schemas", type=Path, default=corpus_folder(), help="folder of schemas to offer as tools")
    parser.add_argument(
        "--hang",
        type=float,
        default=90.0,
        help="seconds of silence that count as a hang (whole answers: and one more for each token they may have)",
    )
    parser.add_argument("--vocabulary", type=int, default=49_000, help="token ids of logit_bias are below this")
    parser.add_argument("--prompt-words", type=int, default=2_000, help="the longest prompt")
    parser.add_argument("--faults", type=Path, help="write each fault and its request here, as JSON lines")
    options = parser.parse_args()
    if not options.base_url.endswith("/"):
        options.base_url += "/"
    tally = asyncio.run(soak(options))
    print_report(tally, options.duration)
    if options.faults:
        lines = [json.dumps({"kind": f.kind, "fault": f.text, "request": f.request}) for f in tally.faults]
        options.faults.write_text("\n".join(lines), encoding="utf-8")
    sys.exit(0 if tally.good else 1)


if __name__ == "__main__":
    main()
