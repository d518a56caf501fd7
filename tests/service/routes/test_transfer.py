"""Export and import over HTTP: streams of any size, with a report for each line."""

import json
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import pytest
import zstandard

from muisti.core.engine import Engine
from muisti.core.model.errors import Conflict
from muisti.core.model.values import Draft
from muisti.core.operations.transfer.importing.importer import Import
from muisti.core.operations.transfer.importing.lines import Item
from muisti.core.operations.transfer.importing.staging import Staging
from muisti.core.store.sql.inserting import NewVersion
from muisti.service.formats.line_stream import LINE_MAX
from tests.service.fakes import API

LINES = {"Content-Type": "application/x-ndjson"}
HEADER = b'{"type":"muisti","format":1,"source":"test"}\n'


def memory(number: int, content: str = "A memory") -> bytes:
    told = {"id": f"0197a3c0-5f4e-7000-8000-{number:012d}", "content": f"{content} {number}"}
    return json.dumps({"type": "memory", "memory": told}).encode() + b"\n"


def file_of(*lines: bytes) -> bytes:
    return b"".join([HEADER, *lines, b'{"type":"end","lines":%d}\n' % (len(lines) + 1)])


@pytest.fixture
def full(engine: Engine, client: httpx.Client) -> bytes:
    """An export of three memories, one of which has changed and one of which is deleted."""
    made = engine.owner.write.add(
        "default", [Draft(content=f"number {n}") for n in range(3)], on_conflict="keep"
    ).memories
    engine.owner.write.update("default", made[0].id, {"content": "another number"})
    engine.owner.write.delete("default", made[1].id)
    return client.get(f"{API}/export").content


def test_a_space_goes_out_and_comes_in_elsewhere_under_ids_of_its_own(client: httpx.Client, full: bytes):
    header, *lines, end = map(json.loads, full.splitlines())
    assert (header["format"], header["counts"]) == (2, {"memories": 2, "versions": 4, "changes": 5})
    assert end == {"type": "end", "lines": 10} and [one["type"] for one in lines[:2]] == ["change", "version"]
    client.post("/v1/spaces", json={"name": "elsewhere"})
    # the same database knows the ids already
    answer = client.post("/v1/spaces/elsewhere/import", content=full, headers=LINES)
    assert (answer.status_code, answer.json()["created"], answer.json()["skipped"]) == (200, 2, {})
    again = client.post("/v1/spaces/elsewhere/import", content=full, headers=LINES)
    assert (again.status_code, again.json()["created"], again.json()["skipped"]) == (200, 0, {"exists": 2})
    here, there = (client.get(f"{at}/memories").json()["items"] for at in (API, "/v1/spaces/elsewhere"))
    assert {one["content"] for one in there} == {one["content"] for one in here}
    assert {one["id"] for one in there}.isdisjoint(one["id"] for one in here)
    (changed,) = (one["id"] for one in there if one["content"] == "another number")
    versions = client.get(f"/v1/spaces/elsewhere/memories/{changed}/history").json()["items"]
    assert len(versions) == 2
    client.delete("/v1/spaces/elsewhere", params={"confirm": "elsewhere"})


@pytest.mark.parametrize("atomic", ["true", "false"])
def test_an_import_says_nothing_of_ids_in_other_spaces(client: httpx.Client, engine: Engine, atomic: str):
    """The answer is the same whether another space has the ids, good lines and bad ones alike."""
    ids = [str(uuid.UUID(int=(7 << 76) | (2 << 62) | number)) for number in (1, 2, 3, 4)]
    told: list[bytes] = [
        json.dumps({"type": "memory", "memory": memory}).encode() + b"\n"
        for memory in (
            {"id": ids[0], "content": "one"},
            {"id": ids[1], "content": "two", "parent_id": ids[0]},
            {"id": ids[2], "content": "three", "parent_id": ids[3]},
        )
    ]
    said: list[tuple[int, object]] = []
    for name in ("first", "second"):
        engine.spaces.create(name)
        answer = client.post(
            f"/v1/spaces/{name}/import", params={"atomic": atomic}, content=file_of(*told), headers=LINES
        )
        body = answer.json()
        body.get("report", {}).pop("seq", None)
        said.append((answer.status_code, {k: v for k, v in body.items() if k not in ("seq", "import_id")}))
        others = engine.owner.write.add(name, [Draft(content="four")]).memories  # so that a parent may be elsewhere too
        assert others
        if name == "first":
            lines = file_of(json.dumps({"type": "memory", "memory": {"id": ids[3], "content": "5"}}).encode() + b"\n")
            assert client.post(f"/v1/spaces/{name}/import", content=lines, headers=LINES).json()["created"] == 1
            if atomic == "true":
                good = file_of(*told[:2])
                assert client.post(f"/v1/spaces/{name}/import", content=good, headers=LINES).json()["created"] == 2
    assert said[0] == said[1]


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_what_went_out_compressed_or_not_is_known_when_it_comes_back(
    client: httpx.Client, full: bytes, compression: str | None
):
    params = {"compression": compression} if compression else {}
    answer = client.get(f"{API}/export", params=params)
    kind = "application/zstd" if compression else "application/x-ndjson"
    assert answer.headers["content-type"].startswith(kind) and answer.headers["muisti-seq"]
    back = client.post(f"{API}/import", content=answer.content, headers={"Content-Type": kind})
    assert back.json()["skipped"] == {"exists": 2} and back.json()["import_id"] is None
    if compression:
        data = zstandard.ZstdDecompressor().decompressobj().decompress(answer.content)
        assert data.split(b"\n")[1:] == full.split(b"\n")[1:]


