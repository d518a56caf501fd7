"""Quotas: given by keys of all spaces, and a write above one is refused."""

from collections.abc import Iterator

import httpx
import pytest
from litestar.testing import TestClient

from muisti.core.engine import Engine
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.service.fakes import API, draft
from tests.service.keyed import Caller, administrator, caller, with_mode

pytestmark = pytest.mark.one_store


@pytest.fixture
def admin(engine: Engine) -> Caller:
    return administrator(engine)


@pytest.fixture
def keyed(engine: Engine, admin: Caller) -> Iterator[httpx.Client]:
    with TestClient(create_app(Settings(), engine=engine)) as opened:
        yield opened


def test_a_quota_is_given_by_keys_of_all_spaces_and_told_to_those_who_see_all(
    keyed: httpx.Client, engine: Engine, admin: Caller
):
    stored = keyed.post(f"{API}/memories", json=draft(), headers=admin.headers).json()
    path, own = f"{API}/quota", caller(engine, ("read", "append", "admin"), "default")
    assert keyed.patch(path, json={"memories": 1}, headers=own.headers).status_code == 403
    given = keyed.patch(path, json={"memories": 1}, headers=admin.headers)
    assert given.json()["memories"] == {"used": 1, "limit": 1} and given.json()["bytes"]["limit"] is None
    refused = keyed.post(f"{API}/memories", json=draft("more"), headers=own.headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "quota_exceeded")
    assert refused.json()["quota"] == given.json() == keyed.get(f"{API}/stats", headers=own.headers).json()["quota"]
    bound = with_mode(engine, "full", category="notes")
    refused = keyed.post(f"{API}/memories", json=draft("more"), headers=bound.headers).json()
    assert (refused["code"], "quota" in refused, "1 of 1" in refused["detail"]) == ("quota_exceeded", False, False)
    assert keyed.get(f"{API}/stats", headers=bound.headers).json()["quota"] is None
    sent = {"memories": [draft("a"), draft("b")], "atomic": False}
    batch = keyed.post(f"{API}/memories/batch", json=sent, headers=own.headers)
    assert [one["problem"]["code"] for one in batch.json()["items"]] == ["quota_exceeded"] * 2
    assert keyed.delete(f"{API}/memories/{stored['id']}", headers=admin.headers).status_code == 204
    assert keyed.post(f"{API}/memories", json=draft("more"), headers=own.headers).status_code == 201
    for bad in ({"memories": -1}, {"bytes": 2**60}, {"memories": "1"}, {"colour": 1}):
        assert keyed.patch(path, json=bad, headers=admin.headers).status_code == 422, bad
    lifted = keyed.patch(path, json={"memories": None}, headers=admin.headers)
    assert lifted.json()["memories"] == {"used": 1, "limit": None}
