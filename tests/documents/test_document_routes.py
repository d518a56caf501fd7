"""Documents over HTTP."""

import hashlib
import io
import zipfile
from pathlib import Path

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.store.database import Statement
from muisti.service.app.app import create_app
from muisti.service.settings import Settings

BASE = "/v1/spaces/default/documents"
TEXT = "# Deploy\n\n" + "\n".join(f"Step {n}: check the pipeline number {n * n}." for n in range(400)) + "\n"


def sha256(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def finished(client: httpx.Client, answer: httpx.Response) -> dict:
    """Return the task of an answer, when it has ended."""
    assert answer.status_code == 202, answer.text
    task = answer.json()
    while task["state"] in ("queued", "running"):
        task = client.get(answer.headers["Location"], params={"wait": 5, "after": task["revision"]}).json()
    return task


def test_a_text_is_stored_read_and_found(client: httpx.Client):
    made = client.post(BASE, json={"path": "docs/deploy.md", "content": TEXT, "tags": ["release"]})
    assert made.status_code == 201
    assert made.json()["title"] == "Deploy"
    assert made.json()["sha256"] == sha256(TEXT)
    again = client.post(BASE, json={"path": "docs/deploy.md", "content": TEXT, "tags": ["release"]})
    assert (again.status_code, again.json()["outcome"], again.headers["Muisti-Seq"]) == (
        200,
        "unchanged",
        made.headers["Muisti-Seq"],
    )
    assert client.get(made.headers["Location"]).json()["path"] == "docs/deploy.md"
    assert client.get(f"{BASE}/docs%2Fdeploy.md/text").text == TEXT
    (hit, *_) = client.post("/v1/spaces/default/search", json={"query": "pipeline number 144"}).json()["hits"]
    assert hit["memory"]["document"] == "docs/deploy.md"
    listed = client.get("/v1/spaces/default/memories").json()["items"]
    assert {one["kind"] for one in listed} == {"chunk"}


def test_chunks_come_in_order_with_their_places(client: httpx.Client):
    client.post(BASE, json={"path": "a.md", "content": TEXT, "size": 64, "overlap": 10})
    chunks, cursor = [], None
    while True:
        page = client.get(f"{BASE}/a.md/chunks", params={"limit": 7} | ({"cursor": cursor} if cursor else {})).json()
        chunks += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert page["total"] == len(chunks)
    assert "".join(one["content"][one["overlap"] :] for one in chunks) == TEXT
    for one in chunks:
        assert one["content"][one["overlap"] :] == TEXT[one["start"] : one["stop"]]
        assert one["first_line"] == TEXT[: one["start"]].count("\n") + 1


def test_a_file_comes_raw_and_as_a_form(client: httpx.Client):
    raw = client.post(f"{BASE}?path=raw.txt", content=TEXT.encode(), headers={"Content-Type": "text/plain"})
    assert (raw.status_code, raw.json()["path"]) == (201, "raw.txt")
    named = client.post(
        BASE, content=TEXT.encode(), headers={"Content-Disposition": "attachment; filename*=UTF-8''p%C3%A4iv%C3%A4.txt"}
    )
    assert named.json()["path"] == "päivä.txt"
    form = client.post(BASE, files={"file": ("form.txt", TEXT.encode(), "text/plain")})
    assert (form.status_code, form.json()["path"]) == (201, "form.txt")
    put = client.put(f"{BASE}/a%2Fb.txt", content=TEXT.encode())
    assert (put.status_code, put.json()["path"]) == (201, "a/b.txt")


def test_the_encoding_of_a_file_is_guessed_and_noted_or_given(client: httpx.Client):
    text = "Добрый вечер, господа"
    guessed = client.post(f"{BASE}?path=guess.txt", content=text.encode("koi8-r")).json()
    assert "koi8" in guessed["notes"][0]
    assert client.get(f"{BASE}/guess.txt/text").text == text
    given = client.post(f"{BASE}?path=a.txt&encoding=x-mac-cyrillic", content=text.encode("mac-cyrillic"))
    assert (given.status_code, given.json()["notes"], given.json()["options"]["encoding"]) == (
        201,
        [],
        "x-mac-cyrillic",
    )
    assert client.get(f"{BASE}/a.txt/text").text == text
    assert client.post(f"{BASE}?path=b.txt&encoding=no-such", content=b"x").json()["code"] == "document.unknown_format"
    written = client.post(BASE, json={"path": "c.txt", "content": text, "encoding": "koi8-r"})
    assert written.status_code == 201 and client.get(f"{BASE}/c.txt/text").text == text


def test_several_files_are_a_task(client: httpx.Client):
    files = [("file", (f"f{n}.txt", f"{TEXT}{n}".encode())) for n in range(20)] + [("file", ("empty.txt", b""))]
    task = finished(client, client.post(f"{BASE}?path=all", files=files))
    assert (task["state"], task["done"], task["failed"]) == ("partial", 20, 1)
    location = f"/v1/spaces/default/tasks/{task['id']}/items"
    (bad,) = client.get(location, params={"state": "failed"}).json()["items"]
    assert (bad["name"], bad["error"]["code"]) == ("all/empty.txt", "document.empty")
    assert client.get(BASE, params={"folder": "all/"}).json()["total"] == 20
    assert client.get(f"{BASE}/all%2Ff7.txt/text").text == f"{TEXT}7"


@pytest.mark.parametrize(("data", "code", "status"), [
    (b"", "document.empty", 422), (b" \n\t ", "document.empty", 422), (b"%PDF-1.7\nnothing", "document.broken", 422),
    (b"\x89PNG\r\n\x1a\n" + bytes(100), "document.no_text", 422),
    (b"\x7fELF" + bytes(1000), "document.unknown_format", 415),
])  # fmt: skip
def test_a_file_without_text_says_so(client: httpx.Client, data: bytes, code: str, status: int):
    answer = client.post(f"{BASE}?path=bad.bin", content=data)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert client.get(BASE).json()["total"] == 0


def test_an_edit_changes_few_chunks(client: httpx.Client):
    client.post(BASE, json={"path": "a.md", "content": TEXT})
    before = {one["id"]: one["version"] for one in client.get(f"{BASE}/a.md/chunks?limit=100").json()["items"]}
    edited = TEXT.replace("Step 200:", "Step 200, which is new:")
    put = client.put(f"{BASE}/a.md", json={"content": edited}).json()
    assert (put["outcome"], put["version"]) == ("updated", 2)
    after = {one["id"]: one["version"] for one in client.get(f"{BASE}/a.md/chunks?limit=100").json()["items"]}
    assert 1 <= len(after.keys() - before.keys()) == put["added"] <= 4
    assert put["kept"] == len(after.keys() & before.keys())
    assert client.get(f"{BASE}/a.md/text").text == edited


def test_sync_ends_moves_and_tells_what_is_stale(client: httpx.Client):
    for name in ("gone", "moves", "stays", "changes"):
        client.put(f"{BASE}/docs%2F{name}.md", json={"content": f"{TEXT}{name}"})
    client.put(f"{BASE}/other.md", json={"content": TEXT})
    files = [
        {"path": "docs/moved.md", "sha256": sha256(f"{TEXT}moves")},
        {"path": "docs/stays.md", "sha256": sha256(f"{TEXT}stays")},
        {"path": "docs/changes.md", "sha256": sha256("changed")},
        {"path": "docs/new.md", "sha256": sha256("new")},
    ]
    ids = [one["id"] for one in client.get(f"{BASE}/docs%2Fmoves.md/chunks").json()["items"]]
    tried = client.post(f"{BASE}/sync?dry_run=true", json={"files": files, "folder": "docs/"}).json()
    assert tried["would"]["wanted"] == ["docs/changes.md", "docs/new.md"] if "would" in tried else True
    assert client.get(BASE).json()["total"] == 5
    done = client.post(f"{BASE}/sync", json={"files": files, "folder": "docs/"}).json()
    assert done["wanted"] == ["docs/changes.md", "docs/new.md"]
    assert done["ended"] == ["docs/gone.md"]
    assert done["moved"] == [{"before": "docs/moves.md", "after": "docs/moved.md"}]
    assert done["unchanged"] == 1
    assert client.get(BASE).json()["total"] == 4
    assert client.get(f"{BASE}/docs%2Fmoved.md/text").text == f"{TEXT}moves"
    assert [one["id"] for one in client.get(f"{BASE}/docs%2Fmoved.md/chunks").json()["items"]] == ids


def test_a_document_is_deleted_and_comes_back(client: httpx.Client):
    client.put(f"{BASE}/a.md", json={"content": TEXT})
    gone = client.delete(f"{BASE}/a.md")
    assert gone.json()["documents"] == 1
    assert client.get(f"{BASE}/a.md").status_code == 404
    assert client.post("/v1/spaces/default/undo", json={"request": gone.headers["X-Request-Id"]}).status_code == 200
    assert client.get(f"{BASE}/a.md/text").text == TEXT
    dry = client.delete(f"{BASE}/a.md?dry_run=true")
    assert dry.status_code == 200
    assert client.get(f"{BASE}/a.md").status_code == 200


def test_parts_of_documents_are_changed_by_documents_alone(client: httpx.Client):
    client.put(f"{BASE}/a.md", json={"content": TEXT})
    document = client.get(f"{BASE}/a.md").json()["id"]
    chunk = client.get(f"{BASE}/a.md/chunks").json()["items"][0]["id"]
    for one in (document, chunk):
        memory = f"/v1/spaces/default/memories/{one}"
        assert client.delete(memory).status_code == 409
        assert client.patch(memory, json={"content": "x"}).status_code == 409
        assert client.post(f"{memory}/supersede", json={"content": "x"}).status_code == 409
        assert client.delete(memory, params={"purge": True}).status_code == 409
    assert client.post("/v1/spaces/default/memories", json={"content": "x", "kind": "document"}).status_code == 422
    assert client.get(f"{BASE}/a.md/text").text == TEXT


def test_a_repeated_request_is_done_once(client: httpx.Client):
    key = {"Idempotency-Key": "k1"}
    first = client.post(f"{BASE}?path=a.txt", content=TEXT.encode(), headers=key)
    client.put(f"{BASE}/a.txt", json={"content": "other text"})
    again = client.post(f"{BASE}?path=a.txt", content=TEXT.encode(), headers=key)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json()["id"] == first.json()["id"]
    assert client.get(f"{BASE}/a.txt/text").text == "other text"
    other = client.post(f"{BASE}?path=a.txt", content=b"something else", headers=key)
    assert other.json()["code"] == "idempotency_key_reused"


def test_a_preview_stores_nothing(client: httpx.Client):
    seen = client.post(f"{BASE}/preview", json={"content": TEXT, "size": 64, "overlap": 0}).json()
    assert seen["items"][0]["start"] == 0
    assert seen["items"][-1]["stop"] == len(TEXT)
    assert client.get(BASE).json()["total"] == 0
    bad = client.post(f"{BASE}/preview", json={"content": TEXT, "size": 64, "overlap": 64})
    assert bad.json()["code"] == "invalid_input"


def test_files_of_the_server_need_a_setting(client: httpx.Client, engine: Engine, tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.md").write_text(TEXT)
    (tmp_path / "secret.md").write_text("no")
    assert client.post(BASE, json={"server_path": "a.md"}).status_code == 403
    with TestClient(create_app(Settings(server_files=str(tmp_path / "in")), engine=engine)) as local:
        assert local.post(BASE, json={"server_path": "a.md"}).json()["path"] == "a.md"
        for path in ("../secret.md", str(tmp_path / "secret.md"), "none.md"):
            assert local.post(BASE, json={"server_path": path}).status_code == 422


def test_uploads_have_a_limit(engine: Engine):
    with TestClient(create_app(Settings(upload_limit=1000, body_limit=500), engine=engine)) as small:
        assert small.post(f"{BASE}?path=a.txt", content=bytes(b"x" * 1001)).status_code == 413
        assert small.post(BASE, json={"path": "a", "content": "x" * 600}).status_code == 413
        assert small.post(BASE, files={"file": ("a", b"y" * 2000)}).status_code == 413
        assert small.get(BASE).json()["total"] == 0


def test_a_path_is_relative(client: httpx.Client):
    for path in ("/etc/x", "../x", "a//b", "a/./b", "a\\b", ""):
        assert client.post(BASE, json={"path": path, "content": TEXT}).status_code == 422, path


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def test_an_archive_is_a_document_for_each_member(client: httpx.Client):
    inner = zipped({"deep.md": TEXT.encode()})
    data = zipped({
        "a.md": TEXT.encode(), "src/run.py": b"def run():\n    return 1\n", "../out.md": b"no",
        "none.bin": b"\x7fELF" + bytes(900), "inner.zip": inner,
    })  # fmt: skip
    task = finished(client, client.post(f"{BASE}?path=all.zip", content=data))
    assert (task["state"], task["done"], task["failed"]) == ("partial", 4, 2)
    items = client.get(f"/v1/spaces/default/tasks/{task['id']}/items", params={"state": "failed"}).json()["items"]
    assert {one["error"]["code"] for one in items} == {"document.unsafe", "document.unknown_format"}
    paths = [one["path"] for one in client.get(BASE).json()["items"]]
    assert paths == ["all.zip/a.md", "all.zip/inner.zip/deep.md", "all.zip/src/run.py"]
    assert client.get(f"{BASE}/all.zip%2Finner.zip%2Fdeep.md/text").text == TEXT
    again = finished(client, client.post(f"{BASE}?path=all.zip", content=data))
    assert (again["skipped"], again["failed"]) == (3, 2)


def test_a_purge_takes_uploaded_bytes_of_waiting_tasks(engine: Engine):
    with TestClient(create_app(Settings(tasks=0), engine=engine)) as idle:
        idle.put(f"{BASE}/a.md", json={"content": TEXT, "category": "red"})
        waiting = idle.post(f"{BASE}?path=a.md&wait=false", content=b"the canary sings in a blob")
        assert waiting.status_code == 202
        count = Statement("SELECT count(*) FROM blobs")
        ((before,),) = engine._database.read([count])[0]
        assert before == 1
        assert idle.delete(f"{BASE}/a.md?purge=true").status_code == 200
        ((after,),) = engine._database.read([count])[0]
        assert after == 0
        (item,) = idle.get(f"{waiting.headers['Location']}/items").json()["items"]
        assert (item["state"], item["name"]) == ("cancelled", "")