def test_memories_come_in_in_pieces_of_any_size_and_go_again(client: httpx.Client):
    body = file_of(*(memory(number) for number in range(450)))

    def pieces() -> Iterator[bytes]:
        yield from (body[start : start + 7_001] for start in range(0, len(body), 7_001))

    tried = client.post(f"{API}/import", params={"dry_run": "true"}, content=pieces(), headers=LINES).json()
    assert (tried["created"], tried["import_id"], tried["dry_run"]) == (450, None, True)
    assert client.get(f"{API}/stats").json()["memories"] == 0
    done = client.post(f"{API}/import", content=pieces(), headers=LINES).json()
    assert (done["created"], done["source"], done["vectors_embedded"]) == (450, "test", 450)
    found = client.post(f"{API}/search", json={"query": "memory 77", "mode": "keyword"}).json()["hits"]
    assert found[0]["memory"]["content"] == "A memory 77"
    again = client.post(f"{API}/import", content=pieces(), headers=LINES).json()
    assert (again["created"], again["skipped"]) == (0, {"exists": 450})
    listed = client.get(f"{API}/imports").json()["items"]
    assert [(one["import_id"], one["memories"]) for one in listed] == [(done["import_id"], 450)]
    undone = client.post(f"{API}/imports/{done['import_id']}/undo")
    assert undone.status_code == 200 and client.get(f"{API}/stats").json()["memories"] == 0
    assert client.post(f"{API}/imports/{done['import_id']}/undo").status_code == 404


def test_a_repeated_request_goes_on_where_its_process_was_killed(client: httpx.Client, monkeypatch: pytest.MonkeyPatch):
    staged: list[int] = []
    real = Staging._prepared

    def prepared(self: Staging, items: Sequence[Item]) -> list[NewVersion]:
        staged.append(len(items))
        return real(self, items)

    monkeypatch.setattr(Staging, "_prepared", prepared)
    client.post("/v1/spaces", json={"name": "again"})
    file = file_of(*(memory(7_000 + number) for number in range(20)))

    def sent(key: str) -> httpx.Response:
        return client.post("/v1/spaces/again/import", content=file, headers={**LINES, "Idempotency-Key": key})

    with monkeypatch.context() as killed:  # a process that ends when all is staged cleans nothing up
        killed.setattr(Import, "move", lambda *_: (_ for _ in ()).throw(Conflict("killed")))
        killed.setattr(Import, "abandon", lambda _: None)
        assert sent("one").status_code == 409
    assert sum(staged) == 20
    assert (sent("one").json()["created"], sum(staged)) == (20, 20)
    assert sent("two").json()["skipped"] == {"exists": 20}
    client.delete("/v1/spaces/again", params={"confirm": "again"})


def bad_files() -> dict[str, tuple[bytes, str]]:
    good = file_of(memory(1), memory(2))
    packed = zstandard.ZstdCompressor().compress(good * 50)
    return {
        "empty": (b"", "line 0"),
        "no header": (memory(1), "line 1: "),
        "a newer format": (b'{"type":"muisti","format":3}\n', "format 3"),
        "no JSON": (HEADER + b"{nonsense}\n" + b'{"type":"end","lines":2}\n', "line 2: "),
        "cut off": (good[:-30], "line 3: "),
        "cut off between lines": (HEADER + memory(1), "line 2: the file has no last line"),
        "a line is missing": (HEADER + memory(1) + b'{"type":"end","lines":3}\n', "line 3: the end counts 3"),
        "more behind the end": (good + memory(3), "line 5: there are lines after the last record"),
        "two headers": (HEADER * 2, "line 2: the first line"),
        "an endless line": (
            HEADER + b'{"type":"memory","memory":{"content":"' + b"x" * (LINE_MAX + 9),
            "line 2 or near",
        ),
        "a bomb": (zstandard.ZstdCompressor().compress(bytes(1 << 27)), "line 1 or near: a line is longer"),
        "damaged compression": (packed[:20] + b"\xff\xff" + packed[22:], "line 1"),
        "cut compression": (packed[:-9], "truncated"),
    }


def test_a_file_that_cannot_be_read_is_refused_with_its_place(client: httpx.Client):
    for name, (body, said) in bad_files().items():
        for atomic in ("true", "false"):
            answer = client.post(f"{API}/import", params={"atomic": atomic}, content=body, headers=LINES)
            if (name, atomic) == ("no JSON", "false"):
                assert answer.json()["failures"][0]["line"] == 2
                continue
            assert (answer.status_code, name) == (422, name), answer.text
            told = answer.json()
            assert said in told["detail"] and told["errors"][0]["path"].startswith("$.lines["), (name, told)
    assert client.get(f"{API}/stats").json()["versions"] == 0


def test_each_bad_line_is_told_and_the_others_come_in_when_that_is_asked(client: httpx.Client):
    body = file_of(memory(1), b'{"type":"memory","memory":{"id":"x","content":"y"},"place":"row 2"}\n', memory(3))
    refused: dict[str, Any] = client.post(f"{API}/import", content=body, headers=LINES).json()
    assert refused["errors"][0]["path"] == "$.lines[3].id" and "line 3 (row 2): " in refused["detail"]
    taken = client.post(f"{API}/import", params={"atomic": "false"}, content=body, headers=LINES).json()
    assert (taken["created"], taken["failed"], taken["failures"][0]["place"]) == (2, 1, "row 2")


def test_other_types_are_refused(client: httpx.Client):
    answer = client.post(f"{API}/import", json={})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    assert client.get(f"{API}/export", params={"compression": "zip"}).status_code == 422
