"""What the documents say of the code must be there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from server.openai.request import ChatRequest
from server.settings import Settings

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_in_the_table(name: str) -> None:
    assert f"`STRICTCALL_{name.upper()}`" in README
    option = {"api_keys": "--api-key", "engine_args": "-- OPTIONS…"}.get(name, f"--{name.replace('_', '-')}")
    assert f"`{option}`" in README
    default = Settings.model_fields[name].default
    if isinstance(default, int | float | str) and not isinstance(default, bool):
        row = next(line for line in README.splitlines() if f"`STRICTCALL_{name.upper()}`" in line)
        shown = f"{default:g}" if isinstance(default, float) else str(default)
        assert shown in row


def test_every_option_in_the_documents_is_a_setting() -> None:
    table = re.findall(r"^\| `(--[a-z-]+)`", README, re.M)
    known = {f"--{name.replace('_', '-')}" for name in Settings.model_fields} | {"--api-key"}
    assert set(table) <= known


@pytest.mark.parametrize(
    "name", ["tools", "tool_choice", "response_format", "logprobs", "top_k", "chat_template_kwargs"]
)
def test_fields_that_are_named_exist(name: str) -> None:
    assert f"`{name}`" in README
    assert name in ChatRequest.model_fields


@pytest.mark.parametrize("document", ["README.md", "docs/ARCHITECTURE.md"])
def test_files_that_are_named_exist(document: str) -> None:
    text = re.sub(r"```.*?```", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.S)
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.(?:py|yaml|yml|md|toml))`", text)
    folders = re.findall(r"`((?:[a-z_]+/)+)`", text)
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert named or links
    for path in [*named, *folders]:
        places = [ROOT / path, ROOT / "server" / path]
        assert any(place.exists() for place in places), path
    for link in links:
        assert ((ROOT / document).parent / link).exists(), link
