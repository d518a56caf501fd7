"""The Python client against the server's OpenAPI document, and against the server."""

import asyncio
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from clients.python import generate
from muisti import client
from muisti.client import _wire as wire
from muisti.client import types
from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.stores import Stores

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "clients" / "python"
DOCUMENT = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))

OPERATIONS = [*generate.operations(DOCUMENT)]


def test_the_generated_files_are_what_the_document_gives():
    for name, text in generate.files(DOCUMENT).items():
        assert (FOLDER / "muisti_client" / name).read_text("utf-8") == text, f"{name}: make .venv/.client"


def test_types_have_the_fields_of_the_document():
    for name, schema in DOCUMENT["components"]["schemas"].items():
        made = getattr(types, name)
        assert {*made.__annotations__} == {*schema.get("properties", {})}, name
        assert made.__required_keys__ == {*schema.get("required", [])}, name


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one[2]["operationId"])
@pytest.mark.parametrize("kind", ["Muisti", "AsyncMuisti"])
def test_every_operation_is_reached_with_every_parameter(operation: tuple[str, str, dict[str, Any]], kind: str):
    method, path, description = operation
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json={})

    made = {"Muisti": httpx.Client, "AsyncMuisti": httpx.AsyncClient}[kind]
    muisti = getattr(client, kind)(http=made(base_url="http://server", transport=httpx.MockTransport(answer)))
    call = getattr(muisti, generate.name_of(description))
    given: dict[str, Any] = {name: "x/y" for name in inspect.signature(call).parameters if name != "body"}
    if "filters" in given:
        given["filters"] = {"category": "c"}
    if "body" in inspect.signature(call).parameters:
        given["body"] = b'{"a":1}' if "content_type" in given else {"a": 1}
    found = call(**given)
    if kind == "AsyncMuisti":
        asyncio.run(_done(found))
    elif inspect.isgenerator(found):
        assert b"".join(found) == b"{}"
    (request,) = sent
    wanted = re.sub(r"\{[a-z_]+\}", "x%2Fy", path)
    assert (request.method, request.url.raw_path.decode().partition("?")[0]) == (method, wanted)
    for one in description.get("parameters", []):
        if one["in"] == "query":
            assert ("category" if one["name"] == "filters" else one["name"]) in request.url.params
        elif one["in"] == "header":
            assert request.headers[one["name"]] == "x/y"
    assert (json.loads(request.content) == {"a": 1}) if "body" in given else not request.content


async def _done(found: Any) -> None:
    if inspect.isasyncgen(found):
        assert [piece async for piece in found] == [b"{}"]
    else:
        await found


@pytest.fixture
def server(stores: Stores) -> Iterator[httpx.Client]:
    database = stores().open()
    with TestClient(create_app(Settings(), engine=Engine(database, WordEncoder(), Clock()))) as opened:
        yield opened
    database.close()


def test_a_memory_is_stored_found_and_refused_by_the_real_service(server: httpx.Client):
    muisti = client.Muisti(http=server)
    memory = muisti.add_memory("default", {"content": "We deploy on Tuesdays", "category": "rules"})
    (hit,) = muisti.search("default", {"query": "deploy"})["hits"]
    assert hit["memory"]["id"] == memory["id"]
    with pytest.raises(client.MuistiError) as refused:
        muisti.add_memory("default", {"content": "We deploy on Tuesdays"})
    assert (refused.value.status, refused.value.code) == (409, "duplicate")
    same = [muisti.add_memory("default", {"content": "Tea"}, idempotency_key="k")["id"] for _ in range(2)]
    assert same[0] == same[1]
    assert muisti.list_memories("default", filters={"category": "rules"})["items"][0]["id"] == memory["id"]
    with pytest.raises(client.MuistiError, match="version"):
        muisti.update_memory("default", memory["id"], {"reason": "x"}, if_match=f'"{memory["id"]}.7"')
    assert muisti.delete_memory("default", memory["id"]) is None


