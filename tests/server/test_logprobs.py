"""Log probabilities on the wire."""

from decoding.deltas import TokenLogprob
from server.openai.logprobs import logprobs_object


def test_a_part_of_a_character_keeps_its_bytes() -> None:
    first = TokenLogprob(23274, "\ufffd", -0.5, data=b"\xe6\x97")
    second = TokenLogprob(115, "\ufffd", -0.25, data=b"\xa5")
    entries = logprobs_object([first, second])["content"]
    assert bytes(entries[0]["bytes"] + entries[1]["bytes"]).decode() == "日"


def test_whole_text_and_never_chosen_tokens() -> None:
    token = TokenLogprob(5, "é", float("-inf"))
    (entry,) = logprobs_object([token])["content"]
    assert entry == {"token": "é", "logprob": -9999.0, "bytes": [0xC3, 0xA9], "top_logprobs": []}
