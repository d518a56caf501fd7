"""Checkpoints over HTTP."""

import httpx

from tests.service.fakes import API, draft


def test_a_space_goes_back_to_a_checkpoint(client: httpx.Client):
    kept = client.post(f"{API}/memories", json=draft("We deploy on Fridays")).json()
    made = client.post(f"{API}/checkpoints", json={"name": "before", "note": "well"})
    assert (made.status_code, made.json()["seq"]) == (201, made.headers["Muisti-Seq"])
    assert client.post(f"{API}/checkpoints", json={"name": "before"}).json()["code"] == "already_exists"
    assert client.get(f"{API}/checkpoints").json()["items"] == [made.json()]
    client.patch(f"{API}/memories/{kept['id']}", json={"content": "We deploy on Mondays"})
    new = client.post(f"{API}/memories", json=draft("Tea is served at five")).json()
    diff = client.get(f"{API}/diff", params={"since": "before"}).json()
    changes = {one["id"]: (one["change"], [each["field"] for each in one["changes"]]) for one in diff["items"]}
    assert changes == {kept["id"]: ("changed", ["content"]), new["id"]: ("added", [])}
    first = client.get(f"{API}/diff", params={"since": "before", "limit": "1"})
    assert first.links["next"]["url"].endswith(f"cursor={first.json()['next_cursor'].replace('=', '%3D')}")
    back = client.post(f"{API}/rollback", json={"to": "before"})
    assert back.status_code == 200 and (back.json()["changed"], back.json()["ended"]) == (1, 1)
    assert back.headers["Muisti-Seq"] == back.json()["seq"]
    assert client.get(f"{API}/memories/{kept['id']}").json()["content"] == "We deploy on Fridays"
    assert client.get(f"{API}/memories/{new['id']}").status_code == 404
    assert client.delete(f"{API}/checkpoints/before").status_code == 204
    assert client.post(f"{API}/rollback", json={"to": "before"}).status_code == 404
    assert client.post(f"{API}/rollback", json={"to": "10 o'clock"}).json()["errors"][0]["path"] == "$.to"
    assert client.get(f"{API}/diff", params={"since": "99"}).json()["code"] == "point_ahead"


def test_the_policy_reads_notes(client: httpx.Client):
    note = "The token of the deploy is github_pat_11AAAAAAA0abcdefghijkl."
    client.post(f"{API}/memories", json=draft())
    client.patch(f"{API}/policy", json={"secrets": "refuse"})
    refused = client.post(f"{API}/checkpoints", json={"name": "a", "note": note})
    assert (refused.status_code, refused.json()["code"]) == (422, "sensitive_content")
    assert refused.json()["errors"][0]["path"] == "$.note"
    client.patch(f"{API}/policy", json={"secrets": "redact"})
    stored = client.post(f"{API}/checkpoints", json={"name": "a", "note": note}).json()
    assert stored["note"] == "The token of the deploy is [redacted: github-token]."