def test_a_space_goes_out_in_pieces_and_comes_in_by_the_real_service(server: httpx.Client):
    muisti = client.Muisti(http=server)
    muisti.add_memories(
        "default", {"memories": [{"content": f"memory {n} of a space"} for n in range(3)]}, on_conflict="keep"
    )
    out = b"".join(muisti.export_space("default"))
    muisti.purge("default", {"everything": True, "confirm": "default"})
    report = muisti.import_memories("default", iter(out.splitlines(keepends=True)))
    assert (report["created"], report["failed"]) == (3, 0)
    packed = b"".join(muisti.export_space("default", compression="zstd"))
    again = muisti.import_memories("default", packed, content_type="application/zstd")
    assert (again["created"], again["skipped"]) == (0, {"exists": 3})
    with pytest.raises(client.MuistiError) as refused:
        next(muisti.export_space("nowhere"))
    assert refused.value.code == "not_found"


def answering(*answers: int | Exception) -> tuple[Any, list[httpx.Request]]:
    """Return a client whose server gives these answers in turn."""
    left, sent = [*answers], list[httpx.Request]()

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        now = left.pop(0)
        if isinstance(now, Exception):
            raise now
        return httpx.Response(now, json={"code": "busy"}, headers={"Retry-After": "0"} if now != 200 else {})

    return client.Muisti(http=httpx.Client(base_url="http://server", transport=httpx.MockTransport(answer))), sent


def test_what_is_safe_is_sent_again_with_the_same_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wire, "PAUSE", 0.0)
    lost = httpx.ReadTimeout("lost")
    muisti, sent = answering(lost, 503, 200)
    muisti.add_memory("default", {"content": "x"})
    assert len({request.headers["Idempotency-Key"] for request in sent}) == 1 and len(sent) == 3
    muisti, sent = answering(lost, 200)
    with pytest.raises(client.Unreachable):
        muisti.create_key({"name": "x"})
    assert len(sent) == 1, "a key that was made would be lost"
    muisti, sent = answering(429, 200)
    muisti.create_key({"name": "x"})
    assert len(sent) == 2, "it was not begun"
    muisti, sent = answering(429, 200)
    with pytest.raises(client.MuistiError):
        muisti.import_memories("default", iter([b"{}"]))
    assert len(sent) == 1, "what was read once cannot be sent again"
    muisti, sent = answering(*[503] * 9)
    with pytest.raises(client.MuistiError):
        muisti.list_spaces()
    assert len(sent) == wire.ATTEMPTS


def test_a_client_that_sends_once_makes_up_no_key():
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(503)

    http = httpx.Client(base_url="http://server", transport=httpx.MockTransport(answer))
    with pytest.raises(client.MuistiError, match="server answered 503 without saying why"):
        client.Muisti(http=http, attempts=1).add_memory("default", {"content": "x"})
    assert ["Idempotency-Key" in request.headers for request in sent] == [False]


def test_a_request_is_answered_with_the_body_as_it_came(server: httpx.Client):
    muisti = client.Muisti(http=server)
    made = muisti.send(client.calls.add_memory("default", {"content": "We deploy on Tuesdays"}))
    assert made.headers["ETag"] == f'"{made.data["id"]}.1"'
    reply = muisti.send(client.calls.list_memories("default"))
    assert reply.data == json.loads(reply.body) == muisti.list_memories("default")
    gone = muisti.send(client.calls.delete_memory("default", made.data["id"]))
    assert (gone.body, gone.data) == (b"", None)
    with pytest.raises(client.MuistiError) as refused:
        muisti.send(client.calls.get_memory("default", "x"))
    assert refused.value.problem == json.loads(refused.value.body)


def test_requests_are_written_without_httpx():
    code = "import sys, muisti_client; muisti_client.calls.search('default', {}); print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=FOLDER, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
