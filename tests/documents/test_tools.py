"""The tools of documents: a text comes in, is listed, read chunk by chunk, recalled by its path, and deleted."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.mcp_client import answer, call

pytestmark = pytest.mark.one_store

TEXT = "# Deploy\n\nWe deploy on Thursdays.\n"


def test_a_text_comes_in_and_is_read(client: httpx.Client):
    dry = answer(client, "add_document", path="docs/a.md", content=TEXT, dry_run=True)
    assert dry["dry_run"]
    assert answer(client, "documents", action="list")["total"] == 0
    made = answer(client, "add_document", path="docs/a.md", content=TEXT, tags=["release"])
    assert (made["outcome"], made["document"]["title"]) == ("created", "Deploy")
    assert answer(client, "add_document", path="docs/a.md", content=TEXT, tags=["release"])["outcome"] == "unchanged"
    assert answer(client, "documents", action="list", folder="docs/")["documents"][0]["path"] == "docs/a.md"
    assert answer(client, "documents", action="get", document="docs/a.md")["document"]["chunks"] == 1
    (chunk,) = answer(client, "documents", action="chunks", document="docs/a.md")["chunks"]
    assert chunk["content"] == TEXT
    (found, *_) = answer(client, "recall", query="deploy Thursdays")["memories"]
    assert found["document"] == "docs/a.md"
    assert answer(client, "documents", action="delete", document="docs/a.md", dry_run=True)["counts"]["chunk"] == 1
    answer(client, "documents", action="delete", document="docs/a.md")
    gone = call(client, "documents", action="get", document="docs/a.md")
    assert gone["structuredContent"]["code"] == "not_found"


def test_what_is_missing_is_told(client: httpx.Client):
    incomplete: list[dict[str, Any]] = [
        {"path": "a.md"},
        {"content": TEXT},
        {"path": "a", "content": TEXT, "server_path": "a"},
    ]
    for arguments in incomplete:
        assert call(client, "add_document", **arguments)["structuredContent"]["code"] == "invalid_input"
    assert call(client, "documents", action="get")["structuredContent"]["code"] == "invalid_input"
    empty = call(client, "add_document", path="a.md", content="  ")
    assert empty["structuredContent"]["code"] == "document.empty"


def test_a_file_of_the_server_needs_the_setting(client: httpx.Client, engine: Engine, tmp_path: Path):
    (tmp_path / "a.md").write_text(TEXT)
    refused = call(client, "add_document", server_path=str(tmp_path / "a.md"))
    assert refused["structuredContent"]["code"] == "forbidden"
    settings = Settings(server_files=str(tmp_path), upload_at_once=10, tasks=0)
    with TestClient(create_app(settings, engine=engine)) as local:
        state = answer(local, "add_document", server_path="a.md")["state"]
        assert state in ("queued", "running", "succeeded")  # the other application may have taken it
    with TestClient(create_app(Settings(server_files=str(tmp_path)), engine=engine)) as local:
        assert answer(local, "add_document", server_path="a.md")["document"]["path"] == "a.md"
        (tmp_path / "b.txt").write_bytes("Да".encode("koi8-r"))
        answer(local, "add_document", server_path="b.txt", encoding="koi8-r")
        assert "Да" in call(local, "documents", action="chunks", document="b.txt")["content"][0]["text"]
