"""The knowledge graph over HTTP: questions, statements, files and pictures, for callers of all and of one category."""

import json
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.core.model.choices import ENTITY_KINDS
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.both import graph_reader
from tests.service.fakes import API

__all__ = ["graph_reader"]  # names and facts of English

GRAPH = f"{API}/graph"
TEXTS = (
    "Ann Berg works at Acme Corporation",
    "Tom Keller moved to Berlin and met Ann Berg there",
    "Maria Lopez visited Acme Corporation with Tom Keller",
    "Zoe Miller lives in Oslo",
)


@pytest.fixture
def client(engine: Engine) -> Iterator[httpx.Client]:
    with TestClient(create_app(Settings(tasks=0), engine=engine)) as client:
        for text in TEXTS:
            assert client.post(f"{API}/memories", json={"content": text, "on_conflict": "keep"}).is_success
        yield client


def names(client: httpx.Client, **given: str) -> list[str]:
    return [one["name"] for one in client.get(f"{GRAPH}/entities", params=given).json()["items"]]


def exported(client: httpx.Client, form: str = "json") -> bytes:
    return client.get(f"{GRAPH}/export", params={"format": form}).content


def test_entities_are_found_by_the_memory_that_names_them(client: httpx.Client):
    listed = client.get(f"{API}/memories").json()["items"]
    ids = {one["content"]: one["id"] for one in listed}
    assert sorted(names(client, memory=ids[TEXTS[1]])) == ["Ann Berg", "Berlin", "Tom Keller"]
    assert names(client, memory=ids[TEXTS[3]], kind="place") == ["Oslo"]
    assert names(client, memory="0197a3c0-5f4e-7000-8000-0123456789ab") == []
    assert client.get(f"{GRAPH}/entities", params={"memory": "x"}).status_code == 422
    before = client.get(API).json()["seq"]
    client.patch(f"{API}/memories/{ids[TEXTS[3]]}", json={"content": "Zoe Miller lives in Bergen"})
    assert sorted(names(client, memory=ids[TEXTS[3]])) == ["Bergen", "Zoe Miller"]
    assert sorted(names(client, memory=ids[TEXTS[3]], as_of=before)) == ["Oslo", "Zoe Miller"]


def test_entities_are_found_by_prefix_and_kind(client: httpx.Client):
    found = client.get(f"{GRAPH}/entities", params={"prefix": "ANN"})
    assert [one["name"] for one in found.json()["items"]] == ["Ann Berg"]
    assert found.json()["pending"] == 0
    assert "muisti-seq" in found.headers
    assert "Berlin" in names(client, kind="place")
    assert client.get(f"{GRAPH}/entities", params={"kind": "nothing"}).status_code == 422


def test_an_entity_has_facts_with_evidence(client: httpx.Client):
    profile = client.get(f"{GRAPH}/entities/ann berg").json()
    assert profile["entity"]["mentions"] == 2
    (fact,) = [one for one in profile["facts"] if one["kind"] == "works_at"]
    assert fact["evidence"] == TEXTS[0][fact["start"] : fact["stop"]]
    assert {one["memory"] for one in profile["mentioned"]} >= {fact["memory"]}
    by_id = client.get(f"{GRAPH}/entities/{profile['entity']['id']}").json()
    assert by_id["entity"] == profile["entity"]


def test_a_name_that_nothing_mentions_is_not_found(client: httpx.Client):
    answer = client.get(f"{GRAPH}/entities/Nobody Atall")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_neighbours_and_paths(client: httpx.Client):
    near = client.get(f"{GRAPH}/entities/Ann Berg/neighbours", params={"depth": 2}).json()
    assert {"Tom Keller", "Berlin"} <= {one["entity"]["name"] for one in near["items"]}
    way = client.get(f"{GRAPH}/paths", params={"from": "Maria Lopez", "to": "Berlin"}).json()
    assert way["found"]
    assert (way["steps"][0]["source"]["name"], way["steps"][-1]["target"]["name"]) == ("Maria Lopez", "Berlin")
    assert not client.get(f"{GRAPH}/paths", params={"from": "Ann Berg", "to": "Oslo"}).json()["found"]
    assert client.get(f"{GRAPH}/entities/Ann Berg/neighbours", params={"kinds": "no thing"}).status_code == 422


def test_a_merge_is_undone_byte_for_byte(client: httpx.Client):
    before = exported(client)
    merged = client.post(f"{GRAPH}/entities/Ann Berg/merge", json={"others": ["Zoe Miller"]})
    assert merged.status_code == 201, merged.text
    assert "Zoe Miller" not in names(client)
    assert client.get(f"{GRAPH}/entities/Zoe Miller").json()["entity"]["name"] == "Ann Berg"
    assert exported(client) != before
    assert client.delete(f"{GRAPH}/statements/{merged.json()['id']}").status_code == 204
    assert exported(client) == before


