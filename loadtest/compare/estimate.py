"""What the measured pass counts would mean where a forward pass costs the same whatever it carries: a GPU whose steps
are bound by reading the weights. On paper only; nothing here was run on a GPU."""

from __future__ import annotations

from loadtest.compare.figures import Samples
from loadtest.compare.servers import OURS, PEER


def estimate(samples: Samples) -> list[str]:
    """A section in Markdown; empty while the counts are not there."""
    tokens = samples.median("named_tokens_t0", PEER)
    sampled = samples.median("named_sampled_t0", OURS)
    mine, theirs = samples.median("passes", OURS), samples.median("passes", PEER)
    if tokens is None or sampled is None or mine is None or theirs is None:
        return []
    named, benchmark = sampled / tokens, mine / theirs
    return [
        "## On a GPU (an estimate, nothing was run)",
        "",
        "A decoding step of a large model on a GPU reads all weights once, and takes about as long for a few",
        "hundred rows as for one. Then time goes by passes alone, and forced tokens ride along for nothing. By the",
        "counts above:",
        "",
        "| | passes, ours | passes, peer | time, ours / peer |",
        "|---|---|---|---|",
        f"| forced call of `get_weather` | {sampled:.1f} | {tokens:.1f} | {named:.2f} |",
        f"| call with the benchmark tools | {mine:.1f} | {theirs:.1f} | {benchmark:.2f} |",
        "",
        f"At any number of clients that keeps steps bound by memory: {1 / named:.1f} and {1 / benchmark:.1f} times",
        "the calls per second. Two things stand against it. Jump-forward needs synchronous scheduling: if a share *s*",
        "of a step is scheduling, sampling and masks, which asynchronous scheduling would hide, a step of ours takes",
        f"1 / (1 − s) times as long; at s = 0.3 the figures become {named / 0.7:.2f} and {benchmark / 0.7:.2f}. And a",
        "wide batch (hundreds of rows with all their forced tokens) is bound by arithmetic, as the CPU is here: there",
        "the gain falls towards that of the table's 32 clients.",
        "",
        *_others(samples),
    ]


def _others(samples: Samples) -> list[str]:
    """The figures that passes do not decide."""
    lines = [
        "The other figures:",
        "",
        "* Text beside tools, plain chat: no pass is spared, so the model's share is the same for both, and the ratio",
        "  goes to 1 (with asynchronous scheduling, jump-forward off) or to 1 / (1 − s) of the peer's time a token",
        "  (jump-forward on). The gain here is that of norms and processes of the CPU build, which a GPU has not.",
    ]
    ours, theirs = (_compiling(samples, server) for server in (OURS, PEER))
    if ours is not None and theirs is not None and theirs > 0:
        lines += [
            "* First delta: a grammar never seen costs the processor what it does here, at most the difference to",
            f"  one seen, {ours:.2f} s (ours) and {theirs:.2f} s (peer), with the prefill of what is new.",
            "  The rest is one prefill for ours, and for the peer a prefill and the passes up to the tool's name. All",
            f"  of that shrinks: where a pass takes milliseconds the ratio may come near {ours / theirs:.1f}.",
        ]
    return [
        *lines,
        "* Processor time of the API process, masks, memory: there is no device in them. At a GPU's tokens a second",
        "  they matter more, since the processor has less time for each.",
        "",
    ]


def _compiling(samples: Samples, server: str) -> float | None:
    seen, unseen = samples.median("first_seen", server), samples.median("first_unseen", server)
    return None if seen is None or unseen is None else unseen - seen
