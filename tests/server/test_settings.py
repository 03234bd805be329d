"""Options: from flags, from the environment, and what is said of wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from server.settings import Settings, describe


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.startswith("STRICTCALL_"):
            monkeypatch.delenv(name)


def test_defaults_serve_the_embedded_model_on_the_loopback_address() -> None:
    settings = Settings()
    assert (settings.model, settings.host, settings.port) == (None, "127.0.0.1", 8000)
    assert settings.max_body_bytes == 8 * 1024 * 1024
    assert settings.undeclared_keys == "forbid"
    assert settings.api_keys == ()


def test_the_environment_sets_every_option_and_a_given_value_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRICTCALL_PORT", "9000")
    monkeypatch.setenv("STRICTCALL_MODEL", "some/model")
    monkeypatch.setenv("STRICTCALL_UNDECLARED_KEYS", "allow")
    settings = Settings(port=9001)
    assert (settings.port, settings.model, settings.undeclared_keys) == (9001, "some/model", "allow")


def test_an_empty_variable_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRICTCALL_PORT", "")
    monkeypatch.setenv("STRICTCALL_API_KEY", "")
    assert Settings().port == 8000
    assert Settings().api_keys == ()


@pytest.mark.parametrize("name", ["STRICTCALL_API_KEY", "STRICTCALL_API_KEYS"])
def test_several_keys_and_names_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "sk-a, sk-b,")
    monkeypatch.setenv("STRICTCALL_SERVED_MODEL_NAME", "one,two")
    assert Settings().api_keys == ("sk-a", "sk-b")
    assert Settings().served_model_name == ("one", "two")
    assert Settings(api_keys=("sk-c",)).api_keys == ("sk-c",)


def test_engine_options_in_the_environment_are_shell_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRICTCALL_ENGINE_ARGS", "--dtype float16 --hf-overrides '{\"a\": 1}'")
    assert Settings().engine_args == ("--dtype", "float16", "--hf-overrides", '{"a": 1}')


def test_the_cache_folder_may_name_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRICTCALL_CACHE_DIR", "~/models")
    assert Settings().cache_dir == Path.home() / "models"


@pytest.mark.parametrize(
    ("name", "value", "option"),
    [
        ("STRICTCALL_PORT", "70000", "--port"),
        ("STRICTCALL_PORT", "eighty", "--port"),
        ("STRICTCALL_MAX_MODEL_LEN", "0", "--max-model-len"),
        ("STRICTCALL_UNDECLARED_KEYS", "maybe", "--undeclared-keys"),
        ("STRICTCALL_LOG_LEVEL", "loud", "--log-level"),
        ("STRICTCALL_MAX_BODY_BYTES", "-1", "--max-body-bytes"),
        ("STRICTCALL_TENSOR_PARALLEL_SIZE", "0", "--tensor-parallel-size"),
    ],
)
def test_a_wrong_value_is_told_in_one_line_that_names_the_option(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, option: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError) as caught:
        Settings()
    line = describe(caught.value)
    assert option in line
    assert name in line
    assert value in line
    assert "\n" not in line
