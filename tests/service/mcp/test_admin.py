"""The tools that look after a space: statistics, pruning, emptying."""

import httpx
import pytest

from muisti.core.engine import Engine
from muisti.core.model.choices import CLEAR_PHRASE
from tests.service.fakes import draft
from tests.service.keyed import with_mode
from tests.service.mcp_client import answer, call, schemas

pytestmark = pytest.mark.one_store

MEMORIES = "/v1/spaces/default/memories"


def test_statistics_count_chunks_and_documents_and_tell_latencies(client: httpx.Client):
    client.post(MEMORIES, json=draft())
    client.put("/v1/spaces/default/documents/a.md", json={"content": "We deploy on Thursdays.\n"})
    found = answer(client, "get_stats")
    assert (found["by_kind"], found["documents"], found["document_bytes"]) == ({"chunk": 1, "memory": 1}, 1, 24)
    assert found["embedding_cache"].keys() >= {"entries", "hits", "rate"}
    stored = {one["operation"]: one["count"] for one in found["latencies"]}
    assert stored["POST /v1/spaces/{space}/memories"] >= 1


@pytest.mark.parametrize("mode", ["read-only", "no-delete"])
def test_a_key_without_admin_gets_neither_cache_nor_latencies(client: httpx.Client, engine: Engine, mode: str):
    key = with_mode(engine, mode, "*")
    found = answer(client, "get_stats", key.headers)
    assert not found.keys() & {"embedding_cache", "latencies"}
    assert not {"prune_memory", "clear_all"} & schemas(client, key.headers).keys()
    assert "purge" not in schemas(client, with_mode(engine, "full", "*").headers)


def test_pruning_tells_before_it_ends(client: httpx.Client):
    orphan = client.post(MEMORIES, json=draft(kind="chunk")).json()["id"]
    planned = answer(client, "prune_memory", strategy="all")
    assert (planned["dry_run"], planned["orphaned_chunks"]) == (True, [orphan])
    assert client.get(f"{MEMORIES}/{orphan}").status_code == 200
    answer(client, "prune_memory", strategy="orphaned_chunks", dry_run=False)
    assert client.get(f"{MEMORIES}/{orphan}").status_code == 404


def test_a_space_is_cleared_after_the_phrase_and_comes_back(client: httpx.Client):
    client.post(MEMORIES, json=draft())
    assert call(client, "clear_all", confirm="default")["structuredContent"]["code"] == "invalid_input"
    assert answer(client, "clear_all", confirm=CLEAR_PHRASE, dry_run=True)["dry_run"]
    assert len(client.get(MEMORIES).json()["items"]) == 1
    done = answer(client, "clear_all", confirm=CLEAR_PHRASE)
    assert (done["ended"], client.get(MEMORIES).json()["items"]) == (1, [])
    assert client.post("/v1/spaces/default/rollback", json={"to": done["before"]}).status_code == 200
    assert len(client.get(MEMORIES).json()["items"]) == 1


def test_memories_are_erased_for_good_as_a_task_after_the_name_of_the_space(client: httpx.Client):
    kept = client.post(MEMORIES, json=draft("We sail on Mondays")).json()["id"]
    gone = client.post(MEMORIES, json=draft("Ann likes tea", author="Ann")).json()["id"]
    assert answer(client, "purge", author="Ann") == {"memories": 1, "dry_run": True}
    assert call(client, "purge")["structuredContent"]["code"] == "invalid_input"  # nothing is chosen
    refused = call(client, "purge", author="Ann", dry_run=False, confirm="other")["structuredContent"]
    assert refused["errors"][0]["path"] == "$.confirm"
    task = answer(client, "purge", author="Ann", dry_run=False, confirm="default")
    url = f"/v1/spaces/default/tasks/{task['id']}"
    while (found := client.get(url, params={"wait": 5}).json())["ended_at"] is None:
        pass
    assert (found["state"], found["result"]["report"]["complete"]) == ("succeeded", True)
    assert client.get(f"{MEMORIES}/{gone}/history").status_code == 404
    assert client.get(f"{MEMORIES}/{kept}").status_code == 200


def test_a_space_is_made_with_a_description_which_the_list_tells(client: httpx.Client, engine: Engine):
    made = answer(client, "create_space", name="acme.shop", description="What customers want")
    assert (made["name"], made["description"]) == ("acme.shop", "What customers want")
    assert answer(client, "list_spaces")["descriptions"] == {"acme.shop": "What customers want"}
    assert call(client, "create_space", name="acme.shop")["structuredContent"]["code"] == "already_exists"
    assert call(client, "create_space", name="No Name")["structuredContent"]["code"] == "invalid_input"
    assert "create_space" not in schemas(client, with_mode(engine, "full", "*").headers)