def test_what_is_said_of_an_entity_by_its_id_is_said_of_its_name(client: httpx.Client):
    ids = {one["name"]: one["id"] for one in client.get(f"{GRAPH}/entities").json()["items"]}
    ann, zoe = ids["Ann Berg"], ids["Zoe Miller"]
    merged = client.post(f"{GRAPH}/entities/{ann}/merge", json={"others": [zoe]}).json()
    assert (merged["content"], merged["structure"]["aliases"]) == ("Ann Berg", ["Zoe Miller"])
    assert client.patch(f"{GRAPH}/entities/{ann}", json={"kind": "person"}).json()["id"] == merged["id"]
    assert client.post(f"{GRAPH}/entities/{ann}/merge", json={"others": [ann]}).status_code == 422
    apart = client.post(f"{GRAPH}/entities/{ann}/keep-apart", json={"others": [zoe]}).json()
    assert apart["structure"]["apart"] == ["Zoe Miller"]
    stated = client.post(f"{GRAPH}/relations", json={"subject": ann, "kind": "knows", "object": zoe}).json()
    assert stated["content"] == "Ann Berg knows Zoe Miller"
    assert {ann, zoe}.isdisjoint(names(client))
    assert client.patch(f"{GRAPH}/entities/{'0' * 16}", json={"kind": "other"}).json()["content"] == "0" * 16


def test_a_relation_is_stated_corrected_and_retracted(client: httpx.Client):
    body = {"subject": "Ann Berg", "kind": "knows", "object": "Zoe Miller"}
    stated = client.post(f"{GRAPH}/relations", json=body)
    assert stated.status_code == 201
    known = client.get(f"{GRAPH}/relations", params={"kinds": "knows"}).json()["items"]
    assert [(one["subject"]["name"], one["object"]["name"], one["source"]) for one in known] == [
        ("Ann Berg", "Zoe Miller", "manual")
    ]
    client.patch(f"{GRAPH}/relations/{stated.json()['id']}", json={"negative": True})
    assert client.get(f"{GRAPH}/relations", params={"kinds": "knows"}).json()["items"][0]["negative"]
    client.delete(f"{GRAPH}/statements/{stated.json()['id']}")
    assert client.get(f"{GRAPH}/relations", params={"kinds": "knows"}).json()["items"] == []


@pytest.mark.parametrize("body", [
    {"subject": "Ann Berg", "kind": "knows"}, {"subject": "Ann Berg", "kind": "knows", "object": "Ann Berg"},
    {"subject": "Ann Berg", "kind": "Admires!", "object": "Tom Keller"},
    {"subject": "--", "kind": "knows", "object": "Tom Keller"},
])  # fmt: skip
def test_a_relation_without_sense_is_refused_and_nothing_is_stored(client: httpx.Client, body: dict[str, str]):
    before = exported(client)
    assert client.post(f"{GRAPH}/relations", json=body).status_code == 422
    assert exported(client) == before


def test_as_of_shows_the_graph_of_then(client: httpx.Client):
    then = client.get(GRAPH).json()["seq"]
    client.post(f"{API}/memories", json={"content": "Ann Berg visited Lisbon"})
    assert "Lisbon" in names(client)
    assert "Lisbon" not in names(client, as_of=then)
    (node,) = [one for one in json.loads(exported(client))["nodes"] if one["name"] == "Lisbon"]
    assert node["kind"] in ENTITY_KINDS


def test_a_picture_has_the_entity_in_the_middle(client: httpx.Client):
    answer = client.get(f"{GRAPH}/picture", params={"entity": "Ann Berg"})
    assert answer.headers["content-type"].startswith("image/svg+xml")
    text = ET.tostring(ET.fromstring(answer.text), encoding="unicode")
    assert "Around Ann Berg" in text
    assert "Tom Keller" in text
    assert client.get(f"{GRAPH}/picture", params={"limit": 1_000}).status_code == 422
    assert client.get(f"{GRAPH}/picture").is_success


@pytest.mark.parametrize("form", ["graphml", "cytoscape", "cypher", "json-ld", "dot", "json"])
def test_each_format_names_its_file(client: httpx.Client, form: str):
    answer = client.get(f"{GRAPH}/export", params={"format": form})
    assert answer.is_success
    assert 'filename="default.' in answer.headers["content-disposition"]
    assert "Ann Berg" in answer.text
    assert client.get(f"{GRAPH}/export", params={"format": "png"}).status_code == 422


def test_a_task_reads_all_again(client: httpx.Client):
    foretold = client.post(f"{GRAPH}/build?dry_run=true", json={})
    assert foretold.status_code == 200
    assert foretold.json()["dry_run"] is True
    made = client.post(f"{GRAPH}/build", json={"again": True})
    assert made.status_code == 202
    assert made.json()["kind"] == "graph"
    assert client.get(made.headers["location"]).json()["total"] == len(TEXTS)


def test_a_dropped_graph_is_read_again_by_a_question(client: httpx.Client):
    before = exported(client)
    assert client.delete(GRAPH).json()["entities"] > 4
    assert exported(client) == before
