"""Forks over HTTP."""

import httpx

from tests.service.fakes import API, draft

FORK = "/v1/spaces/try"


def test_a_fork_is_worked_in_compared_merged_and_dropped(client: httpx.Client):
    kept = client.post(f"{API}/memories", json=draft("We deploy on Fridays")).json()
    made = client.post(f"{API}/fork", json={"name": "try"})
    assert (made.status_code, made.headers["Location"]) == (201, FORK)
    assert made.json()["policy"] == client.get(FORK).json()["policy"]
    copy = client.get(f"{FORK}/memories").json()["items"][0]
    assert (copy["content"], copy["version"]) == (kept["content"], 1) and copy["id"] != kept["id"]
    client.patch(f"{FORK}/memories/{copy['id']}", json={"content": "We deploy on Mondays"})
    (differs,) = client.get(f"{API}/compare", params={"other": "try"}).json()["items"]
    assert (differs["id"], differs["other"], differs["conflict"]) == (kept["id"], copy["id"], False)
    assert [change["after"] for change in differs["there"]] == ["Mondays"] and differs["here"] == []
    client.patch(f"{API}/memories/{kept['id']}", json={"content": "We deploy on Sundays"})
    refused = client.post(f"{API}/merge", json={"from": "try"})
    assert (refused.status_code, refused.json()["code"]) == (409, "merge_conflict")
    (diverged,) = refused.json()["diverged"]
    assert (diverged["ours"], diverged["theirs"]) == ("We deploy on Sundays", "We deploy on Mondays")
    planned = client.post(f"{API}/merge", json={"from": "try", "strategy": "theirs"}, params={"dry_run": "true"}).json()
    assert (planned["changes"], planned["items"][0]["kind"], planned["answer"]["changed"]) == (1, "merged", 1)
    done = client.post(f"{API}/merge", json={"from": "try", "strategy": "theirs", "drop": True})
    assert done.status_code == 200 and done.json()["changed"] == 1
    assert client.get(f"{API}/memories/{kept['id']}").json()["content"] == "We deploy on Mondays"
    assert client.get(FORK).status_code == 404
    assert client.post(f"{API}/merge", json={"from": "default"}).status_code == 422
    assert client.post(f"{API}/fork", json={"name": "default"}).json()["code"] == "already_exists"
    assert client.post(f"{API}/fork", json={"name": "No"}).status_code == 422
