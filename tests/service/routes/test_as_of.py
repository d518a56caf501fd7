"""`as_of` over HTTP."""

import httpx
import pytest

from tests.service.fakes import API, draft

ID = "0197a3c0-5f4e-7000-8000-0123456789ab"


def test_each_read_shows_what_stood_then(client: httpx.Client):
    first = client.post(f"{API}/memories", json=draft("red fox", category="c", key="k", tags=["t"]))
    id_, then = first.json()["id"], first.headers["Muisti-Seq"]
    client.patch(f"{API}/memories/{id_}", json={"content": "blue fox", "category": "d", "tags": []})
    at = {"as_of": then}
    for path in (f"memories/{id_}", "entries/c/k"):
        old = client.get(f"{API}/{path}", params=at)
        assert (old.json()["content"], old.headers["ETag"]) == ("red fox", f'"{id_}.1"')
        assert old.headers["Muisti-Seq"] == then
    assert client.get(f"{API}/entries/c/k").status_code == 404
    assert [one["content"] for one in client.get(f"{API}/memories", params=at).json()["items"]] == ["red fox"]
    assert client.get(f"{API}/categories", params=at).json()["items"] == [{"name": "c", "count": 1}]
    assert client.get(f"{API}/tags", params=at).json()["items"] == [{"name": "t", "count": 1}]
    assert client.get(f"{API}/stats", params=at).json()["versions"] == 1
    assert client.get(f"{API}/memories", params={"as_of": "0"}).json()["items"] == []


@pytest.mark.parametrize(("point", "status", "code"), [
    ("2099-01-01", 422, "point_ahead"), ("99", 422, "point_ahead"), ("1999-01-01T00:00:00Z", 410, "past_retention"),
    ("00000000-0000-0000-0000-000000000000:1", 410, "epoch_gone"), ("soon", 422, "invalid_input"),
])  # fmt: skip
def test_a_point_that_cannot_be_shown_is_refused_by_every_read(
    client: httpx.Client, point: str, status: int, code: str
):
    for path in ("memories", "entries/c/k", f"memories/{ID}", "categories", "tags", "stats"):
        refused = client.get(f"{API}/{path}", params={"as_of": point})
        assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert client.post(f"{API}/memories", params={"as_of": point}, json=draft("x")).status_code == 422
