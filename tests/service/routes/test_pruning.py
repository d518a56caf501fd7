"""Pruning over HTTP: stale code, orphaned chunks and entities, each with a plan first and an undo afterwards."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.fakes import draft

SPACE = "/v1/spaces/default"
MEMORIES, PRUNE = f"{SPACE}/memories", f"{SPACE}/documents/prune"
CODE = "def run():\n    return 1\n"
LATER = 4_000_000_000  # seconds since 1970, after every clock of a test


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def local(engine: Engine, files: Path) -> Iterator[httpx.Client]:
    with TestClient(create_app(Settings(server_files=str(files)), engine=engine)) as opened:
        yield opened


def prune(client: httpx.Client, strategy: str, **params: str) -> dict:
    found = client.post(PRUNE, json={"strategy": strategy}, params=params)
    assert found.status_code == 200, found.text
    return found.json()


def paths(client: httpx.Client) -> set[str]:
    return {one["path"] for one in client.get(f"{SPACE}/documents").json()["items"]}


def test_code_whose_file_is_gone_or_has_changed_ends(local: httpx.Client, files: Path):
    for name in ("gone.py", "changed.py", "touched.py", "same.py", "notes.md"):
        (files / name).write_text(CODE)
        assert local.post(f"{SPACE}/documents", json={"server_path": name}).status_code == 201
    local.post(f"{SPACE}/documents", json={"path": "sent.py", "content": CODE})
    (files / "gone.py").unlink()
    (files / "notes.md").unlink()
    (files / "changed.py").write_text("def walk():\n    return 2\n")
    for name in ("changed.py", "touched.py"):
        os.utime(files / name, (LATER, LATER))
    before = paths(local)
    planned = prune(local, "stale_code", dry_run="true")
    assert planned["answer"]["stale_code"] == ["changed.py", "gone.py"]
    assert (planned["answer"]["unknown"], planned["changes"], paths(local)) == (1, 4, before)
    done = local.post(PRUNE, json={"strategy": "stale_code"})
    assert done.json() == planned["answer"]
    assert paths(local) == before - {"gone.py", "changed.py"}
    assert prune(local, "stale_code")["stale_code"] == []
    assert local.post(f"{SPACE}/undo", json={"request": done.headers["X-Request-Id"]}).status_code == 200
    assert paths(local) == before


def test_what_the_server_was_sent_is_unknown_and_stays(client: httpx.Client):
    client.post(f"{SPACE}/documents", json={"path": "sent.py", "content": CODE})
    assert prune(client, "all") == {
        "stale_code": [], "unknown": 1, "orphaned_chunks": [], "orphaned_entities": [], "more": False,
    }  # fmt: skip
    assert paths(client) == {"sent.py"}


def test_chunks_without_what_they_were_cut_from_end(client: httpx.Client):
    client.post(f"{SPACE}/documents", json={"path": "a.md", "content": "We deploy on Thursdays.\n"})
    whole = client.post(MEMORIES, json=draft("The handbook of the harbour")).json()["id"]
    part = client.post(MEMORIES, json=draft("Boats land on Tuesdays", kind="chunk", parent_id=whole)).json()["id"]
    alone = client.post(MEMORIES, json=draft("Invoices are paid in June", kind="chunk")).json()["id"]
    assert prune(client, "orphaned_chunks")["orphaned_chunks"] == [alone]
    client.delete(f"{MEMORIES}/{whole}")
    assert prune(client, "orphaned_entities")["orphaned_chunks"] == []
    assert prune(client, "all")["orphaned_chunks"] == [part]
    kinds = [one["kind"] for one in client.get(MEMORIES).json()["items"]]
    assert kinds == ["chunk"]  # that of the document


def test_a_rollback_brings_back_what_was_pruned(client: httpx.Client):
    whole = client.post(MEMORIES, json=draft("The handbook of the harbour")).json()["id"]
    part = client.post(MEMORIES, json=draft("Boats land on Tuesdays", kind="chunk", parent_id=whole)).json()["id"]
    before = client.delete(f"{MEMORIES}/{whole}").headers["Muisti-Seq"]
    done = client.post(PRUNE, json={"strategy": "all"})
    assert done.json()["orphaned_chunks"] == [part]
    undo = client.post(f"{SPACE}/undo", json={"request": done.headers["X-Request-Id"]})
    assert undo.status_code == 422  # an undo never brings back a chunk without its memory
    assert client.post(f"{SPACE}/rollback", json={"to": before}).status_code == 200
    assert client.get(f"{MEMORIES}/{part}").status_code == 200


def test_imported_entities_that_no_memory_names_end(client: httpx.Client):
    def entity(name: str, content: str | None = None) -> str:
        body = draft(
            content or f"{name} (person)",
            category="entities",
            tags=[name, "person"],
            metadata={"entity": name, "entity_type": "person"},
        )
        return client.post(MEMORIES, json=body).json()["id"]

    entity("Ada")
    entity("Bob")
    entity("Cleo")
    said = entity("Dora", "Dora likes tea")
    naming = client.post(MEMORIES, json=draft("We met", tags=["Ada"])).json()["id"]
    client.post(MEMORIES, json=draft("Bob knows Eve", category="relations", tags=["Bob", "Eve"]))
    assert prune(client, "orphaned_entities", dry_run="true")["answer"]["orphaned_entities"] == ["Cleo"]
    assert prune(client, "orphaned_entities")["orphaned_entities"] == ["Cleo"]
    client.delete(f"{MEMORIES}/{naming}")
    assert prune(client, "all")["orphaned_entities"] == ["Ada"]
    assert client.get(f"{MEMORIES}/{said}").status_code == 200


def test_pruning_is_in_the_audit_log(client: httpx.Client, engine: Engine):
    client.post(MEMORIES, json=draft(kind="chunk"))
    prune(client, "all")
    assert "pruned" in [one.action for one in engine.audit(limit=5).items]


def test_an_unknown_strategy_is_refused(client: httpx.Client):
    assert client.post(PRUNE, json={"strategy": "everything"}).status_code == 422
    assert "$.strategy" in json.dumps(client.post(PRUNE, json={}).json())
