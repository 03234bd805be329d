"""Models, health, version and metrics, as a client or a probe asks for them."""

from __future__ import annotations

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
