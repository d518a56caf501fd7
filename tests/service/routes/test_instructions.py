"""Standing instructions over HTTP: beside the hits of each kind of search, and suggested after each kind of write."""

from typing import Any

import httpx
import pytest

from tests.service.fakes import API

PHYSICS = "Always use SI units when I ask about physics"
QUESTION = {"query": "how fast is light in physics"}


def add(client: httpx.Client, content: str, **fields: Any) -> dict[str, Any]:
    response = client.post(f"{API}/memories", json={"content": content, **fields}, params={"on_conflict": "keep"})
    assert response.status_code == 201, response.text
    return response.json()


def search(client: httpx.Client, url: str = f"{API}/search", **body: Any) -> dict[str, Any]:
    response = client.post(url, json={**QUESTION, **body})
    assert response.status_code == 200, response.text
    return response.json()


def test_a_search_has_them_beside_the_hits_on_the_fast_path_and_on_the_other(client: httpx.Client):
    made = add(client, PHYSICS)
    plain, options, joint = (
        search(client),
        search(client, min_score=0.0, explain=True, group_by="type"),
        search(client, "/v1/search", spaces=[{"name": "default"}]),
    )
    for found in (plain, options, joint):
        (one,) = found["instructions"]
        assert (one["memory"]["id"], one["reason"]) == (made["id"], "rule") and 0 < one["score"] <= 1
        assert PHYSICS[one["scope"]["start"] : one["scope"]["stop"]] == "physics"
    assert plain["instructions"] == options["instructions"] == joint["instructions"]
    for url, body in ((f"{API}/search", {}), ("/v1/search", {"spaces": [{"name": "default"}]})):
        assert "instructions" not in search(client, url, instructions=0, **body)


def test_a_number_that_is_out_of_range_is_refused(client: httpx.Client):
    response = client.post(f"{API}/search", json={**QUESTION, "instructions": 6})
    assert response.status_code == 422 and "$.instructions" in response.text


def test_every_way_to_write_suggests_the_type(client: httpx.Client):
    added = add(client, PHYSICS)
    put = client.put(f"{API}/entries/rules/physics", json={"content": f"{PHYSICS}, please"}).json()
    bodies = [{"content": "light is fast"}, {"content": "From now on, answer in German."}]
    batch = client.post(f"{API}/memories/batch", json={"memories": bodies}).json()
    loose = client.post(
        f"{API}/memories/batch", json={"memories": [{"content": "Never use emojis"}, {"content": ""}]},
        params={"atomic": False},
    ).json()  # fmt: skip
    for reply, memory in ((added, added), (put, put), (batch, batch["items"][1]), (loose, loose["items"][0]["memory"])):
        (suggestion,) = reply["suggestions"]
        assert (suggestion["id"], suggestion["type"], memory["type"]) == (memory["id"], "guard", "fact")
    assert added["suggestions"][0]["scope"] and batch["suggestions"][0]["scope"] is None
    patched = client.patch(f"{API}/memories/{added['id']}", json={"type": "guard"}).json()
    assert "suggestions" not in patched and search(client)["instructions"][0]["reason"] == "type"


@pytest.mark.parametrize("switch", [None, True, False])
@pytest.mark.parametrize("named", [False, True])
def test_a_context_has_a_section_of_them_by_default_or_when_asked(
    client: httpx.Client, switch: bool | None, named: bool
):
    add(client, PHYSICS)
    body: dict[str, Any] = {**QUESTION, "instructions": switch, "min_evidence": "none"}
    if named:
        body["sections"] = {"memories": {}}
    found = client.post(f"{API}/context", json=body).json()
    sections = [one["name"] for one in found["sections"]]
    shown = switch if switch is not None else not named
    assert sections == (["instructions", "memories"] if shown else ["memories"])
    assert found["tokens"] <= found["token_budget"] and found["text"].count(PHYSICS) == 1
    assert ("Standing instructions\n" in found["text"]) == shown


def test_a_context_without_any_that_applies_has_no_such_section(client: httpx.Client):
    add(client, "light is fast in physics")
    found = client.post(f"{API}/context", json=QUESTION).json()
    assert [one["name"] for one in found["sections"]] == ["memories"]
    asked = client.post(f"{API}/context", json={**QUESTION, "sections": {"instructions": {}, "memories": {}}}).json()
    assert [(one["name"], one["memories"]) for one in asked["sections"]][0] == ("instructions", 0)
