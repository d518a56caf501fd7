"""A server whose embedding endpoint is dead, comes back, fails and changes: writes answer, and searches say so."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient
from msgspec.structs import replace

from muisti.service.app.app import create_app
from muisti.service.background import upkeep
from muisti.service.background import upkeep as embedding
from muisti.service.background.upkeep import embedding_sweeps
from muisti.service.providers import endpoint
from muisti.service.providers import posting as breaker
from muisti.service.settings import Settings
from tests.core.fakes import WordEncoder
from tests.service.fakes import API
from tests.service.providers import embedding_server as fakes
from tests.service.providers.embedding_server import embedding_server

KEY = "sk-a-secret-that-nobody-may-see"
PATIENCE = 60.0  # seconds until a test gives up


@pytest.fixture
def port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


@pytest.fixture
def client(tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient[Any]]:
    """A server that waits for nothing for long."""
    monkeypatch.setattr(endpoint, "RETRIES", (0.01, 0.02, 0.04))
    monkeypatch.setattr(breaker, "FIRST_SECONDS", 0.05)
    monkeypatch.setattr(breaker, "LONGEST_SECONDS", 0.1)
    monkeypatch.setattr(upkeep, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr(embedding, "CHECK_SECONDS", 0.05)
    settings = Settings(
        database_url=f"file:{tmp_path / 'muisti.db'}", embedding_url=f"http://127.0.0.1:{port}/v1",
        embedding_model="words", embedding_key=KEY, embedding_timeout=1.0, embedding_query_timeout=0.5,
    )  # fmt: skip
    sweeps = [replace(sweep, period=0.05) for sweep in embedding_sweeps(settings)]
    with TestClient(create_app(settings, upkeep=sweeps)) as client:
        yield client


def add(client: TestClient[Any], text: str) -> Any:
    reply = client.post(f"{API}/memories", json={"content": text})
    assert reply.status_code == 201, reply.text
    return reply.json()


def search(client: TestClient[Any], text: str) -> Any:
    reply = client.post(f"{API}/search", json={"query": text})
    assert reply.status_code == 200, reply.text
    assert KEY not in reply.text
    return reply.json()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def whole(client: TestClient[Any], text: str) -> Callable[[], bool]:
    """Whether a search ranks by vectors, and none is missing."""

    def asked() -> bool:
        answer = search(client, text)
        return (answer["strategy"], answer["degraded"]) == ("hybrid", [])

    return asked


def test_a_dead_endpoint_stops_nothing_and_its_return_brings_the_vectors(client: TestClient[Any], port: int):
    first = add(client, "an otter in the river")
    assert first["degraded"] == ["found by keyword only until its vectors follow"]
    answer = search(client, "otter")
    assert [hit["memory"]["id"] for hit in answer["hits"]] == [first["id"]]
    assert answer["strategy"] == "keyword" and answer["degraded"]
    batch = client.post(f"{API}/memories/batch", json={"memories": [{"content": f"stone {n}"} for n in range(5)]})
    assert batch.status_code == 201 and batch.json()["degraded"] == first["degraded"]
    with embedding_server(port) as server:
        until(whole(client, "otter"))
        assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    second = add(client, "another otter in the lake")
    answer = search(client, "otters of the lake")
    assert {hit["memory"]["id"] for hit in answer["hits"]} == {first["id"], second["id"]}
    assert answer["strategy"] == "keyword" and "model words did not answer" in answer["degraded"][0]
    with embedding_server(port):
        until(whole(client, "otters of the lake"))


@pytest.mark.parametrize(
    "fault",
    [fakes.status(500), fakes.status(429, retry_after="1"), fakes.garbage, fakes.truncated, fakes.late(2.0)],
    ids=["500", "429", "garbage", "truncated", "late"],
)
def test_a_failing_endpoint_leaves_searches_by_keyword_until_it_recovers(
    client: TestClient[Any], port: int, fault: fakes.Fault
):
    with embedding_server(port) as server:
        kept = add(client, "an otter in the river")
        until(whole(client, "otter"))
        server.always = fault
        late = add(client, "an otter of the winter")
        answer = search(client, "winter otter")
        assert {hit["memory"]["id"] for hit in answer["hits"]} == {kept["id"], late["id"]}
        assert answer["strategy"] == "keyword" and answer["degraded"]
        server.always = None
        until(whole(client, "winter otter"))


def test_a_model_that_was_exchanged_is_noticed(client: TestClient[Any], port: int):
    with embedding_server(port) as server:
        kept = add(client, "an otter in the river")
        until(whole(client, "otter"))
        server.encoder = WordEncoder("another")
        until(lambda: search(client, "otter")["strategy"] == "keyword")
        answer = search(client, "otter")
        assert [hit["memory"]["id"] for hit in answer["hits"]] == [kept["id"]]
        assert "embedded by model" in answer["degraded"][0]
        server.encoder = WordEncoder()
        until(whole(client, "otter"))
