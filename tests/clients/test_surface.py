"""Models, health, version and metrics, as a client or a probe asks for them."""

from __future__ import annotations

from typing import Any

import httpx2
import openai
import pytest
from openai import OpenAI


def test_models(sdk: OpenAI, model: str) -> None:
    (only,) = sdk.models.list().data
    assert only.object == "model"
    assert only.id == model
    assert sdk.models.retrieve(model).id == model
    with pytest.raises(openai.NotFoundError) as caught:
        sdk.models.retrieve("nothing")
    assert caught.value.code == "model_not_found"


@pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/version", "/metrics"])
def test_probes_need_no_key(server: str, path: str) -> None:
    with httpx2.Client(base_url=server) as http:
        assert (http.get(path)).status_code == 200


def test_metrics_count(http: httpx2.Client, model: str) -> None:
    def tokens() -> float:
        lines = (http.get("/metrics")).text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("strictcall_completion_tokens_total"))

    before = tokens()
    body = {"model": model, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}
    usage = (http.post("/v1/chat/completions", json=body)).json()["usage"]
    assert tokens() == before + usage["completion_tokens"]


def test_tools_seen_before_are_compiled_nowhere(http: httpx2.Client, model: str) -> None:
    """Neither their schemas and the grammar in the server, nor the grammar in the engine, streamed or not."""
    parameters = {"type": "object", "properties": {"seen": {"enum": ["before", "never"]}}, "required": ["seen"]}
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": "Have you seen this?"}],
        "tools": [{"type": "function", "function": {"name": "have_seen", "parameters": parameters}}],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "temperature": 0,
    }

    def ask(stream: bool) -> dict[str, float]:
        answer = http.post("/v1/chat/completions", json=body | {"stream": stream})
        assert answer.status_code == 200
        assert "have_seen" in answer.text
        samples = [line.rsplit(" ", 1) for line in http.get("/metrics").text.splitlines() if "grammar_c" in line]
        return {name: float(value) for name, value in samples if not name.startswith("#")}

    first = ask(False)
    for stream in (False, True):
        later = ask(stream)
        for name in (
            "strictcall_grammar_cache_misses_total",
            "strictcall_grammar_compile_seconds_count",
            "strictcall_engine_grammar_cache_misses_total",
            "strictcall_engine_grammar_compile_seconds_total",
        ):
            assert later[name] == first[name] > 0, name
        assert later["strictcall_engine_grammar_cache_hits_total"] > first["strictcall_engine_grammar_cache_hits_total"]
        assert later["strictcall_grammar_cache_hits_total"] > first["strictcall_grammar_cache_hits_total"]
